import { withClockHeld, type Clock } from '../../../base/runtime/index.js'

/**
 * Queues of the changes of nodes, first come, first served. Of many writers that try again at once one wins, and all
 * others do their work and wait for the event loop once more: of fifty clients that changed five nodes of a busy host without a
 * pause, some had no answer within half a minute.
 */
export class NodeQueues {
  /** Changes that wait, by node; empty while one is made alone. */
  readonly #waiting = new Map<string, (() => void)[]>()

  constructor(private readonly clock: Clock) {}

  isBusy(node: string): boolean {
    return this.#waiting.has(node)
  }

  /** A promise only behind another change: one that meets no other is made at once. */
  enter(node: string): Promise<void> | undefined {
    const waiting = this.#waiting.get(node)
    if (!waiting) {
      this.#waiting.set(node, [])
      return undefined
    }
    return withClockHeld(this.clock, 'waiting for another change of a node', () => {
      return new Promise<void>((resolve) => void waiting.push(resolve))
    })
  }

  leave(node: string): void {
    const next = this.#waiting.get(node)?.shift()
    if (next) next()
    else this.#waiting.delete(node)
  }
}
