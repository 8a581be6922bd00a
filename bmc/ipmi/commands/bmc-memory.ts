import { Timer, type Clock } from '../../../base/runtime/index.js'

/** State of a BMC that ends with its process. */
export class BmcMemory {
  /** Set in progress, of the boot options. */
  bootSetInProgress = 0
  /** Whether the latest power-on was a chassis control command's. */
  poweredByCommand = false
  /** Whether identification ends by itself. */
  identifiesForAWhile = false
  /** Reservations of the SDR repository and the SEL. */
  readonly sdr = new Reservation()
  readonly sel = new Reservation()
  /** Ends the identification. */
  readonly identify: Timer
  /** Makes boot flags invalid that no chassis control command has followed. */
  readonly bootFlags: Timer

  constructor(clock: Clock) {
    this.identify = new Timer(clock)
    this.bootFlags = new Timer(clock)
  }

  /** Forgets what a cold reset ends. */
  forget(): void {
    this.bootSetInProgress = 0
    this.sdr.cancel()
    this.sel.cancel()
  }

  [Symbol.dispose](): void {
    this.identify.stop()
    this.bootFlags.stop()
  }
}

/** A reservation, which the next one and a change cancel. */
class Reservation {
  #last = 0
  #isValid = false

  take(): number {
    // 0 stands for no reservation.
    this.#last = (this.#last % 0xffff) + 1
    this.#isValid = true
    return this.#last
  }

  cancel(): void {
    this.#isValid = false
  }

  is(number: number): boolean {
    return this.#isValid && number === this.#last
  }
}
