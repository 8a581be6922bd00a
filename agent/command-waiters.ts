import type { CommandRecord } from './agent-phases.js'

/** Requests that wait for a command to end (`?wait=true`). */
export class CommandWaiters {
  readonly #waiting = new Map<string, ((record: CommandRecord) => void)[]>()

  of(id: string): Promise<CommandRecord> {
    return new Promise((resolve) => this.#waiting.set(id, [...(this.#waiting.get(id) ?? []), resolve]))
  }

  resolve(record: CommandRecord): void {
    for (const resolve of this.#waiting.get(record.id) ?? []) resolve(record)
    this.#waiting.delete(record.id)
  }
}
