import type { Clock } from '../../../base/runtime/index.js'

/** Shorter waits are added up until they reach this. */
const MIN_PACED_WAIT = 100

/** Slows writes down to `rate` bytes per second; 0 for no limit. */
export class Pacer {
  readonly #start: number

  constructor(
    readonly clock: Clock,
    readonly rate: number,
    readonly signal: AbortSignal,
  ) {
    this.#start = clock.elapsed()
  }

  async written(total: number): Promise<void> {
    if (this.rate <= 0) return
    const early = (total / this.rate) * 1000 - (this.clock.elapsed() - this.#start)
    if (early >= MIN_PACED_WAIT) await this.clock.sleep(early, { signal: this.signal })
  }
}
