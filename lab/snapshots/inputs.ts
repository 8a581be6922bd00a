import {
  LabClock,
  systemClock,
  UserError,
  type Mover,
  type Probe,
  type VirtualClock,
} from '../../base/runtime/index.js'
import { stillClock } from '../stage/stage-keeper.js'
import type { Input, LoggedInput, InstantInput, HistoryPosition } from './lab-input.js'
import { ERRORS } from '../errors.js'

/** Performs an input; a {@link InstantInput} at once. */
export type PerformInput = (input: Input) => unknown

/** Inputs beyond which the log is given up, since no snapshot was taken at rest for so long. */
const MAX_LOGGED_INPUTS = 100_000

/** Bytes of bodies, likewise. */
const MAX_LOGGED_BYTES = 256 * 2 ** 20

/** Rounds of the event loop that a call waits for real work to end, before it is let in without a certain place. */
const MAX_WAIT_ROUNDS = 20_000

/** Milliseconds of wall time that a call of another program waits likewise: it polls, and an image takes seconds. */
const SOCKET_WAIT_TIMEOUT = 3000

/**
 * Lets the callers of a lab in, and keeps what they do and where in its history, so that it can be done again.
 *
 * A call enters right before the next step of the probe or, when nothing moves, at once: between two steps nothing in the
 * lab could tell the difference, and both places can be found again.
 */
export class Inputs {
  readonly #clock: VirtualClock
  readonly #probe: Probe
  readonly #perform: PerformInput
  #log: LoggedInput[] = []
  #rests = 0
  #pending: ((place: HistoryPosition) => void)[] = []
  #isRepeating = false
  #bytes = 0
  /** Calls without an answer, and what ends their callers' waiting. */
  #running = new Set<(error: Error) => void>()
  #broken: string | undefined
  #changes: number
  readonly #hasSockets: boolean

  constructor(parts: { clock: VirtualClock; probe: Probe; perform: PerformInput; hasSockets: boolean }) {
    this.#clock = parts.clock
    this.#probe = parts.probe
    this.#perform = parts.perform
    this.#hasSockets = parts.hasSockets
    this.#changes = changesOf(parts.clock)
  }

