import { held, type Clock } from '../../../runtime/index.js'

/**
 * Whose turn it is to change a node, in the order in which they came. Of many writers that try again at once one wins, and all
 * others do their work and wait for the event loop once more: of fifty clients that changed five nodes of a busy host without a
 * pause, some had no answer within half a minute.
 */
export class NodeTurns {
  /** Those who wait, of each node that somebody has. */
  readonly #waiting = new Map<string, (() => void)[]>()

  constructor(private readonly clock: Clock) {}

  isTaken(node: string): boolean {
    return this.#waiting.has(node)
  }

  /** A promise only where somebody has the turn: a change that meets no other is made at once. */
  take(node: string): Promise<void> | undefined {
    const waiting = this.#waiting.get(node)
    if (!waiting) {
      this.#waiting.set(node, [])
      return undefined
    }
    return held(this.clock, 'waiting for another change of a node', () => {
      return new Promise<void>((resolve) => void waiting.push(resolve))
    })
  }

  release(node: string): void {
    const next = this.#waiting.get(node)?.shift()
    if (next) next()
    else this.#waiting.delete(node)
  }
}
