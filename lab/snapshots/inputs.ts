import type { Mover, Probe, VirtualClock } from '../../runtime/index.js'
import type { Input, LoggedInput, Note, Place } from './input.js'

/** Performs an input; a {@link Note} at once. */
export type Perform = (input: Input) => unknown

/** Inputs beyond which the log is given up, since no snapshot was taken at rest for so long. */
const MOST_INPUTS = 100_000

/** Rounds of the event loop that a call waits for real work to end, before it is let in without a certain place. */
const PATIENCE = 20_000

/**
 * Lets the callers of a lab in, and keeps what they do and where in its history, so that it can be done again.
 *
 * A call enters right before the next step of the probe or, when nothing moves, at once: between two steps nothing in the
 * lab could tell the difference, and both places can be found again.
 */
export class Inputs {
  readonly #clock: VirtualClock
  readonly #probe: Probe
  readonly #perform: Perform
  #log: LoggedInput[] = []
  #rests = 0
  #pending: ((place: Place) => void)[] = []
  #isRepeating = false
  #running = 0
  #broken: string | undefined

  constructor(clock: VirtualClock, probe: Probe, perform: Perform) {
    this.#clock = clock
    this.#probe = probe
    this.#perform = perform
  }

  /** All inputs since {@link begin}; it only ever grows until then. */
  get log(): readonly LoggedInput[] {
    return this.#log
  }

  /** Calls that have not been answered yet. */
  get running(): number {
    return this.#running
  }

  /** Why the log cannot be repeated, for people; undefined when it can. */
  get broken(): string | undefined {
    return this.#broken
  }

  /** Where the lab is, while nothing moves. */
  get place(): Place {
    return { fired: this.#clock.fired, now: this.#clock.now(), step: this.#probe.steps, rest: this.#rests }
  }

  /** Goes on with a log of earlier inputs, which is not changed. */
  begin(log: readonly LoggedInput[], rests: number): void {
    this.#log = [...log]
    this.#rests = rests
    this.#broken = undefined
  }

  /** Performs an input at the next possible place. */
  call<T>(input: Input): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#pending.push((place) => {
        this.#add({ input, place })
        this.#running++
        const answered = this.#perform(input) as Promise<T>
        answered.finally(() => this.#running--).then(resolve, reject)
      })
      if (this.#pending.length === 1) this.#admitSoon()
    })
  }

  /** Keeps an input that the caller performs by itself. */
  note(input: Note): void {
    if (!this.#isRepeating) this.#add({ input, place: { ...this.place, rest: null } })
  }

  /**
   * Performs inputs again, each at its place, and goes on to the last place.
   *
   * @throws Error when the lab does not get there
   */
  async repeat(inputs: readonly LoggedInput[], last: Place, mover: Mover): Promise<void> {
    let next = 0
    const perform = (): void => {
      void Promise.resolve(this.#perform(inputs[next++]!.input)).catch(() => {})
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
    if (this.#log.length < MOST_INPUTS) this.#log.push(logged)
    else {
      this.#log = []
      this.#broken = `there were more than ${MOST_INPUTS} calls since the last snapshot at rest`
    }
  }

  #admitSoon(): void {
    if (!this.#isRepeating) this.#probe.beforeStep((step) => this.#admit({ step, rest: null }))
    this.#clock.enter(() => {
      if (this.#pending.length > 0) this.#admit({ step: this.#probe.steps, rest: ++this.#rests })
    })
    void this.#loseConfidence()
  }

  #admit({ step, rest }: Pick<Place, 'step' | 'rest'>): void {
    const { fired, now } = this.place
    for (const enter of this.#pending.splice(0)) enter({ fired, now, step, rest })
  }

  /** A server of the caller's own may make the call that the lab waits for: it must not wait for the lab. */
  async #loseConfidence(): Promise<void> {
    for (let rounds = 0; this.#pending.length > 0 && rounds < PATIENCE;) {
      await new Promise((resolve) => setImmediate(resolve))
      if (this.#clock.isHeld) rounds++
      else rounds = 0
    }
    if (this.#pending.length === 0 || this.#isRepeating) return
    this.#broken ??= 'a call came while the lab waited for something real'
    this.#admit({ step: this.#probe.steps, rest: null })
  }
}
