import type { ActivityPoint, ActivityReport } from '../../../control/index.js'
import type { FleetRow } from './fleet-rows.js'
import { lookOf, type Look } from './looks.js'

/** How far a fleet is. */
export interface FleetProgress {
  /** State that its machines are brought to. */
  readonly goal: string
  readonly total: number
  readonly done: number
  /** Machines that are on their way. */
  readonly underway: number
  readonly failed: number
  /** From 0 to 100, and 100 only when all are there. */
  readonly percent: number
  /** Arrivals in the last minutes; null without any. */
  readonly perMinute: number | null
  /** Milliseconds until the last one arrives, at the rate so far; 0 once they are late, null without a rate. */
  readonly timeLeft: number | null
}

/** Milliseconds of the past that tell how quickly machines arrive. */
const RATE_SPAN = 5 * 60_000
/** Arrivals that make a rate. */
const MIN_ARRIVALS = 2

/** @param activity null before it was asked for */
export function progressOf(rows: readonly FleetRow[], activity: ActivityReport | null): FleetProgress {
  const goal = activity?.goal ?? commonTarget(rows) ?? (rows.some(({ isNode }) => isNode) ? 'active' : 'on')
  const goOn = activity?.goal != null
  let done = 0
  let failed = 0
  let underway = 0
  for (const row of rows)
    if (row.state === goal && row.target === null) done++
    else if (hasFailed(row)) failed++
    else if (row.target === goal || (goOn && !row.isInMaintenance)) underway++
  const arrivals = arrivalsOf(goal, activity?.points ?? [])
  return {
    goal,
    total: rows.length,
    done,
    underway,
    failed,
    percent: rows.length === 0 ? 0 : Math.floor((100 * done) / rows.length),
    perMinute: arrivals && arrivals.perMs * 60_000,
    timeLeft: arrivals && underway > 0 ? Math.max(0, underway * arrivals.gap - arrivals.silence) : null,
  }
}

/** True if it has failed, or is back where it came from with an error. */
export const hasFailed = ({ look, target, error, state }: FleetRow): boolean =>
  look === 'failed' || (target === null && state === 'enroll' && error !== null && error !== '')

function commonTarget(rows: readonly FleetRow[]): string | null {
  const counts = new Map<string, number>()
  let most: string | null = null
  for (const { target } of rows) {
    if (target === null) continue
    counts.set(target, (counts.get(target) ?? 0) + 1)
    if (most === null || counts.get(target)! > counts.get(most)!) most = target
  }
  return most
}

interface Arrivals {
  readonly perMs: number
  /** Milliseconds between two of them. */
  readonly gap: number
  /** Milliseconds since the last one. */
  readonly silence: number
}

/** How quickly nodes came into a state lately; null when too few did. */
function arrivalsOf(state: string, points: readonly ActivityPoint[]): Arrivals | null {
  const now = Date.parse(points.at(-1)?.at ?? '')
  const recent = points.filter(({ at, entered }) => now - Date.parse(at) < RATE_SPAN && (entered[state] ?? 0) > 0)
  const count = recent.reduce((sum, { entered }) => sum + entered[state]!, 0)
  if (count < MIN_ARRIVALS) return null
  const first = Date.parse(recent[0]!.at) - recent[0]!.seconds * 1000
  const silence = now - Date.parse(recent.at(-1)!.at)
  return {
    perMs: count / Math.max(1000, now - first),
    gap: Math.max(1000, now - silence - first) / count,
    silence,
  }
}

/** Calls a second of the last ten seconds; 0 without any. */
export function exchangeRate(points: readonly ActivityPoint[]): number {
  const now = Date.parse(points.at(-1)?.at ?? '')
  const recent = points.filter(({ at }) => now - Date.parse(at) <= 10_000)
  const seconds = recent.reduce((sum, point) => sum + point.seconds, 0)
  return seconds < 1 ? 0 : recent.reduce((sum, { exchanges }) => sum + exchanges, 0) / seconds
}

/** `0.4`, `3`, `120`: a rate in as many digits as it is worth. */
export const rateText = (rate: number): string =>
  rate === 0 ? '0' : rate < 0.05 ? '< 0.1' : rate < 9.95 ? String(Math.round(rate * 10) / 10) : String(Math.round(rate))

