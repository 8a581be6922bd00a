import type { RefObject } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { EntryPlace, NodeTimeline } from '../../../control/index.js'
import { wallTime } from '../browser.js'
import { clockText, dateText, lengthText } from '../parts/clock-texts.js'
import { useWidth } from '../parts/width.js'
import { lookOf } from '../state/looks.js'
import {
  clustersOf,
  LANES,
  moveSpan,
  positionOfTime,
  tickText,
  ticksOf,
  wholeSpan,
  zoomSpan,
  type Cluster,
  type TimeSpan,
} from '../state/timeline-layout.js'
import { wallTimes } from '../state/wall-time.js'

const STATES_TOP = 4
const STEPS_TOP = 34
const LANES_TOP = 66
const LANE = 22
const AXIS = 24
const HEIGHT = LANES_TOP + LANES.length * LANE + AXIS
const LABELS_WIDTH = 64
const MIN_CLUSTER_WIDTH = 6
/** Room for half of a time below the axis. */
const TICK_ROOM = 30

/** The past of a node as a picture: states and steps as spans, all else as marks. */
export function NodeTimelinePicture({ timeline }: { timeline: NodeTimeline }) {
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  const [isWall, setIsWall] = useState(false)
  const [picked, setPicked] = useState<Cluster | null>(null)
  const room = Math.max(1, width - LABELS_WIDTH)
  const { span, zoom, move, showAll } = useSpan(timeline, box, room)
  const x = (time: number): number => LABELS_WIDTH + positionOfTime(time, span) * room
  const present = useMemo(() => ({ lab: Date.parse(timeline.now), wall: wallTime() }), [timeline])
  const shownTime = useMemo(
    () => (isWall ? wallTimes(timeline.walls, present) : (time: number) => time),
    [timeline, isWall, present],
  )
  const clusters = clustersOf(timeline.marks, span, MIN_CLUSTER_WIDTH / room)
  return (
    <section class="panel" aria-label="Timeline">
      <div class="tools">
        <h2>Timeline</h2>
        <span class="quiet">
          States: {timeline.states.length}, steps: {timeline.steps.length}, marks: {timeline.marks.length}
          {timeline.isCut ? '; the journal no longer has earlier ones' : ''}
        </span>
        <span class="space" />
        <ZoomButtons zoom={zoom} move={move} showAll={showAll} />
        <button
          aria-pressed={isWall}
          title="show this computer's time instead of the lab's"
          onClick={() => setIsWall(!isWall)}
        >
          Wall time
        </button>
      </div>
      <div ref={box} class="timeline">
        {width > 0 && (
          <svg width={width} height={HEIGHT} role="img" aria-label={summarizeTimeline(timeline)}>
            <Lanes {...{ timeline, span, x, width, shownTime, room }} />
            {clusters.map((cluster) => (
              <MarkShape
                key={`${cluster.lane}/${cluster.marks[0]!.at}/${markKey(cluster.marks[0]!)}`}
                {...{ cluster, room, setPicked }}
              />
            ))}
          </svg>
        )}
      </div>
      {picked && <Picked cluster={picked} shownTime={shownTime} />}
      <details>
        <summary>As a list</summary>
        <EventList timeline={timeline} shownTime={shownTime} />
      </details>
    </section>
  )
}

interface SpanMoves {
  zoom: (factor: number, around?: number) => void
  /** By a part of the span. */
  move: (part: number) => void
  showAll: () => void
}

