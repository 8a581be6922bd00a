import type { ProvisionState } from '../../base/wire/index.js'
import type { ActivityPoint, ActivityReport, NewEntry, NewExchange } from '../../control/index.js'

const SECOND = 1000
/** Length of the past that is kept. */
const PAST = 3600 * SECOND
/** Points that are kept. When there are more, two become one, until their steps are the longest. */
const MAX_POINTS = 225
const LONGEST_STEP = PAST / MAX_POINTS

type Counts = Map<string, number>

interface ClosedPoint {
  readonly end: number
  readonly step: number
  readonly states: Readonly<Record<string, number>>
  readonly entered: Readonly<Record<string, number>>
  readonly exchanges: number
}

/**
 * Counts what a lab does, in steps of the computer's time: the first minutes in seconds, an hour in steps of 16 seconds. An
 * entry costs an addition, and what is kept does not grow.
 */
export class ActivityCounter {
  readonly #now: () => number
  /** State of each node, by its uuid. */
  #states = new Map<string, ProvisionState>()
  readonly #counts: Counts = new Map()
  #entered: Counts = new Map()
  #exchanges = 0
  #points: ClosedPoint[] = []
  #step = SECOND
  /** End of the step that is going on. */
  #end: number
  /** State that the nodes are brought to. */
  goal: ProvisionState | null = null

  /** @param now time of the computer */
  constructor(now: () => number) {
    this.#now = now
    this.#end = now() + SECOND
  }

  /** Takes an entry of the journal. @param wall when it was noted, by the computer's clock */
  note(entry: NewEntry | NewExchange, wall: number): void {
    if (wall >= this.#end) this.#closeUntil(wall)
    if (entry.kind === 'exchange' || entry.kind === 'bmc') this.#exchanges++
    else if (entry.kind === 'state' && entry.node !== null) this.#move(entry.node, entry.state)
  }

  /** The states that nodes have now: those of an earlier start, or of a snapshot. */
  recount(states: Iterable<readonly [uuid: string, state: ProvisionState]>): void {
    this.#closeUntil(this.#now())
    this.#states = new Map(states)
    this.#counts.clear()
    for (const state of this.#states.values()) addTo(this.#counts, state, 1)
  }

  report(): ActivityReport {
    const now = this.#now()
    this.#closeUntil(now)
    const seconds = Math.max(0, now - (this.#end - this.#step)) / SECOND
    const current = { ...this.#open(), at: new Date(now).toISOString(), seconds }
    return { goal: this.goal, points: [...this.#points.map(reportPoint), current] }
  }

  #move(node: string, state: ProvisionState | 'deleted'): void {
    const was = this.#states.get(node)
    if (was === state) return
    if (was !== undefined) addTo(this.#counts, was, -1)
    if (state === 'deleted') return void this.#states.delete(node)
    this.#states.set(node, state)
    addTo(this.#counts, state, 1)
    addTo(this.#entered, state, 1)
  }

  #closeUntil(now: number): void {
    if (now - this.#end > PAST) this.#forget(now - PAST)
    while (now >= this.#end) this.#close()
  }

  /** A past without entries is not counted step by step. */
  #forget(end: number): void {
    this.#points = []
    this.#step = LONGEST_STEP
    this.#end = end
    this.#entered = new Map()
    this.#exchanges = 0
  }

  #close(): void {
    this.#points.push({ end: this.#end, step: this.#step, ...this.#open() })
    this.#entered = new Map()
    this.#exchanges = 0
    if (this.#points.length > MAX_POINTS) {
      if (this.#step < LONGEST_STEP) this.#halve()
      else this.#points.shift()
    }
    this.#end += this.#step
  }

  /** Two points become one. */
  #halve(): void {
    const points: ClosedPoint[] = []
    for (let index = this.#points.length - 1; index > 0; index -= 2)
      points.push(joined(this.#points[index - 1]!, this.#points[index]!))
    this.#points = points.reverse()
    this.#step *= 2
  }

  #open() {
    return {
      states: Object.fromEntries(this.#counts),
      entered: Object.fromEntries(this.#entered),
      exchanges: this.#exchanges,
    }
  }
}

function joined(first: ClosedPoint, second: ClosedPoint): ClosedPoint {
  const entered: Counts = new Map(Object.entries(first.entered))
  for (const [state, count] of Object.entries(second.entered)) addTo(entered, state, count)
  return {
    end: second.end,
    step: first.step + second.step,
    states: second.states,
    entered: Object.fromEntries(entered),
    exchanges: first.exchanges + second.exchanges,
  }
}

const reportPoint = ({ end, step, states, entered, exchanges }: ClosedPoint): ActivityPoint => ({
  at: new Date(end).toISOString(),
  seconds: step / SECOND,
  states,
  entered,
  exchanges,
})

function addTo(counts: Counts, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}
