import { onAbort, systemClock } from '../../base/runtime/index.js'

/** Milliseconds of wall time after which a reader that waits for entries is woken without one. */
const JOURNAL_KEEPALIVE_INTERVAL = 15_000

/** Readers from which on they get a tenth of the time; fewer get more, up to half for one. */
const MAX_COUNTED_READERS = 9

/** Milliseconds that readers may take at a stretch: requests wait meanwhile. */
const MAX_READ_STRETCH = 3

/** Steps of promises after which all whom a turn has woken have come to their next wait. */
const MAX_WAKE_STEPS = 64

/**
 * Wakes readers that wait for entries. Those behind sockets take turns of a few at a time, and the pause after a turn grows
 * with the time that it took: any number of them leaves the lab nine tenths of its time. A reader in this process is woken at
 * once, since lab time goes on meanwhile.
 */
export class ReaderSchedule {
  readonly #wall = systemClock()
  readonly #here = new Set<() => void>()
  /** Readers of the present round who have not had their turn. */
  #next = new Set<() => void>()
  #later = new Set<() => void>()
  #isQuietSet = false
  #isNew = false
  #isDue = false
  /** Milliseconds that a reader takes. */
  #each = 1
  /** The end of the pause, on the wall. */
  #until = 0

  /** There is something new to read. */
  ring(): void {
    if (this.#here.size > 0) {
      const here = [...this.#here]
      this.#here.clear()
      for (const wake of here) wake()
    }
    this.#isNew = true
    if (!this.#isDue) this.#schedule()
  }

  /**
   * Resolves when there is something new, after a while without, or when the signal aborts.
   *
   * @param isBehind whether there is something new already
   * @param isPatient whether the reader waits for its turn
   */
  async wait(signal: AbortSignal, isBehind: boolean, isPatient: boolean): Promise<void> {
    if (signal.aborted || (isBehind && !isPatient)) return
    let wake!: () => void
    const woken = new Promise<void>((resolve) => (wake = resolve))
    const waiting = isPatient ? this.#later : this.#here
    waiting.add(wake)
    using _ = onAbort(signal, () => {
      for (const readers of [this.#here, this.#next, this.#later]) readers.delete(wake)
      wake()
    })
    if (isBehind) this.ring()
    else this.#wakeIfQuiet()
    await woken
  }

  #schedule(): void {
    if (this.#next.size === 0 && !(this.#isNew && this.#later.size > 0)) return
    this.#isDue = true
    const pause = this.#until - this.#wall.elapsed()
    const begin = (): void => void this.#turn()
    if (pause <= 1) setImmediate(begin)
    else this.#wall.sleep(pause, { weak: true }).then(begin, () => {})
  }

  async #turn(): Promise<void> {
    const began = this.#wall.elapsed()
    if (this.#next.size === 0) {
      this.#next = this.#later
      this.#later = new Set()
      this.#isNew = false
    }
    const readers = this.#next.size + this.#later.size
    const most = Math.max(1, Math.floor(MAX_READ_STRETCH / this.#each))
    let woken = 0
    for (const wake of this.#next) {
      this.#next.delete(wake)
      wake()
      if (++woken >= most) break
    }
    for (let step = 0; step < MAX_WAKE_STEPS; step++) await Promise.resolve()
    // Sockets send at the end of a tick what was written to them.
    await new Promise<void>((resolve) => process.nextTick(resolve))
    const now = this.#wall.elapsed()
    this.#each = Math.max(0.001, (now - began) / Math.max(1, woken))
    this.#until = now + (now - began) * Math.min(MAX_COUNTED_READERS, readers)
    this.#isDue = false
    this.#schedule()
  }

  /** One timer serves all readers: each is woken after a while, though a little sooner or later. */
  #wakeIfQuiet(): void {
    if (this.#isQuietSet) return
    this.#isQuietSet = true
    this.#wall.sleep(JOURNAL_KEEPALIVE_INTERVAL, { weak: true }).then(
      () => {
        this.#isQuietSet = false
        this.ring()
      },
      () => {},
    )
  }
}
