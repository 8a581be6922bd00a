/** A part of an expression without references back and looks ahead. */
export type PatternPart =
  | { kind: 'one'; accepts: (point: number) => boolean }
  | { kind: 'edge'; holds: (before: number | undefined, after: number | undefined) => boolean }
  | { kind: 'sequence'; parts: readonly PatternPart[] }
  | { kind: 'choice'; parts: readonly PatternPart[] }
  | { kind: 'repeat'; part: PatternPart; min: number; max: number }

/** A place of an expression; one without `accepts` and `holds` goes on at once. */
interface MatchStep {
  accepts?: (point: number) => boolean
  holds?: (before: number | undefined, after: number | undefined) => boolean
  next: number[]
}

/**
 * An expression as places that are all followed at once (Thompson's construction): the time is at most the length of the
 * text times that of the expression, where JavaScript's own expressions try one path after another.
 */
export class LinearMatch {
  readonly #steps: MatchStep[] = [{ next: [] }]
  readonly #start: number
  /** Number of the walk that came to a place last. */
  readonly #seen: number[] = []
  #walk = 0

  constructor(part: PatternPart) {
    this.#start = this.#add(part, END)
  }

  /** True if the expression is found anywhere in the text. */
  test(text: string): boolean {
    const points = Array.from(text, (character) => character.codePointAt(0)!)
    let places: number[] = []
    for (let at = 0; at <= points.length; at += 1) {
      const before = points[at - 1]
      const after = points[at]
      const reached = this.#reach([...places, this.#start], before, after)
      if (this.#seen[END] === this.#walk) return true
      if (after === undefined) return false
      places = reached.flatMap((place) => {
        const { accepts, next } = this.#steps[place]!
        return accepts?.(after) === true ? next : []
      })
    }
    return false
  }

  /** Places with a character, or the end, to which steps lead that take none. */
  #reach(from: number[], before: number | undefined, after: number | undefined): number[] {
    this.#walk += 1
    const found: number[] = []
    for (let open = from.pop(); open !== undefined; open = from.pop()) {
      if (this.#seen[open] === this.#walk) continue
      this.#seen[open] = this.#walk
      const { accepts, holds, next } = this.#steps[open]!
      if (accepts) found.push(open)
      else if (!holds || holds(before, after)) from.push(...next)
    }
    return found
  }

  /** True for an expression that repeats so much that only its beginning is here. */
  get isTooLarge(): boolean {
    return this.#steps.length >= MAX_STEPS
  }

  #push(step: MatchStep): number {
    return this.#steps.length < MAX_STEPS ? this.#steps.push(step) - 1 : END
  }

  /** Adds a part that goes on at a place; returns where it begins. */
  #add(part: PatternPart, then: number): number {
    switch (part.kind) {
      case 'one':
        return this.#push({ accepts: part.accepts, next: [then] })
      case 'edge':
        return this.#push({ holds: part.holds, next: [then] })
      case 'sequence':
        return part.parts.reduceRight((place, each) => this.#add(each, place), then)
      case 'choice':
        return this.#push({ next: part.parts.map((each) => this.#add(each, then)) })
      case 'repeat':
        return this.#repeat(part, then)
    }
  }

  #repeat({ part, min, max }: PatternPart & { kind: 'repeat' }, then: number): number {
    let place = then
    if (max === Infinity) {
      const again: MatchStep = { next: [then] }
      place = this.#push(again)
      again.next.push(this.#add(part, place))
    } else for (let more = min; more < max; more += 1) place = this.#push({ next: [then, this.#add(part, place)] })
    for (let one = 0; one < min; one += 1) place = this.#add(part, place)
    return place
  }
}

const END = 0
const MAX_STEPS = 100_000
