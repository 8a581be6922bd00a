import { seconds, type Clock, type SleepOptions } from './clock.js'
import { sleepIn, TimerHeap } from './timer-heap.js'

/** A clock is never faster than this while real work (a request, a disk) is under way. */
export const REAL_WORK_SPEED = 10

/** Lab time that passes at most between two turns of the event loop. */
const STRIDE = seconds(5)

/**
 * Wall time times `speed`, as fast as this host can keep up with it. Where a second takes a millisecond, a busy processor
 * would let the time limit of a request pass before the request is written. So time slows down to {@link REAL_WORK_SPEED}
 * while a {@link hold} is open, and a pause of the whole process counts as {@link STRIDE} at most.
 */
export class FastClock implements Clock {
  readonly speed: number
  readonly #startedAt = Date.now()
  readonly #timers = new TimerHeap()
  #strong = 0
  #order = 0
  #holds = 0
  /** Lab time at the last look, and wall time then. */
  #elapsed = 0
  #looked = performance.now()
  /** Lab time that the present turn of the event loop may reach. */
  #limit = Infinity
  /** The next {@link #turn}, in wall time. */
  #wake: { at: number; timeout: NodeJS.Timeout } | undefined

  constructor(speed: number) {
    this.speed = speed
  }

  now(): number {
    return Math.round(this.#startedAt + this.elapsed())
  }

  elapsed(): number {
    const wall = performance.now()
    const passed = (wall - this.#looked) * this.#pace
    this.#looked = wall
    this.#elapsed = Math.max(this.#elapsed, Math.min(this.#elapsed + passed, this.#limit))
    return this.#elapsed
  }

  sleep(ms: number, { weak = false, signal }: SleepOptions = {}): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason as Error)
    const due = { at: this.elapsed() + Math.max(0, ms), order: this.#order++, weak }
    const slept = sleepIn(this.#timers, due, signal, () => this.#removed(weak))
    if (!weak) this.#strong++
    this.#arm()
    return slept
  }

  hold(): Disposable {
    this.elapsed()
    this.#holds++
    let open = true
    return {
      [Symbol.dispose]: () => {
        if (!open) return
        open = false
        this.elapsed()
        if (--this.#holds === 0) this.#arm()
      },
    }
  }

  get #pace(): number {
    return this.#holds > 0 ? REAL_WORK_SPEED : this.speed
  }

  #removed(weak: boolean): void {
    if (!weak) this.#strong--
    this.#arm()
  }

  /** Wakes for the first timer, and before that often enough to notice a pause. Without a timer no pause matters. */
  #arm(): void {
    const first = this.#timers.peek()
    if (!first) {
      this.#disarm()
      this.#limit = Infinity
      return
    }
    const elapsed = this.elapsed()
    if (this.#limit === Infinity) this.#limit = elapsed + STRIDE
    const at = this.#looked + Math.max(0, Math.min(first.at - elapsed, STRIDE / 2) / this.#pace)
    // A wake-up that is set is only ever moved forward, so that it comes however often others are asked for.
    if (!this.#wake || at < this.#wake.at) {
      this.#disarm()
      this.#wake = { at, timeout: setTimeout(() => this.#turn(), at - this.#looked) }
    }
    if (this.#strong === 0) this.#wake.timeout.unref()
    else this.#wake.timeout.ref()
  }

  #disarm(): void {
    clearTimeout(this.#wake?.timeout)
    this.#wake = undefined
  }

  /** Fires the timers of the earliest instant that is due. Those of the next have a turn of their own. */
  #turn(): void {
    this.#disarm()
    const elapsed = this.elapsed()
    this.#limit = elapsed + STRIDE
    const at = this.#timers.peek()?.at ?? Infinity
    while (at <= elapsed && this.#timers.peek()?.at === at) {
      const timer = this.#timers.pop()!
      if (!timer.weak) this.#strong--
      timer.fire()
    }
    if ((this.#timers.peek()?.at ?? Infinity) <= elapsed) setImmediate(() => this.#turn())
    else this.#arm()
  }
}
