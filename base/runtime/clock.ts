/** Options of {@link Clock.sleep}. */
export interface SleepOptions {
  /**
   * A weak timer (a heartbeat, a periodic sync) fires when its time has passed but is never a reason for a virtual
   * clock to jump, nor for a process to stay alive.
   */
  weak?: boolean
  signal?: AbortSignal
  /** Place among the timers of one instant, of a timer that is set again from a snapshot; a virtual clock only. */
  order?: number
}

/** Options of {@link Clock.hold}. */
export interface HoldOptions {
  /**
   * While time stands still, queued work does not begin before the hold ends either. For real work that waits for nothing
   * else in the lab: how long it takes must not decide what happens first at one instant.
   */
  stopsWork?: boolean
}

/**
 * The only source of time. Milliseconds everywhere.
 *
 * A virtual clock jumps only while nothing real is under way, so code that does real work (on a disk, a socket, a worker,
 * a native thread) takes a {@link hold} for as long as that lasts. Promise chains need none.
 */
export interface Clock {
  /** Milliseconds of lab time in one of wall time; 1 where time jumps. */
  readonly speed: number
  /** Milliseconds since the Unix epoch, in lab time. */
  now(): number
  /** Milliseconds of lab time since this clock was made. */
  elapsed(): number
  /** Place that the next timer gets among those of its instant; a virtual clock only. */
  readonly nextOrder?: number
  /** Resolves `ms` of lab time later; rejects with the signal's reason when aborted. */
  sleep(ms: number, options?: SleepOptions): Promise<void>
  /** Calls `fire` `ms` of lab time later, unless it is disposed of before: a sleep for those who set thousands. */
  timer(ms: number, fire: () => void, options?: Pick<SleepOptions, 'weak'>): Disposable
  /** Forbids jumps until disposed, and slows a fast clock down. Free on the wall clock. */
  hold(why: string, options?: HoldOptions): Disposable
  /**
   * Calls `work` in a turn of its own: when the present turn has run dry, after the turns that were asked for before.
   * All that happens at one instant happens in turns, so its order is that of the requests for them, however many
   * promises a turn takes.
   */
  queueWork(work: () => void): void
}

/** Resolves in a turn of its own, see {@link Clock.queueWork}. */
export const waitInQueue = (clock: Clock): Promise<void> => new Promise((resolve) => clock.queueWork(resolve))

/**
 * The clock of a lab in virtual time: it stands still until a caller moves it.
 *
 * @example
 * import { createLab, hours } from 'ironstage'
 *
 * await using lab = await createLab({ clock: 'manual' })
 * await lab.clock.advance(hours(1))
 * const elapsed = lab.clock.elapsed()
 */
export interface MovableClock extends Clock {
  /** Number of timers that are set. */
  readonly pending: number
  /** Moves time forward by `ms`, firing, one instant after another, every timer that comes due. */
  advance(ms: number): Promise<void>
  /**
   * Jumps from timer to timer until `awaited` is settled, and gives its value.
   *
   * @param limit `within`: milliseconds until which time is moved, also when only weak timers are left
   * @throws ClockIdleError when it is still pending and no strong timer is left; Error at the limit
   */
  until<T>(awaited: Promise<T>, limit?: { within?: number }): Promise<T>
  /** Waits until nothing moves at this instant: no hold is open and every promise chain has run dry. */
  idle(): Promise<void>
}

/**
 * So many seconds in milliseconds.
 *
 * @example
 * import { createLab, seconds } from 'ironstage'
 *
 * await using lab = await createLab({ clock: 'manual' })
 * await lab.clock.advance(seconds(2))
 */
export const seconds = (n: number): number => n * 1000
/**
 * So many minutes in milliseconds.
 *
 * @example
 * import { createLab, minutes } from 'ironstage'
 *
 * await using lab = await createLab({ clock: 'manual' })
 * await lab.clock.advance(minutes(2))
 */
export const minutes = (n: number): number => n * 60_000
/**
 * So many hours in milliseconds.
 *
 * @example
 * import { createLab, hours } from 'ironstage'
 *
 * await using lab = await createLab({ clock: 'manual' })
 * await lab.clock.advance(hours(2))
 */
export const hours = (n: number): number => n * 3_600_000

/** Runs `work` under a hold: `await held(clock, 'reading the image', () => file.read(...))`. */
export async function withClockHeld<T>(
  clock: Clock,
  why: string,
  work: () => Promise<T>,
  options?: HoldOptions,
): Promise<T> {
  const hold = clock.hold(why, options)
  try {
    return await work()
  } finally {
    hold[Symbol.dispose]()
  }
}

/** Does real work that waits for nothing else in the lab, such as a read of a local file, see {@link HoldOptions.stopsWork}. */
export const withWorkStopped = <T>(clock: Clock, why: string, work: () => Promise<T>): Promise<T> =>
  withClockHeld(clock, why, work, { stopsWork: true })
