import type { Clock } from '../../../runtime/index.js'

/** Waits shorter than this are saved up. */
const SHORTEST_WAIT = 100

/** Makes writing take as long as a disk of `rate` bytes a second would; 0 is as fast as it goes. */
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
    if (early >= SHORTEST_WAIT) await this.clock.sleep(early, { signal: this.signal })
  }
}
