import type { Clock } from '../runtime/index.js'

/** One thing to wait for at a time: setting it again forgets what was set before. */
export class Timer {
  readonly #clock: Clock
  #current: AbortController | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @param at milliseconds since the epoch */
  set(at: number, weak: boolean, fire: () => void): void {
    this.cancel()
    const controller = new AbortController()
    this.#current = controller
    void this.#clock.sleep(Math.max(0, at - this.#clock.now()), { weak, signal: controller.signal }).then(
      () => {
        if (this.#current !== controller) return
        // An abort of what is over costs an error with its stack, at every heartbeat of every agent.
        this.#current = undefined
        fire()
      },
      () => {},
    )
  }

  cancel(): void {
    this.#current?.abort()
    this.#current = undefined
  }
}
