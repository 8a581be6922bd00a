import { seconds, type Clock, type HoldOptions, type SleepOptions } from './clock.js'
import { LabTimeLimitError, VirtualClock } from './virtual-clock.js'

/** Time is never faster than this while real work (a request, a disk) is under way. */
export const REAL_WORK_SPEED = 10

/** Lab time that passes at most between two turns of the event loop, where it passes faster than {@link REAL_WORK_SPEED}. */
const MAX_TIME_STRIDE = seconds(5)

/**
 * How time passes: `manual` only by {@link LabClock.advance} and {@link LabClock.until}; `auto` jumps to the next strong
 * timer as soon as nothing moves; a number is a speed, 1 for wall time.
 */
export type ClockMode = 'manual' | 'auto' | number

/**
 * The time of a lab, whose mode can be changed while it runs; timers that are set stay.
 *
 * At a speed it is as fast as this host can keep up with it. Where a second takes a millisecond, a busy processor would let
 * the time limit of a request pass before the request is written. So time slows down to {@link REAL_WORK_SPEED} while a
 * hold is open, and a pause of the whole process counts as {@link MAX_TIME_STRIDE} at most.
 */
export class LabClock extends VirtualClock {
  #mode: ClockMode
  /** Callers that move the time by hand; it does not pass by itself meanwhile. */
  #movers = 0
  /** Wall time at the last look. */
  #looked = performance.now()
  /** Time with its fraction of a millisecond. */
  #exact: number
  /** Lab time that the present turn of the event loop may reach. */
  #limit = Infinity
  /** The next {@link #turn}, in wall time. */
  #wake: { at: number; timeout: NodeJS.Timeout } | undefined
  #jumping = false
  #changes = 0
  /** Lab time that {@link reach} has skipped. */
  #skipped = 0

  /** @param options `start`: milliseconds since the epoch at which the lab begins; default: now */
  constructor({ mode, start = Date.now() }: { mode: ClockMode; start?: number }) {
    super(start)
    this.#exact = start
    this.#mode = mode
  }

  /** How often time began or ceased to pass by itself. */
  get changes(): number {
    return this.#changes
  }

  get mode(): ClockMode {
    return this.#mode
  }

