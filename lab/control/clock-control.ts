import {
  LabClock,
  LabTimeLimitError,
  ClockIdleError,
  hours,
  UserError,
  VirtualClock,
  durationText,
  type Clock,
} from '../../base/runtime/index.js'
import type { NodeRecord, ProvisionState } from '../../base/wire/index.js'
import type { Events } from '../lab-events.js'
import { ERRORS } from '../errors.js'
import type { ClockReport } from '../../control/index.js'

/** Speeds of lab time. */
const MIN_CLOCK_SPEED = 0.001
const MAX_CLOCK_SPEED = 1_000_000

/** Why the time of one of several processes cannot be changed. */
export const FIXED_BY_PROCESSES = 'the processes of a database have the same, from their --speed'

/** Milliseconds of lab time that pass in one call: timers that come again take real time. */
const MAX_ADVANCE_TIME = hours(24 * 366)

/** @throws UserError `bad-request` */
function notTooFar(ms: number): void {
  if (ms <= MAX_ADVANCE_TIME) return
  throw new UserError('bad-request', 'the clock is moved by at most 366 days at once', {
    kind: 'usage',
    remedy: 'name a shorter time, or move it more than once',
  })
}

/** `manual`, `auto`, `real`, or a speed as in `x60`. */
export function clockMode(clock: Clock): string {
  const mode = clock instanceof LabClock ? clock.mode : clock instanceof VirtualClock ? 'manual' : clock.speed
  if (typeof mode === 'string') return mode
  return mode === 1 ? 'real' : `x${mode}`
}

/** Reads and moves the time of a lab. */
export class ClockControl {
  readonly #clock: Clock
  readonly #events: Events
  readonly #node: (uuid: string) => Readonly<NodeRecord> | undefined
  readonly #note: (what: string) => void
  readonly #scaledOnly: boolean
  readonly #fixed: string | undefined

  constructor(parts: {
    clock: Clock
    events: Events
    node: (uuid: string) => Readonly<NodeRecord> | undefined
    /** Notes in the journal what a caller did. */
    note: (what: string) => void
    /** True if time can only pass faster or slower, since programs elsewhere live in it. */
    scaledOnly?: boolean
    /** Reason why time can not be changed at all. */
    fixed?: string
  }) {
    this.#clock = parts.clock
    this.#events = parts.events
    this.#node = parts.node
    this.#note = parts.note
    this.#scaledOnly = parts.scaledOnly ?? false
    this.#fixed = parts.fixed
  }

  report(): ClockReport {
    const clock = this.#clock
    return {
      mode: clockMode(clock),
      labTime: new Date(clock.now()).toISOString(),
      elapsed: Math.round(clock.elapsed()),
    }
  }

  /**
   * @param mode as in {@link ClockReport}
   * @throws UserError `clock-fixed`, `bad-request`
   */
  set(mode: string): ClockReport {
    this.#changeable()
    const clock = this.#clock
    if (!(clock instanceof LabClock))
      throw new UserError('clock-fixed', 'the clock of this lab keeps the mode that it was made with', {
        remedy: 'make the lab with the clock that you want',
      })
    const speed = mode === 'real' ? 1 : Number(/^x(\d+(?:\.\d+)?)$/.exec(mode)?.[1])
    if (this.#scaledOnly && !(speed > 0))
      throw new UserError(
        'clock-fixed',
        `a fleet has no mode ${mode}: its Ironic is elsewhere, and lives in real time`,
        {
          remedy: 'use real, or xN as in x10',
        },
      )
    if (mode === 'manual' || mode === 'auto') clock.mode = mode
    else if (speed >= MIN_CLOCK_SPEED && speed <= MAX_CLOCK_SPEED) clock.mode = speed
    else
      throw new UserError('bad-request', `${mode} is not a mode of a clock`, {
        remedy: `use real, manual, auto, or xN such as x60, with N from ${MIN_CLOCK_SPEED} to ${MAX_CLOCK_SPEED}`,
      })
    this.#note(`the clock is ${mode}`)
    return this.report()
  }

  /** @throws UserError `clock-fixed` for a clock that cannot be moved */
  async advance(ms: number): Promise<ClockReport> {
    const clock = this.#movable()
    notTooFar(ms)
    await clock.advance(ms)
    this.#note(`time was moved by ${durationText(ms)}`)
    return this.report()
  }

  /**
   * Moves time forward until a node is in a state.
   *
   * @param within lab time that it may take, in milliseconds
   * @throws UserError `clock-fixed`; `not-reached` when the state is not reached within the time
   */
  async advanceUntil(
    { uuid, name }: Readonly<NodeRecord>,
    state: ProvisionState,
    within = hours(24),
  ): Promise<ClockReport> {
    const clock = this.#movable()
    notTooFar(within)
    const isThere = (): boolean => this.#node(uuid)?.provision_state === state
    let found = (): void => {}
    const reached = new Promise<void>((resolve) => (found = resolve))
    using _ = this.#events.listenTo(uuid, () => {
      if (isThere() || !this.#node(uuid)) found()
    })
    if (isThere()) return this.report()
    try {
      await clock.until(reached, { within })
    } catch (error) {
      if (!(error instanceof LabTimeLimitError)) throw error
    }
    this.#note(`time was moved until ${name ?? uuid} is ${state}`)
    if (isThere()) return this.report()
    const now = this.#node(uuid)
    const last = now?.last_error ? `: ${now.last_error}` : ''
    throw new UserError(
      'not-reached',
      `${name ?? uuid} did not become ${state} within ${durationText(within)}; it is ${now?.provision_state ?? 'deleted'}${last}`,
      {
        remedy: 'GET /_lab/journal?node=... tells what happened to it',
      },
    )
  }

  /**
   * Moves time forward to the next change of a node or a machine.
   *
   * @param within lab time that it may take, in milliseconds
   * @throws UserError `clock-fixed`; `not-reached` when nothing changes within the time
   */
  async advanceToNext(within = hours(24)): Promise<ClockReport> {
    const clock = this.#movable()
    notTooFar(within)
    let found = (): void => {}
    const reached = new Promise<true>((resolve) => (found = () => resolve(true)))
    using _ = this.#events.listen(found)
    const isThere = await clock.until(reached, { within }).catch((error: unknown) => {
      if (error instanceof LabTimeLimitError || error instanceof ClockIdleError) return false
      throw error
    })
    this.#note('time was moved to the next event')
    if (isThere) return this.report()
    throw new UserError('not-reached', `nothing changes within ${durationText(within)}`, {
      remedy: 'ask something of a node first, or move the time by a length',
    })
  }

  /** @throws UserError `clock-fixed` */
  #changeable(): void {
    if (this.#fixed === undefined) return
    throw new UserError('clock-fixed', `time cannot be changed here: ${this.#fixed}`, { remedy: 'leave it as it is' })
  }

  #movable(): VirtualClock {
    this.#changeable()
    if (this.#clock instanceof VirtualClock && !this.#scaledOnly) return this.#clock
    throw new UserError('clock-fixed', 'the clock of this lab is that of the host', {
      remedy: ERRORS['clock-fixed'].remedy,
    })
  }
}
