import type { Clock } from '../runtime/index.js'

/** One for all: an error made at each heartbeat of each agent, with its stack, costs more than the wait. */
const CANCELLED = new Error('another wait has replaced this one')

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
        this.#current = undefined
        fire()
      },
      () => {},
    )
  }

  cancel(): void {
    this.#current?.abort(CANCELLED)
    this.#current = undefined
  }
}