/** The part of the timeline that is shown; the wheel moves it with Shift and zooms it with Ctrl. */
function useSpan(
  timeline: NodeTimeline,
  box: RefObject<HTMLElement | null>,
  room: number,
): SpanMoves & { span: TimeSpan } {
  const [chosen, setChosen] = useState<TimeSpan | null>(null)
  const whole = wholeSpan(timeline)
  const span = chosen ?? whole
  const zoom = (factor: number, around = (span.from + span.to) / 2): void => {
    const next = zoomSpan(span, factor, around, whole)
    setChosen(next.to - next.from >= (whole.to - whole.from) * 0.999 ? null : next)
  }
  const move = (part: number): void => setChosen(moveSpan(span, part, whole))
  const wheel = useRef((_event: WheelEvent) => {})
  wheel.current = (event) => {
    if (!event.ctrlKey && !event.shiftKey) return
    event.preventDefault()
    const { left } = box.current!.getBoundingClientRect()
    const around = span.from + ((event.clientX - left - LABELS_WIDTH) / room) * (span.to - span.from)
    if (event.ctrlKey) zoom(event.deltaY > 0 ? 1.25 : 0.8, around)
    else move(event.deltaY > 0 ? 0.1 : -0.1)
  }
  useEffect(() => {
    const own = (event: WheelEvent): void => wheel.current(event)
    const { current } = box
    current!.addEventListener('wheel', own, { passive: false })
    return () => current!.removeEventListener('wheel', own)
  }, [])
  return { span, zoom, move, showAll: () => setChosen(null) }
}

function ZoomButtons({ zoom, move, showAll }: SpanMoves) {
  return (
    <div class="choice many" role="group" aria-label="Zoom">
      <button aria-label="Zoom in" onClick={() => zoom(0.5)}>
        +
      </button>
      <button aria-label="Zoom out" onClick={() => zoom(2)}>
        −
      </button>
      <button aria-label="Earlier" onClick={() => move(-0.3)}>
        ←
      </button>
      <button aria-label="Later" onClick={() => move(0.3)}>
        →
      </button>
      <button onClick={showAll}>All</button>
    </div>
  )
}

/** Words for the picture. */
function summarizeTimeline({ states, steps, marks }: NodeTimeline): string {
  const path = states.map(({ state }) => state).slice(-8)
  const bad = marks.filter(({ isBad }) => isBad).length
  const step = steps.at(-1)
  const ending = step ? `; last step ${step.interface}.${step.step}: ${step.outcome}` : ''
  return `States: ${path.join(', ')}${ending}; ${marks.length} marks, ${bad} of them bad`
}

/** A lab time by the clock that is shown. */
type ShownTime = (labTime: number) => number

interface LanesProps {
  readonly timeline: NodeTimeline
  readonly span: TimeSpan
  readonly x: (time: number) => number
  readonly width: number
  readonly shownTime: ShownTime
  readonly room: number
}

function Lanes({ timeline, span, x, width, shownTime, room }: LanesProps) {
  const now = Date.parse(timeline.now)
  const block = (from: string | null, to: string | null) => {
    const left = Math.max(LABELS_WIDTH, from === null ? LABELS_WIDTH : x(Date.parse(from)))
    const right = Math.min(width, to === null ? x(now) : x(Date.parse(to)))
    return { left, wide: Math.max(2, right - left), isSeen: right >= LABELS_WIDTH && left <= width }
  }
  return (
    <>
      {ticksOf(span, Math.max(2, Math.floor(room / 90))).map((tick) => (
        <g key={tick} class="tick">
          <line x1={x(tick)} x2={x(tick)} y1={0} y2={HEIGHT - AXIS} />
          <text x={Math.min(x(tick), width - TICK_ROOM)} y={HEIGHT - 8}>
            {tickText(shownTime(tick), span)}
          </text>
        </g>
      ))}
      {['states', 'steps'].map((name, index) => (
        <text key={name} class="lane" x={0} y={(index === 0 ? STATES_TOP : STEPS_TOP) + 17}>
          {name}
        </text>
      ))}
      {LANES.map((lane, index) => (
        <text key={lane} class="lane" x={0} y={LANES_TOP + index * LANE + 15}>
          {lane}
        </text>
      ))}
      {timeline.states.map(({ state, from, to, lastError }, index) => {
        const { left, wide, isSeen } = block(from, to)
        return isSeen ? (
          <Block key={index} {...{ left, wide, top: STATES_TOP, text: state }} look={lookOf(state)} title={lastError} />
        ) : null
      })}
      {timeline.steps.map(({ interface: owner, step, from, to, outcome, stages }, index) => {
        const { left, wide, isSeen } = block(from, to)
        const stage = stages.at(-1)
        const progress = stage ? `${stage.stage}${stage.percent === null ? '' : ` ${stage.percent}%`}` : null
        const look = outcome === 'failed' ? 'failed' : outcome === 'done' ? 'active' : 'working'
        return isSeen ? (
          <Block key={index} {...{ left, wide, look, top: STEPS_TOP }} text={`${owner}.${step}`} title={progress} />
        ) : null
      })}
    </>
  )
}

