import type { Clock, SleepOptions } from './clock.js'

/** Does one thing after a time, unless it is started again or stopped before. */
export class Timer {
  readonly #clock: Clock
  #current: Disposable | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isRunning(): boolean {
    return this.#current !== undefined
  }

  /**
   * @param ms from now; none or a time that has passed is the next moment
   * @param fire must not throw
   */
  start(ms: number, fire: () => void, options: Pick<SleepOptions, 'weak'> = {}): void {
    this.stop()
    this.#current = this.#clock.timer(
      Math.max(0, ms),
      () => {
        this.#current = undefined
        fire()
      },
      options,
    )
  }

  stop(): void {
    this.#current?.[Symbol.dispose]()
    this.#current = undefined
  }
}
