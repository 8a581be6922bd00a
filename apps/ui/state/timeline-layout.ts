import type { NodeTimeline, TimelineMark } from '../../../control/index.js'

/** Part of time that is drawn, in milliseconds of lab time. */
export interface TimeSpan {
  readonly from: number
  readonly to: number
}

const MIN_SPAN_TIME = 20

/** All of a timeline, with a little room at its end. */
export function wholeSpan({ since, now }: Pick<NodeTimeline, 'since' | 'now'>): TimeSpan {
  const to = Date.parse(now)
  const from = since === null ? to - 60_000 : Date.parse(since)
  const length = Math.max(MIN_SPAN_TIME, to - from)
  return { from: from - length * 0.01, to: Math.max(to, from + length) + length * 0.02 }
}

/** Zooms around a time; a factor below 1 shows less. Never beyond the whole. */
export function zoomSpan(span: TimeSpan, factor: number, around: number, whole: TimeSpan): TimeSpan {
  const length = Math.min(whole.to - whole.from, Math.max(MIN_SPAN_TIME, (span.to - span.from) * factor))
  const share = (around - span.from) / (span.to - span.from)
  return clampSpan({ from: around - share * length, to: around + (1 - share) * length }, whole)
}

/** Moves by a share of what is drawn. */
export function moveSpan(span: TimeSpan, share: number, whole: TimeSpan): TimeSpan {
  const by = (span.to - span.from) * share
  return clampSpan({ from: span.from + by, to: span.to + by }, whole)
}

function clampSpan({ from, to }: TimeSpan, whole: TimeSpan): TimeSpan {
  const length = to - from
  const first = Math.max(whole.from, Math.min(from, whole.to - length))
  return { from: first, to: first + length }
}

/** Where a time is, from 0 to 1; beyond that outside of what is drawn. */
export const positionOfTime = (time: number, { from, to }: TimeSpan): number => (time - from) / (to - from)

const TICK_STEPS = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map((s) => s * 1000),
  ...[1, 2, 5, 10, 15, 30].map((m) => m * 60_000),
  ...[1, 2, 4, 6, 12, 24, 48, 168, 720].map((h) => h * 3_600_000),
]

/** Times of an axis: round ones with so many steps between them at most. */
export function ticksOf({ from, to }: TimeSpan, most: number): number[] {
  const step = TICK_STEPS.find((one) => (to - from) / one <= most) ?? TICK_STEPS.at(-1)!
  const ticks: number[] = []
  for (let tick = Math.ceil(from / step) * step; tick <= to && ticks.length <= most; tick += step) ticks.push(tick)
  return ticks
}

/** Words for a tick: parts of a second where ticks are that close. */
export function tickText(time: number, { from, to }: TimeSpan): string {
  const text = new Date(time).toISOString()
  return to - from < 5000 ? text.slice(14, 23) : to - from < 2 * 86_400_000 ? text.slice(11, 19) : text.slice(5, 16)
}

/** Rows of marks, in their order. */
export const LANES = ['agent', 'calls', 'machine', 'BMC', 'power', 'faults'] as const

type TimelineLane = (typeof LANES)[number]

const LANE_OF: Readonly<Record<TimelineMark['kind'], TimelineLane>> = {
  heartbeat: 'agent',
  call: 'calls',
  download: 'machine',
  command: 'machine',
  bmc: 'BMC',
  power: 'power',
  boot: 'power',
  pull: 'machine',
  fault: 'faults',
  lab: 'faults',
}

/** Marks that fall on one spot of a lane. */
export interface Cluster {
  readonly lane: TimelineLane
  /** From 0 to 1. */
  readonly left: number
  readonly width: number
  readonly marks: readonly TimelineMark[]
  readonly isBad: boolean
}

/** Marks that are seen, those that would cover each other as one. */
export function clustersOf(marks: readonly TimelineMark[], span: TimeSpan, smallest: number): Cluster[] {
  const clusters: { lane: TimelineLane; left: number; right: number; marks: TimelineMark[]; isBad: boolean }[] = []
  const last = new Map<TimelineLane, (typeof clusters)[number]>()
  const timed = marks.map((mark) => ({ mark, at: Date.parse(mark.at) })).sort((a, b) => a.at - b.at)
  for (const { mark, at } of timed) {
    const left = positionOfTime(at, span)
    const right = Math.max(positionOfTime(at + mark.duration, span), left + smallest)
    if (right < 0 || left > 1) continue
    const lane = LANE_OF[mark.kind]
    const before = last.get(lane)
    if (before && left < before.left + smallest) {
      before.marks.push(mark)
      before.right = Math.max(before.right, right)
      before.isBad ||= mark.isBad
      continue
    }
    const cluster = { lane, left, right, marks: [mark], isBad: mark.isBad }
    clusters.push(cluster)
    last.set(lane, cluster)
  }
  return clusters.map(({ lane, left, right, marks: own, isBad }) => {
    const from = Math.max(0, left)
    return { lane, left: from, width: Math.min(1, right) - from, marks: own, isBad }
  })
}