/** A span with its name, where there is room for it. */
function Block({
  left,
  wide,
  top,
  text,
  look,
  title,
}: {
  left: number
  wide: number
  top: number
  text: string
  look: string
  title: string | null
}) {
  const fits = Math.floor((wide - 8) / 6.6)
  return (
    <g class={`block look-${look}`}>
      <title>{title === null ? text : `${text}: ${title}`}</title>
      <rect x={left} y={top} width={wide} height={24} rx={3} />
      {fits > 3 && (
        <text x={left + 5} y={top + 16}>
          {text.length > fits ? `${text.slice(0, fits - 1)}…` : text}
        </text>
      )}
    </g>
  )
}

function MarkShape({
  cluster,
  room,
  setPicked,
}: {
  cluster: Cluster
  room: number
  setPicked: (cluster: Cluster) => void
}) {
  const top = LANES_TOP + LANES.indexOf(cluster.lane) * LANE
  const left = LABELS_WIDTH + cluster.left * room
  const wide = Math.max(MIN_CLUSTER_WIDTH - 2, cluster.width * room)
  const { marks, isBad } = cluster
  // Bad marks are taller and pointed: colour is not all that shows it.
  return (
    <g class={`point ${isBad ? 'bad' : ''} ${cluster.lane}`} onClick={() => setPicked(cluster)}>
      <title>{marks.length === 1 ? marks[0]!.text : `${marks.length} marks: ${marks[0]!.text} ...`}</title>
      {isBad ? (
        <path d={`M${left - 3} ${top + 18}L${left + 3} ${top + 3}L${left + 9} ${top + 18}z`} />
      ) : (
        <rect x={left} y={top + 6} width={wide} height={10} rx={2} />
      )}
    </g>
  )
}

/** Tells the entry of a mark apart from those of other processes. */
const markKey = ({ entry, process = '' }: EntryPlace): string => `${process} ${entry}`

function Picked({ cluster: { lane, marks }, shownTime }: { cluster: Cluster; shownTime: ShownTime }) {
  return (
    <div class="picked" role="status">
      <strong>{lane}</strong>
      <ul>
        {marks.slice(0, 30).map(({ at, text, isBad, duration, ...place }) => (
          <li key={`${at} ${markKey(place)}`} class={isBad ? 'error-text' : ''}>
            <span class="mono">{clockText(shownTime(Date.parse(at)))}</span> {text}
            {duration > 0 && <span class="quiet"> {lengthText(duration)}</span>}
          </li>
        ))}
      </ul>
    </div>
  )
}

const MAX_TIMELINE_ENTRIES = 300

function EventList({ timeline, shownTime }: { timeline: NodeTimeline; shownTime: ShownTime }) {
  const events = [
    ...timeline.states.map(({ state, from }) => ({ at: from, text: state, isBad: lookOf(state) === 'failed' })),
    ...timeline.steps.map(({ interface: owner, step, from, outcome }) => ({
      at: from as string | null,
      text: `step ${owner}.${step}: ${outcome}`,
      isBad: outcome === 'failed',
    })),
    ...timeline.marks.map(({ at, text, isBad }) => ({ at: at as string | null, text, isBad })),
  ]
    .filter(({ at }) => at !== null)
    .sort((a, b) => Date.parse(b.at!) - Date.parse(a.at!))
    .slice(0, MAX_TIMELINE_ENTRIES)
  return (
    <ul class="events" tabIndex={0} aria-label="Events, the last first">
      {events.map(({ at, text, isBad }, index) => (
        <li key={index} class={isBad ? 'error-text' : ''}>
          <span class="mono quiet">{dateText(shownTime(Date.parse(at!)))}</span> {text}
        </li>
      ))}
    </ul>
  )
}