/** Groups of states as they are stacked, the lowest first. */
export const STACKED_LOOKS: readonly Look[] = ['active', 'rescue', 'ready', 'working', 'waiting', 'failed', 'new']

/** Machines of each group of states at a time. */
export function countsByLook(states: Readonly<Record<string, number>>): Record<Look, number> {
  const counts = Object.fromEntries(STACKED_LOOKS.map((look) => [look, 0])) as Record<Look, number>
  for (const [state, count] of Object.entries(states)) counts[lookOf(state)] += count
  return counts
}

/** The same of the machines as they are now. */
export function lookCounts(rows: readonly FleetRow[]): Record<Look, number> {
  const counts = countsByLook({})
  for (const { look } of rows) counts[look]++
  return counts
}

/** A drawing of the last hour. Lengths are in pixels. */
export interface ActivityDrawing {
  /** Outline of each group of states that occurs, the lowest first. */
  readonly bands: readonly { look: Look; path: string }[]
  /** Outline of the exchanges a second. */
  readonly exchanges: string
  /** The most machines at a time. */
  readonly most: number
  /** The most exchanges a second. */
  readonly peak: number
  /** Beginning and end of the drawing, in milliseconds since 1970. */
  readonly from: number
  readonly to: number
  /** Right edge of each point. */
  readonly edges: readonly number[]
}

/** The shortest past that is drawn. */
const MIN_DRAWN_TIME = 30_000

export function drawActivity(
  points: readonly ActivityPoint[],
  size: { width: number; height: number; exchangesHeight: number },
): ActivityDrawing {
  const ends = points.map(({ at }) => Date.parse(at))
  const to = ends.at(-1) ?? 0
  const from = Math.min(to - MIN_DRAWN_TIME, (ends[0] ?? to) - (points[0]?.seconds ?? 0) * 1000)
  const x = (time: number): number => round(((time - from) / (to - from)) * size.width)
  const counts = points.map(({ states }) => countsByLook(states))
  const totals = counts.map((each) => STACKED_LOOKS.reduce((sum, look) => sum + each[look], 0))
  const most = Math.max(1, ...totals)
  const lefts = points.map(({ seconds }, index) => x(ends[index]! - seconds * 1000))
  const edges = ends.map(x)
  const below = points.map(() => 0)
  const bands = STACKED_LOOKS.flatMap((look) => {
    if (counts.every((each) => each[look] === 0)) return []
    const y = (count: number): number => round(size.height - (count / most) * size.height)
    const bottoms = below.map(y)
    for (const [index, each] of counts.entries()) below[index]! += each[look]
    return [{ look, path: stepOutline(lefts, edges, below.map(y), bottoms) }]
  })
  const rates = points.map(({ exchanges, seconds }) => exchanges / Math.max(1, seconds))
  const peak = Math.max(0, ...rates)
  const tops = rates.map((rate) => round(size.exchangesHeight * (1 - (peak === 0 ? 0 : rate / peak))))
  const floors = rates.map(() => size.exchangesHeight)
  return { bands, exchanges: stepOutline(lefts, edges, tops, floors), most, peak, from, to, edges }
}

const round = (value: number): number => Math.round(value * 10) / 10

/** An area between two lines of steps; steps of equal height are one. */
function stepOutline(
  lefts: readonly number[],
  rights: readonly number[],
  tops: readonly number[],
  bottoms: readonly number[],
): string {
  if (lefts.length === 0) return ''
  let path = `M${lefts[0]} ${bottoms[0]}V${tops[0]}`
  for (let index = 1; index < lefts.length; index++)
    if (tops[index] !== tops[index - 1]) path += `H${lefts[index]}V${tops[index]}`
  path += `H${rights.at(-1)}V${bottoms.at(-1)}`
  for (let index = lefts.length - 1; index > 0; index--)
    if (bottoms[index] !== bottoms[index - 1]) path += `H${lefts[index]}V${bottoms[index - 1]}`
  return `${path}Z`
}

/** The point that is drawn at a place, from the left. */
export function pointAt(edges: readonly number[], x: number): number {
  const found = edges.findIndex((edge) => x <= edge)
  return found < 0 ? edges.length - 1 : found
}
