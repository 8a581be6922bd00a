import type { Clock } from '../runtime/index.js'

/** A timer for one wait at a time: setting it replaces the earlier wait. */
export class Timer {
  readonly #clock: Clock
  #current: Disposable | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @param at milliseconds since the epoch */
  set(at: number, weak: boolean, fire: () => void): void {
    this.cancel()
    this.#current = this.#clock.timer(
      Math.max(0, at - this.#clock.now()),
      () => {
        this.#current = undefined
        fire()
      },
      { weak },
    )
  }

  cancel(): void {
    this.#current?.[Symbol.dispose]()
    this.#current = undefined
  }
}
