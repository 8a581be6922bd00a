import type { Clock } from '../../runtime/index.js'

/** Does one thing after a time, unless it is started again or stopped before. */
export class Timer {
  readonly #clock: Clock
  #running: AbortController | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  start(ms: number, then: () => Promise<void>): void {
    this.stop()
    const running = new AbortController()
    this.#running = running
    this.#clock
      .sleep(ms, { weak: true, signal: running.signal })
      .then(() => {
        this.#running = undefined
        return then()
      })
      // Stopped; or a state that cannot be stored, of which the next change tells.
      .catch(() => {})
  }

  stop(): void {
    this.#running?.abort()
    this.#running = undefined
  }
}
