/**
 * Something about to happen that an observer may want to see, delay or make fail: a wire exchange, a command on a
 * machine, a write to a disk. `kind` and the attributes belong to the room that makes it, which has an interface of them.
 */
export interface Point {
  readonly kind: string
}

/** A point as an observer gets it that does not know the room's interface. */
export interface ProbePoint extends Point {
  readonly [attribute: string]: unknown
}

/**
 * Sees a point and decides what becomes of it: `next()` lets it happen. A report tells of what has happened already, and
 * nothing follows from it.
 */
export type Interceptor<Seen extends Point = ProbePoint> = <T>(
  point: Seen,
  next: () => Promise<T>,
  isReport: boolean,
) => Promise<T>

/**
 * The one place through which every exchange, command and disk access passes. Faults and the journal attach here and
 * nowhere else. With nothing attached it costs a check, so points need only be made when {@link watches} says so.
 */
export class Probe {
  readonly #within: { outer: Probe; extend: (point: ProbePoint) => Point } | undefined
  #steps = 0
  #beforeStep: ((step: number) => void) | undefined
  #interceptors: { sees: Interceptor; kinds: readonly string[] | undefined }[] = []

  /** @param within the probe that also sees each point, with what `extend` adds to it */
  constructor(within?: { outer: Probe; extend: (point: ProbePoint) => Point }) {
    this.#within = within
  }

  /**
   * How often the probe was asked so far: a place in the history of what it is attached to, where all that happens under
   * virtual time happens in one order.
   */
  get steps(): number {
    return this.#steps
  }

  set steps(steps: number) {
    this.#steps = steps
  }

  /** Calls `then` before the next step, once; undefined calls nothing. */
  beforeStep(then: ((step: number) => void) | undefined): void {
    this.#beforeStep = then
  }

  /** True if points of a kind are seen at the moment. */
  watches(kind: string): boolean {
    const step = this.#steps++
    if (this.#beforeStep) {
      const then = this.#beforeStep
      this.#beforeStep = undefined
      then(step)
    }
    for (const { kinds } of this.#interceptors) if (!kinds || kinds.includes(kind)) return true
    return this.#within?.outer.watches(kind) ?? false
  }

  around<T>(made: Point, run: () => Promise<T>): Promise<T> {
    return this.#pass(made, run, false)
  }

  #pass<T>(made: Point, run: () => Promise<T>, isReport: boolean): Promise<T> {
    // An interface has no index signature, but of any object each attribute is unknown.
    const point = made as ProbePoint
    if (!this.watches(point.kind)) return run()
    const seeing = this.#interceptors.filter(({ kinds }) => !kinds || kinds.includes(point.kind))
    const through = (index: number): Promise<T> => {
      const interceptor = seeing[index]
      if (interceptor) return interceptor.sees(point, () => through(index + 1), isReport)
      return this.#within ? this.#within.outer.#pass(this.#within.extend(point), run, isReport) : run()
    }
    return through(0)
  }

  /** Reports something that has happened; interceptors cannot prevent it. */
  report(point: Point): void {
    if (this.watches(point.kind)) void this.#pass(point, () => Promise.resolve(), true).catch(() => {})
  }

  /**
   * Has points of some kinds seen as `Seen`, the interfaces of the rooms that make them.
   *
   * @param kinds the kinds of points to see; without, all
   */
  attach(sees: Interceptor, kinds?: readonly string[]): Disposable
  attach<Seen extends Point>(sees: Interceptor<Seen>, kinds: readonly Seen['kind'][]): Disposable
  attach(sees: Interceptor<never>, kinds?: readonly string[]): Disposable {
    // It is called with points of these kinds alone. Probes in between add attributes and take none away.
    const attached = { sees: sees as Interceptor, kinds }
    this.#interceptors = this.#interceptors.concat(attached)
    return {
      [Symbol.dispose]: () => {
        this.#interceptors = this.#interceptors.filter((other) => other !== attached)
      },
    }
  }
}
