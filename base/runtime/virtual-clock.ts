import type { HoldOptions, MovableClock, SleepOptions } from './clock.js'
import { sleepBy, Timer, TimerHeap } from './timer-heap.js'

/**
 * Thrown by {@link VirtualClock.until} when the awaited thing can no longer happen: nothing runs and no timer is set.
 *
 * @example
 * import { createLab, ClockIdleError } from 'ironstage'
 *
 * await using lab = await createLab()
 * const node = await lab.enroll()
 * const never = await node.until(() => false).catch((error: unknown) => error instanceof ClockIdleError)
 */
export class ClockIdleError extends Error {
  override name = 'ClockIdleError'
}

/** Thrown by {@link VirtualClock.until} when the awaited thing did not happen within a limit. */
export class LabTimeLimitError extends Error {
  override name = 'LabTimeLimitError'

  constructor(readonly within: number) {
    super(`it did not happen within ${within} ms of lab time`)
  }
}

/** State of a {@link VirtualClock} for a snapshot. Its timers belong to those who set them. */
export interface ClockState {
  readonly now: number
  readonly order: number
  readonly fired: number
}

/** Moves the time of a lab while nothing else does; see {@link VirtualClock.atRest}. */
export interface Mover {
  /** Waits until nothing moves at this instant. */
  idle(): Promise<void>
  /** Fires the next timer. False when there is none. */
  fireNext(): boolean
  /** Sets the time without firing a timer. */
  setNow(now: number): void
}

/** Rounds of the event loop without a turn or a hold after which nothing moves any more. */
const QUIET_ROUNDS = 2

/** Work that waits for the next moment at which nothing moves. */
type WaitingWork = { enter: () => void } | { alone: (mover: Mover) => unknown }

/**
 * Time that stands still until a caller moves it: `advance(ms)` by hand, or `until(promise)`, which jumps from strong
 * timer to strong timer for as long as the promise is pending (the lab's *auto* mode). Before every jump the clock waits
 * until no {@link Clock.hold} is open and all promise chains have run dry, so what happens at one instant is complete
 * before the next instant begins.
 */
export class VirtualClock implements MovableClock {
  readonly #start: number
  #now: number
  #order = 0
  #fired = 0
  #timers = new TimerHeap()
  readonly #cancelled = (timer: Timer): void => {
    if (!this.#timers.remove(timer)) return
    if (!timer.weak) this.#strong--
    this.timersChanged()
  }
  #strong = 0
  readonly #holds = new Map<symbol, string>()
  #released: (() => void)[] = []
  /** Turns that were asked for and have not begun. */
  #turns = 0
  /** Open holds before whose end no turn begins. */
  #stops = 0
  /** Turns that came meanwhile, in the order in which they were asked for. */
  readonly #stopped: (() => void)[] = []
  #resumes = false
  /** Movers queue: two callers that wait on one lab must not jump past each other. */
  #moving: Promise<unknown> = Promise.resolve()
  #movers = 0
  #waiting: WaitingWork[] = []