  /** Whether calls are logged: time stands still unless it is moved. */
  get isOn(): boolean {
    return stillClock(this.#clock) !== undefined
  }

  /** All inputs since {@link begin}; it only ever grows until then. */
  get log(): readonly LoggedInput[] {
    return this.#log
  }

  /** Calls that have not been answered yet. */
  get running(): number {
    return this.#running.size
  }

  /** Why the log cannot be repeated, for people; undefined when it can. */
  get broken(): string | undefined {
    if (!this.isOn || changesOf(this.#clock) !== this.#changes) return this.#broken ?? PASSED
    return this.#broken
  }

  /** Position of the lab in its history, while nothing moves. */
  get place(): HistoryPosition {
    return { fired: this.#clock.fired, now: this.#clock.now(), step: this.#probe.steps, rest: this.#rests }
  }

  /** Goes on with a log of earlier inputs, which is not changed. */
  begin(log: readonly LoggedInput[], rests: number): void {
    this.#log = [...log]
    this.#rests = rests
    this.#bytes = log.reduce((sum, { input }) => sum + inputSizeOf(input), 0)
    this.#broken = undefined
    this.#changes = changesOf(this.#clock)
  }

  /** @param why the log cannot be repeated from now on, for people */
  break(why: string): void {
    this.#broken ??= why
  }

  /** Ends the waiting of all callers whose calls have no answer, and will have none: the lab goes back. */
  abandon(): void {
    const running = this.#running
    this.#running = new Set()
    for (const end of running)
      end(
        new UserError('snapshot-restored', 'the lab went back to a snapshot before it had answered', {
          remedy: ERRORS['snapshot-restored'].remedy,
        }),
      )
  }

  /** Performs an input at the next possible place; at once while calls are not logged. */
  call<T>(input: Input): Promise<T> {
    if (!this.isOn) return this.#perform(input) as Promise<T>
    return new Promise<T>((resolve, reject) => {
      this.#pending.push((place) => {
        this.#add({ input, place })
        this.#run(input, reject).then(resolve as (answer: unknown) => void, reject)
      })
      if (this.#pending.length === 1) this.#admitSoon()
    })
  }

  /** Keeps an input that the caller performs by itself. */
  note(input: InstantInput): void {
    if (!this.#isRepeating && this.isOn) this.#add({ input, place: { ...this.place, rest: null } })
  }

  /**
   * Performs inputs again, each at its place, and goes on to the last place.
   *
   * @throws Error when the lab does not get there
   */
  async repeat(inputs: readonly LoggedInput[], last: HistoryPosition, mover: Mover): Promise<void> {
    let next = 0
    const perform = (): void => {
      this.#run(inputs[next++]!.input).catch(() => {})
    }
    const beforeStep = (step: number): void => {
      // Performing an input may be steps, too.
      if (next < inputs.length) this.#probe.beforeStep(beforeStep)
      for (let place = inputs[next]?.place; place?.rest === null && place.step === step; place = inputs[next]?.place)
        perform()
    }
    this.#isRepeating = true
    this.#probe.beforeStep(beforeStep)
    try {
      for (;;) {
        await mover.idle()
        const place = inputs[next]?.place ?? last
        if (place.fired > this.#clock.fired) {
          if (!mover.fireNext()) throw new Error('there is no timer left')
          continue
        }
        mover.setNow(place.now)
        if (next === inputs.length) return
        if (place.rest === null) perform()
        else while (inputs[next]?.place.rest === place.rest) perform()
      }
    } finally {
      this.#isRepeating = false
      this.#probe.beforeStep(undefined)
    }
  }

  #add(logged: LoggedInput): void {
    if (this.broken !== undefined) return
    this.#bytes += inputSizeOf(logged.input)
    if (this.#log.length < MAX_LOGGED_INPUTS && this.#bytes < MAX_LOGGED_BYTES) return void this.#log.push(logged)
    this.#log = []
    this.#broken = 'there were too many calls since the last snapshot at rest'
  }

  #run(input: Input, abandoned: (error: Error) => void = () => {}): Promise<unknown> {
    const running = this.#running
    running.add(abandoned)
    return Promise.resolve(this.#perform(input)).finally(() => running.delete(abandoned))
  }

  #admitSoon(): void {
    if (!this.#isRepeating) this.#probe.beforeStep((step) => this.#admit({ step, rest: null }))
    this.#clock.enter(() => {
      if (this.#pending.length > 0) this.#admit({ step: this.#probe.steps, rest: ++this.#rests })
    })
    void this.#loseConfidence()
  }

  #admit({ step, rest }: Pick<HistoryPosition, 'step' | 'rest'>): void {
    const { fired, now } = this.place
    for (const enter of this.#pending.splice(0)) enter({ fired, now, step, rest })
  }

  /** A server of the caller's own may make the call that the lab waits for: it must not wait for the lab. */
  async #loseConfidence(): Promise<void> {
    const [most, wait] = this.#hasSockets
      ? [SOCKET_WAIT_TIMEOUT / WAIT_ROUND_INTERVAL, () => systemClock().sleep(WAIT_ROUND_INTERVAL)]
      : [MAX_WAIT_ROUNDS, () => new Promise<void>((resolve) => setImmediate(resolve))]
    for (let rounds = 0; this.#pending.length > 0 && rounds < most;) {
      await wait()
      if (this.#clock.isHeld) rounds++
      else rounds = 0
    }
    if (this.#pending.length === 0 || this.#isRepeating) return
    this.#broken ??= `a call came while the lab was busy ${this.#clock.holds()[0] ?? 'with something real'}`
    this.#admit({ step: this.#probe.steps, rest: null })
  }
}

/** Milliseconds between two looks at whether real work has ended. */
const WAIT_ROUND_INTERVAL = 10

const PASSED = 'time went on by itself since the last snapshot at rest'

const changesOf = (clock: VirtualClock): number => (clock instanceof LabClock ? clock.changes : 0)

const inputSizeOf = (input: Input): number => ('request' in input ? (input.request.body?.length ?? 0) : 0)
