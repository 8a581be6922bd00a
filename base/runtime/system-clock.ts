import type { Clock, SleepOptions } from './clock.js'
import { LabClock, REAL_WORK_SPEED } from './system-lab-clock.js'
import { sleepBy, Timer, TimerHeap } from './timer-heap.js'

/** setTimeout takes a signed 32-bit count of milliseconds; longer sleeps are made of several. */
const MAX_TIMER_DELAY = 2 ** 31 - 1

/**
 * Wall time, or wall time times `speed` (60 makes a minute pass in a second; see {@link LabClock} for what it waits for).
 *
 * @throws RangeError when `speed` is not a positive number
 */
export function systemClock(speed = 1): Clock {
  if (!(speed > 0 && Number.isFinite(speed))) throw new RangeError(`a clock's speed is a positive number, not ${speed}`)
  return speed > REAL_WORK_SPEED ? new LabClock({ mode: speed }) : new SystemClock(speed)
}

/** All timers wait in one heap for one timeout: a timeout of Node's for each of thousands of agents would be megabytes. */
class SystemClock implements Clock {
  readonly #startedAt = Date.now()
  readonly #started = performance.now()
  /** By wall time, in milliseconds since the start of the process. */
  readonly #timers = new TimerHeap()
  readonly #cancelled = (timer: Timer): void => {
    if (!this.#timers.remove(timer)) return
    if (!timer.weak) this.#strong--
    this.#arm()
  }
  #order = 0
  #strong = 0
  #wake: { at: number; timeout: NodeJS.Timeout } | undefined

  constructor(readonly speed: number) {}

  now(): number {
    return Math.round(this.#startedAt + this.elapsed())
  }

  elapsed(): number {
    return (performance.now() - this.#started) * this.speed
  }

  sleep(ms: number, { weak = false, signal }: SleepOptions = {}): Promise<void> {
    return sleepBy((fire) => this.timer(ms, fire, { weak }), signal)
  }

  timer(ms: number, fire: () => void, { weak = false }: Pick<SleepOptions, 'weak'> = {}): Disposable {
    const at = performance.now() + Math.max(0, ms) / this.speed
    const timer = new Timer(at, this.#order++, weak, fire, this.#cancelled)
    this.#timers.push(timer)
    if (!weak) this.#strong++
    this.#arm()
    return timer
  }

  hold(): Disposable {
    return NO_HOLD
  }

  queueWork(work: () => void): void {
    setImmediate(work)
  }

  /** Sets the timeout for the first timer. One that is set for an earlier time stays. */
  #arm(): void {
    const at = this.#timers.peek()?.at
    if (at === undefined) {
      clearTimeout(this.#wake?.timeout)
      this.#wake = undefined
      return
    }
    if (!this.#wake || at < this.#wake.at) {
      clearTimeout(this.#wake?.timeout)
      const ahead = Math.min(Math.max(0, at - performance.now()), MAX_TIMER_DELAY)
      this.#wake = { at, timeout: setTimeout(() => this.#fireDue(), ahead) }
    }
    if (this.#strong > 0) this.#wake.timeout.ref()
    else this.#wake.timeout.unref()
  }

  /** Fires the timers that are due; those that are set meanwhile have another turn. */
  #fireDue(): void {
    this.#wake = undefined
    const now = performance.now() + MAX_TIMER_LEAD
    const order = this.#order
    try {
      for (let first = this.#timers.peek(); first; first = this.#timers.peek()) {
        if (first.at > now || first.order >= order) return
        this.#timers.pop()
        if (!first.weak) this.#strong--
        first.fire()
      }
    } finally {
      this.#arm()
    }
  }
}

/** A timeout of Node's may come a millisecond early. */
const MAX_TIMER_LEAD = 1

const NO_HOLD: Disposable = { [Symbol.dispose]() {} }