  /** @param start milliseconds since the epoch at which the lab begins */
  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#start = this.#now = start
  }

  get speed(): number {
    return 1
  }

  now(): number {
    return this.#now
  }

  elapsed(): number {
    return this.#now - this.#start
  }

  /** Timers that were fired so far: with {@link now}, the place of an instant in a lab's history. */
  get fired(): number {
    return this.#fired
  }

  /** Timers that are set. */
  get pending(): number {
    return this.#timers.size
  }

  /** Place that the next timer gets among those of its instant. */
  get nextOrder(): number {
    return this.#order
  }

  sleep(ms: number, { signal, ...options }: SleepOptions = {}): Promise<void> {
    return sleepBy((fire) => this.timer(ms, fire, options), signal)
  }

  timer(
    ms: number,
    fire: () => void,
    { weak = false, order = this.#order++ }: Omit<SleepOptions, 'signal'> = {},
  ): Disposable {
    const timer = new Timer(this.#now + Math.max(0, ms), order, weak, fire, this.#cancelled)
    this.#timers.push(timer)
    if (!weak) this.#strong++
    this.timersChanged()
    return timer
  }

  hold(why: string, { stopsWork = false }: HoldOptions = {}): Disposable {
    const key = Symbol(why)
    this.#holds.set(key, why)
    if (stopsWork) this.#stops++
    return {
      [Symbol.dispose]: () => {
        if (!this.#holds.delete(key)) return
        if (stopsWork && --this.#stops === 0) this.#resumeWork()
        if (this.#holds.size > 0) return
        for (const wake of this.#released.splice(0)) wake()
      },
    }
  }

  queueWork(work: () => void): void {
    this.#turns++
    setImmediate(() => {
      if (this.#stops > 0 || this.#stopped.length > 0) {
        this.#stopped.push(work)
        return
      }
      this.#turns--
      work()
    })
  }

  /** Begins the turns that were stopped, one after another, until a hold stops them again. */
  #resumeWork(): void {
    if (this.#resumes || this.#stopped.length === 0) return
    this.#resumes = true
    setImmediate(() => {
      this.#resumes = false
      if (this.#stops > 0) return
      const work = this.#stopped.shift()!
      this.#turns--
      try {
        work()
      } finally {
        this.#resumeWork()
      }
    })
  }

  /** The holds that currently forbid a jump, for the message of a lab that does not settle. */
  holds(): string[] {
    return [...this.#holds.values()]
  }

  /** True if a hold is open. */
  get isHeld(): boolean {
    return this.#holds.size > 0
  }

  /** Waits until nothing moves at this instant: no hold is open, no turn waits, and every promise chain has run dry. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      let quietRounds = 0
      const round = (): void => {
        quietRounds = this.#turns > 0 || this.#holds.size > 0 ? 0 : quietRounds + 1
        if (this.#holds.size > 0) this.#released.push(() => setImmediate(round))
        else if (quietRounds === QUIET_ROUNDS) resolve()
        else setImmediate(round)
      }
      setImmediate(round)
    })
  }

  /** How many holds are open. */
  protected get openHolds(): number {
    return this.#holds.size
  }

  /** Timers that are a reason for a jump. */
  protected get strongTimers(): number {
    return this.#strong
  }

  /** When the next timer is due. */
  protected get nextTimer(): number {
    return this.#timers.peek()?.at ?? Infinity
  }

  /** Called when a timer was set or taken away. */
  protected timersChanged(): void {}

  /** Sets the time, without a look at timers. */
  protected setNow(now: number): void {
    this.#now = now
  }

  /**
   * Calls `work` at the next moment at which nothing moves: at once when all is quiet, otherwise when what happens at this
   * instant has run dry, and before time goes on. Calls that wait for the same moment are made in a row.
   */
  enter(work: () => void): void {
    this.#waiting.push({ enter: work })
    this.#restSoon()
  }

  /** Runs `work` at such a moment, alone: nothing else moves the clock or enters before it has ended. */
  atRest<T>(work: (mover: Mover) => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const alone = async (mover: Mover) => {
        try {
          resolve(await work(mover))
        } catch (error) {
          reject(error as Error)
        }
      }
      this.#waiting.push({ alone })
      this.#restSoon()
    })
  }

  take(): ClockState {
    return { now: this.#now, order: this.#order, fired: this.#fired }
  }

  /** Drops all timers, whose sleeps never end, and sets the time. Code that restores its state sets its timers again. */
  restore({ now, order, fired }: ClockState): void {
    this.#timers = new TimerHeap()
    this.#strong = 0
    this.#now = now
    this.#order = order
    this.#fired = fired
    this.timersChanged()
  }

  /** Moves time forward by `ms`, firing on the way, one instant after another, every timer that comes due. */
  advance(ms: number): Promise<void> {
    return this.afterOthers(async () => {
      const target = this.#now + ms
      await this.#rest()
      while (this.nextTimer <= target) {
        this.fireNext()
        await this.#rest()
      }
      this.#now = Math.max(this.#now, target)
    })
  }

  /**
   * Jumps from timer to timer until `awaited` is settled, and gives its value. A limit is no timer, and so leaves no trace
   * in what a lab repeats.
   *
   * @param limit `within`: milliseconds until which time is moved, also when only weak timers are left
   * @throws ClockIdleError when it is still pending and no strong timer is left, {@link LabTimeLimitError} at the limit
   */
  async until<T>(awaited: Promise<T>, { within = Infinity }: { within?: number } = {}): Promise<T> {
    let pending = true
    const settled = awaited.finally(() => (pending = false))
    settled.catch(() => {})
    await this.afterOthers(async () => {
      const end = this.#now + within
      for (;;) {
        await this.#rest()
        if (!pending) return
        if (within < Infinity && this.nextTimer > end) {
          this.#now = end
          throw new LabTimeLimitError(within)
        }
        if (this.#strong === 0 && within === Infinity)
          throw new ClockIdleError(
            'waiting for something that can no longer happen: nothing is running and no timer is set',
          )
        this.fireNext()
      }
    })
    return settled
  }

  /** Waits until nothing moves, with all that waited for such a moment done. */
  async #rest(): Promise<void> {
    await this.idle()
    while (this.#waiting.length > 0) {
      await this.#takeWaiting()
      await this.idle()
    }
  }

  /** Does what waits for this moment: calls in a row, or the first piece of work that has to be alone. */
  async #takeWaiting(): Promise<void> {
    const calls = this.#waiting.findIndex((waiting) => 'alone' in waiting)
    if (calls === 0) {
      const { alone } = this.#waiting.shift() as { alone: (mover: Mover) => Promise<void> }
      return alone({
        idle: () => this.idle(),
        fireNext: () => this.#timers.peek() !== undefined && (this.fireNext(), true),
        setNow: (now) => (this.#now = now),
      })
    }
    for (const waiting of this.#waiting.splice(0, calls < 0 ? Infinity : calls))
      this.queueWork((waiting as { enter(): void }).enter)
  }

  /** A caller that moves the clock takes what waits; without one, it is taken as soon as nothing moves. */
  #restSoon(): void {
    if (this.#movers > 0) return
    void this.afterOthers(async () => {
      await this.idle()
      await this.#takeWaiting()
    })
  }

  /** Runs `move` after all earlier moves of the time. */
  protected afterOthers<T>(move: () => Promise<T>): Promise<T> {
    this.#movers++
    const moved = this.#moving.then(move).finally(() => {
      if (--this.#movers === 0 && this.#waiting.length > 0) this.#restSoon()
    })
    this.#moving = moved.catch(() => {})
    return moved
  }

  /** Fires the next timer, and moves time to it. */
  protected fireNext(): void {
    const timer = this.#timers.pop()!
    if (!timer.weak) this.#strong--
    this.#fired++
    this.#now = Math.max(this.#now, timer.at)
    timer.fire()
  }
}
