import type { Clock } from '../runtime/index.js'

/** A timer for one wait at a time: setting it replaces the earlier wait. */
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
        // Forget the controller first: aborting a finished wait makes an error with its stack, at every heartbeat of
        // every agent.
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
