import type { Clock, SleepOptions } from './clock.js'
import { sleepIn, TimerHeap } from './timer-heap.js'

/**
 * Thrown by {@link VirtualClock.until} when the awaited thing can no longer happen: nothing runs and no timer is set.
 *
 * @example
 * import { createLab, NothingLeftToHappen } from 'ironstage'
 *
 * await using lab = await createLab()
 * const node = await lab.enroll()
 * const never = await node.until(() => false).catch((error: unknown) => error instanceof NothingLeftToHappen)
 */
export class NothingLeftToHappen extends Error {
  override name = 'NothingLeftToHappen'
}

/**
 * Time that stands still until a caller moves it: `advance(ms)` by hand, or `until(promise)`, which jumps from strong
 * timer to strong timer for as long as the promise is pending (the lab's *auto* mode). Before every jump the clock waits
 * until no {@link Clock.hold} is open and all promise chains have run dry, so what happens at one instant is complete
 * before the next instant begins.
 *
 * @example
 * import { createLab, hours } from 'ironstage'
 *
 * await using lab = await createLab({ clock: 'manual' })
 * await lab.clock.advance(hours(1))
 * const elapsed = lab.clock.elapsed()
 */
export class VirtualClock implements Clock {
  readonly #start: number
  #now: number
  #order = 0
  readonly #timers = new TimerHeap()
  #strong = 0
  readonly #holds = new Map<symbol, string>()
  #released: (() => void)[] = []
  /** Movers queue: two callers that wait on one lab must not jump past each other. */
  #moving: Promise<unknown> = Promise.resolve()

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

  sleep(ms: number, { weak = false, signal }: SleepOptions = {}): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason as Error)
    const due = { at: this.#now + Math.max(0, ms), order: this.#order++, weak }
    const slept = sleepIn(this.#timers, due, signal, () => {
      if (!weak) this.#strong--
      this.timersChanged()
    })
    if (!weak) this.#strong++
    this.timersChanged()
    return slept
  }

  hold(why: string): Disposable {
    const key = Symbol(why)
    this.#holds.set(key, why)
    return {
      [Symbol.dispose]: () => {
        if (!this.#holds.delete(key) || this.#holds.size > 0) return
        for (const wake of this.#released.splice(0)) wake()
      },
    }
  }

  /** The holds that currently forbid a jump, for the message of a lab that does not settle. */
  holds(): string[] {
    return [...this.#holds.values()]
  }

  /** Waits until nothing moves at this instant: no hold is open and every promise chain has run dry. */
  async idle(): Promise<void> {
    for (let quiet = 0; quiet < 2; quiet++) {
      await new Promise((resolve) => setImmediate(resolve))
      if (this.#holds.size === 0) continue
      await new Promise<void>((resolve) => this.#released.push(resolve))
      quiet = -1
    }
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

  /** Moves time forward by `ms`, firing on the way, one instant after another, every timer that comes due. */
  advance(ms: number): Promise<void> {
    return this.afterOthers(async () => {
      const target = this.#now + ms
      await this.idle()
      while (this.nextTimer <= target) {
        this.fireNext()
        await this.idle()
      }
      this.#now = target
    })
  }

  /**
   * Jumps from timer to timer until `awaited` is settled, and gives its value.
   *
   * @throws NothingLeftToHappen when it is still pending and no strong timer is left
   */
  async until<T>(awaited: Promise<T>): Promise<T> {
    let pending = true
    const settled = awaited.finally(() => (pending = false))
    settled.catch(() => {})
    await this.afterOthers(async () => {
      for (;;) {
        await this.idle()
        if (!pending) return
        if (this.#strong === 0)
          throw new NothingLeftToHappen(
            'waiting for something that can no longer happen: nothing is running and no timer is set',
          )
        this.fireNext()
      }
    })
    return settled
  }

  /** Runs `move` after all earlier moves of the time. */
  protected afterOthers<T>(move: () => Promise<T>): Promise<T> {
    const moved = this.#moving.then(move)
    this.#moving = moved.catch(() => {})
    return moved
  }

  /** Fires the next timer, and moves time to it. */
  protected fireNext(): void {
    const timer = this.#timers.pop()!
    if (!timer.weak) this.#strong--
    this.#now = Math.max(this.#now, timer.at)
    timer.fire()
  }
}
