import type { StepPlan } from '../../ironic-mock/index.js'
import type { NodeReport } from '../documents/documents.js'
import type { JournalEntry, StateEntry, StepEntry } from '../journal/entry.js'
import { whyFailed, type TimelineCause } from './cause.js'
import { entryPlace, type EntryPlace } from './entry-place.js'
import { marksOf, type TimelineMark } from './marks.js'

/** A provision state of a node, from when to when. Times are ISO 8601 in lab time. */
export interface StateSpan extends Pick<EntryPlace, 'process'> {
  state: StateEntry['state']
  /** Null where the journal no longer has its beginning. */
  from: string | null
  /** Null for the present state. */
  to: string | null
  power: string | null
  lastError: string | null
  /** Id of the entry with which it began. */
  entry: number | null
}

/** A step of a node, from when to when. */
export interface StepSpan extends Pick<StepEntry, 'flow' | 'interface' | 'step' | 'index'>, EntryPlace {
  from: string
  /** Null while it runs. */
  to: string | null
  outcome: 'running' | 'done' | 'failed'
  /** Stages of the step, with the percentage that each has reached. */
  stages: { stage: string; from: string; percent: number | null }[]
}

/** Event that a node waits for. */
export interface AwaitedEvent {
  what: string
  /** When it is no longer waited for; null without a time limit. */
  until: string | null
}

/** One time by both clocks, in ISO 8601. */
export interface WallTime {
  lab: string
  wall: string
}

/** The past of a node, and its next steps. */
export interface NodeTimeline {
  node: NodeReport
  /** Lab time of the present. */
  now: string
  /** Lab time of the first entry; null without any. */
  since: string | null
  /** True if earlier entries of the journal are gone. */
  isCut: boolean
  /** Times by both clocks, the oldest first: between two of them both pass evenly. */
  walls: WallTime[]
  states: StateSpan[]
  steps: StepSpan[]
  marks: TimelineMark[]
  waiting: AwaitedEvent | null
  /** The last error and its causes, the outermost first; empty without an error. */
  causes: TimelineCause[]
  /** Sentence that says what to do about the last error. */
  remedy: string | null
  plan: StepPlan | null
}

/** Puts a timeline together from the entries of one node, the oldest first. */
export function timelineOf(parts: {
  node: NodeReport
  entries: readonly JournalEntry[]
  /** Entries before them that are no longer in the journal, as far as they are remembered. */
  remembered: readonly JournalEntry[]
  isCut: boolean
  now: number
  waiting: AwaitedEvent | null
  plan: StepPlan | null
  /** Text of a fault by its id; undefined for one that was lifted. */
  fault: (id: string) => string | undefined
}): NodeTimeline {
  const { node, entries, isCut, now, waiting, plan } = parts
  const { causes, remedy } = whyFailed(node, [...parts.remembered, ...entries], parts.fault)
  return {
    node,
    now: new Date(now).toISOString(),
    since: entries[0]?.labTime ?? null,
    isCut,
    walls: wallsOf(entries),
    states: stateSpansOf(node, entries),
    steps: stepSpansOf(entries),
    marks: marksOf(entries),
    waiting,
    causes,
    remedy,
    plan,
  }
}

function stateSpansOf(node: NodeReport, entries: readonly JournalEntry[]): StateSpan[] {
  const spans: StateSpan[] = []
  for (const entry of entries) {
    if (entry.kind !== 'state') continue
    const { labTime, state, was, power, lastError } = entry
    const last = spans.at(-1)
    if (!last && was !== null && was !== state)
      spans.push({ state: was, from: null, to: null, power: null, lastError: null, entry: null })
    const open = spans.at(-1)
    if (open?.state === state && open.to === null) {
      // Only the power has changed.
      Object.assign(open, { power, lastError })
      continue
    }
    if (open) open.to = labTime
    spans.push({ state, from: labTime, to: null, power, lastError, ...entryPlace(entry) })
  }
  const { provision_state: state, power_state: power, last_error: lastError } = node
  return spans.length > 0 ? spans : [{ state, from: null, to: null, power, lastError, entry: null }]
}

function stepSpansOf(entries: readonly JournalEntry[]): StepSpan[] {
  const spans: StepSpan[] = []
  for (const entry of entries) {
    if (entry.kind !== 'step') continue
    const { flow, interface: owner, step, index, what, stage, percent, labTime } = entry
    const last = spans.at(-1)
    switch (what) {
      case 'began':
        spans.push({
          flow,
          interface: owner,
          step,
          index,
          from: labTime,
          to: null,
          outcome: 'running',
          stages: [],
          ...entryPlace(entry),
        })
        break
      case 'stage':
        last?.stages.push({ stage: stage!, from: labTime, percent: null })
        break
      case 'percent': {
        const current = last?.stages.at(-1)
        if (current) current.percent = percent
        break
      }
      case 'ended':
      case 'failed':
        if (last?.to === null) Object.assign(last, { to: labTime, outcome: what === 'ended' ? 'done' : 'failed' })
    }
  }
  return spans
}

/** Difference between two clocks that is not worth a time of its own, in milliseconds. */
const MIN_TIME_DIFFERENCE = 250

function wallsOf(entries: readonly JournalEntry[]): WallTime[] {
  const walls: WallTime[] = []
  let apart = Number.NaN
  for (const [index, { labTime: lab, wallTime: wall }] of entries.entries()) {
    const now = Date.parse(wall) - Date.parse(lab)
    if (Math.abs(now - apart) <= MIN_TIME_DIFFERENCE) continue
    // The clocks ran alike until the entry before.
    const before = entries[index - 1]
    if (before && walls.at(-1)!.lab !== before.labTime) walls.push({ lab: before.labTime, wall: before.wallTime })
    walls.push({ lab, wall })
    apart = now
  }
  return walls
}
