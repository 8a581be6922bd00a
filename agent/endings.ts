import type { CommandRecord } from './state.js'

/** Those who wait for commands to end (`?wait=true`). */
export class Endings {
  readonly #waiting = new Map<string, ((record: CommandRecord) => void)[]>()

  of(id: string): Promise<CommandRecord> {
    return new Promise((resolve) => this.#waiting.set(id, [...(this.#waiting.get(id) ?? []), resolve]))
  }

  tell(record: CommandRecord): void {
    for (const resolve of this.#waiting.get(record.id) ?? []) resolve(record)
    this.#waiting.delete(record.id)
  }
}