  set mode(mode: ClockMode) {
    this.#follow()
    if (typeof mode === 'number' || typeof this.#mode === 'number') this.#changes++
    this.#mode = mode
    this.#limit = Infinity
    this.#disarm()
    this.timersChanged()
  }

  override get speed(): number {
    return typeof this.#mode === 'number' ? this.#mode : 1
  }

  override now(): number {
    this.#follow()
    return super.now()
  }

  override elapsed(): number {
    this.#follow()
    return super.elapsed() - this.#skipped
  }

  /**
   * Goes ahead to a time, as after a pause of the process: what was due meanwhile happens now. Time that is skipped has not
   * elapsed. Never goes back.
   *
   * @param at milliseconds since the epoch, of lab time
   */
  reach(at: number): void {
    this.#follow()
    if (at <= this.#exact) return
    this.#skipped += at - this.#exact
    this.#exact = at
    this.setNow(Math.round(at))
    this.#limit = Infinity
    this.timersChanged()
  }

  override timer(ms: number, fire: () => void, options?: Omit<SleepOptions, 'signal'>): Disposable {
    this.#follow()
    return super.timer(ms, fire, options)
  }

  /** At a speed, one machine's real work does not stop the others. */
  override hold(why: string, options?: HoldOptions): Disposable {
    this.#follow()
    const hold = typeof this.#mode === 'number' ? super.hold(why) : super.hold(why, options)
    return {
      [Symbol.dispose]: () => {
        this.#follow()
        hold[Symbol.dispose]()
        if (this.openHolds === 0) this.timersChanged()
      },
    }
  }

  override advance(ms: number): Promise<void> {
    return this.#byHand(() => super.advance(ms))
  }

  /** Waits for `awaited`: at a speed while time passes, else by jumps. */
  override until<T>(awaited: Promise<T>, limit: { within?: number } = {}): Promise<T> {
    if (typeof this.#mode !== 'number') return this.#byHand(() => super.until(awaited, limit))
    return limit.within === undefined ? awaited : this.#before(awaited, limit.within)
  }

  async #before<T>(awaited: Promise<T>, within: number): Promise<T> {
    const over = new AbortController()
    const limit = this.sleep(within, { signal: over.signal })
    try {
      return await Promise.race([
        awaited,
        limit.then(() => {
          throw new LabTimeLimitError(within)
        }),
      ])
    } finally {
      over.abort()
      await limit.catch(() => {})
    }
  }

  async #byHand<T>(move: () => Promise<T>): Promise<T> {
    this.#follow()
    this.#movers++
    this.#disarm()
    try {
      return await move()
    } finally {
      this.#follow()
      this.#movers--
      this.#limit = Infinity
      this.timersChanged()
    }
  }

  /** Lab time in wall time; 0 where it does not pass by itself. */
  get #pace(): number {
    if (typeof this.#mode !== 'number' || this.#movers > 0) return 0
    return this.openHolds > 0 ? Math.min(this.#mode, REAL_WORK_SPEED) : this.#mode
  }

  /** Brings the time up to wall time. */
  #follow(): void {
    const wall = performance.now()
    const pace = this.#pace
    if (pace > 0) {
      const reached = Math.min(this.#exact + (wall - this.#looked) * pace, this.#limit)
      this.#exact = Math.max(this.#exact, reached)
      this.setNow(Math.round(this.#exact))
    } else this.#exact = super.now()
    this.#looked = wall
  }

  /** Wakes for the first timer, and before that often enough to notice a pause. Without a timer no pause matters. */
  protected override timersChanged(): void {
    if (this.#mode === 'auto') return void this.#jump()
    const pace = this.#pace
    if (pace === 0 || this.nextTimer === Infinity) {
      this.#disarm()
      this.#limit = Infinity
      return
    }
    this.#follow()
    const isFast = this.speed > REAL_WORK_SPEED
    if (isFast && this.#limit === Infinity) this.#limit = this.#exact + MAX_TIME_STRIDE
    const ahead = Math.max(0, this.nextTimer - this.#exact)
    const at =
      this.#looked + Math.min((isFast ? Math.min(ahead, MAX_TIME_STRIDE / 2) : ahead) / pace, MAX_TIMEOUT_DELAY)
    // A wake-up that is set is only ever moved forward, so that it comes however often others are asked for.
    if (!this.#wake || at < this.#wake.at) {
      this.#disarm()
      this.#wake = { at, timeout: setTimeout(() => this.#turn(), at - this.#looked) }
    }
    if (this.strongTimers === 0) this.#wake.timeout.unref()
    else this.#wake.timeout.ref()
  }

  #disarm(): void {
    clearTimeout(this.#wake?.timeout)
    this.#wake = undefined
  }

  /** Fires the timers of the earliest instant that is due. Those of the next have a turn of their own. */
  #turn(): void {
    this.#disarm()
    if (this.#pace === 0) return
    this.#follow()
    if (this.speed > REAL_WORK_SPEED) this.#limit = this.#exact + MAX_TIME_STRIDE
    const at = this.nextTimer
    while (at <= this.#exact && this.nextTimer === at) this.fireNext()
    if (this.nextTimer <= this.#exact) setImmediate(() => this.#turn())
    else this.timersChanged()
  }

  /** Jumps from timer to timer for as long as there are strong ones. */
  async #jump(): Promise<void> {
    if (this.#jumping) return
    this.#jumping = true
    const mayJump = (): boolean => this.#mode === 'auto' && this.strongTimers > 0
    while (mayJump())
      await this.afterOthers(async () => {
        await this.idle()
        if (mayJump()) this.fireNext()
      })
    this.#jumping = false
  }
}

/** setTimeout takes a signed 32-bit count of milliseconds. */
const MAX_TIMEOUT_DELAY = 2 ** 31 - 1

/** True if time stands still unless the clock is moved, or jumps while a test waits: it never passes by itself. */
export const standsStill = (clock: Clock): clock is VirtualClock =>
  clock instanceof VirtualClock && !(clock instanceof LabClock && typeof clock.mode === 'number')
