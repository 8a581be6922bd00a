import { useMemo, useRef, useState } from 'preact/hooks'
import type { ActivityPoint } from '../../../control/index.js'
import { lengthText } from '../parts/clock-texts.js'
import { Mark } from '../parts/shapes.js'
import { useWidth } from '../parts/width.js'
import { countsByLook, drawActivity, exchangeRate, pointAt, rateText, STACKED_LOOKS } from '../state/activity.js'
import { LOOK_WORDS, type Look } from '../state/looks.js'

const STATES_HEIGHT = 120
const EXCHANGES_HEIGHT = 30
const GAP = 16
const AXIS_HEIGHT = 18
const HEIGHT = STATES_HEIGHT + GAP + EXCHANGES_HEIGHT + AXIS_HEIGHT

/** The states of all machines and the exchanges, as they were in the last hour. The legend has the numbers of a time. */
export function LastHour({ points, now }: { points: readonly ActivityPoint[]; now: Readonly<Record<Look, number>> }) {
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  const [pointed, setPointed] = useState<number | null>(null)
  const size = { width, height: STATES_HEIGHT, exchangesHeight: EXCHANGES_HEIGHT }
  const drawing = useMemo(() => drawActivity(points, size), [points, width])
  const index = pointed === null ? points.length - 1 : pointAt(drawing.edges, pointed)
  const shown = points[index]
  const counts = pointed === null || !shown ? now : countsByLook(shown.states)
  const rate = pointed === null || !shown ? exchangeRate(points) : shown.exchanges / Math.max(1, shown.seconds)
  return (
    <figure class="last-hour" aria-label="The last hour">
      <figcaption>
        <strong>{pointed === null ? 'Now' : agoText(drawing.to - Date.parse(shown!.at))}</strong>
        <span class="quiet"> {rateText(rate)} exchanges a second</span>
      </figcaption>
      <div
        ref={box}
        class="chart"
        onMouseMove={({ clientX }) =>
          points.length > 0 && setPointed(clientX - box.current!.getBoundingClientRect().left)
        }
        onMouseLeave={() => setPointed(null)}
      >
        {width > 0 && (
          <svg width={width} height={HEIGHT} role="img" aria-label={summarize(points, drawing)}>
            <Hatches />
            {drawing.bands.map(({ look, path }) => (
              <g key={look} class={`band look-${look}`}>
                <path d={path} />
                {HATCHED.has(look) && <path d={path} class="hatched" fill={`url(#hatch-${look})`} />}
              </g>
            ))}
            <text class="most" x={4} y={12}>
              {drawing.most}
            </text>
            <g transform={`translate(0 ${STATES_HEIGHT + GAP})`}>
              <path class="exchange-rate" d={drawing.exchanges} />
              <text x={4} y={-4}>
                exchanges a second, {rateText(drawing.peak)} at most
              </text>
            </g>
            <TimeAxis from={drawing.from} to={drawing.to} width={width} />
            {pointed !== null && <line class="pointer" x1={pointed} x2={pointed} y1={0} y2={HEIGHT - AXIS_HEIGHT} />}
          </svg>
        )}
      </div>
      <Legend counts={counts} />
    </figure>
  )
}

/** Bands that colour alone would not tell from their neighbours. */
const HATCHED: ReadonlySet<Look> = new Set(['waiting', 'failed', 'new'])

function Hatches() {
  return (
    <defs>
      <pattern id="hatch-waiting" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <path d="M0 0V6" />
      </pattern>
      <pattern id="hatch-failed" width="9" height="9" patternUnits="userSpaceOnUse">
        <path d="M0 0L9 9M9 0L0 9" />
      </pattern>
      <pattern id="hatch-new" width="5" height="5" patternUnits="userSpaceOnUse">
        <path d="M1 1h1.5" />
      </pattern>
    </defs>
  )
}

function TimeAxis({ from, to, width }: { from: number; to: number; width: number }) {
  const parts = width < 420 ? 2 : 4
  return (
    <>
      {Array.from({ length: parts + 1 }, (_, index) => {
        const x = (index / parts) * width
        const anchor = index === 0 ? 'start' : index === parts ? 'end' : 'middle'
        return (
          <text key={index} x={x} y={HEIGHT - 4} text-anchor={anchor}>
            {index === parts ? 'now' : agoText((to - from) * (1 - index / parts))}
          </text>
        )
      })}
    </>
  )
}

const agoText = (ms: number): string => (ms < 1000 ? 'Now' : `${lengthText(ms)} ago`)

/** Names of the colours and shapes, and how many machines each has. */
function Legend({ counts }: { counts: Readonly<Record<Look, number>> }) {
  return (
    <ul class="legend" aria-label="Legend">
      {STACKED_LOOKS.map((look) => (
        <li key={look} title={LOOK_WORDS[look].states} class={counts[look] === 0 ? 'none' : ''}>
          <Mark look={look} /> {LOOK_WORDS[look].name} <strong>{counts[look]}</strong>
        </li>
      ))}
      <li title="a corner of this colour marks a machine that a fault struck">
        <svg class="mark struck-mark" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
          <path d="M3 3H13V13z" />
        </svg>{' '}
        struck by a fault
      </li>
    </ul>
  )
}

/** Words for the picture. */
function summarize(
  points: readonly ActivityPoint[],
  { most, peak, from, to }: ReturnType<typeof drawActivity>,
): string {
  const last = countsByLook(points.at(-1)?.states ?? {})
  const now = STACKED_LOOKS.filter((look) => last[look] > 0).map((look) => `${last[look]} ${LOOK_WORDS[look].name}`)
  return `States of ${most} machines over ${lengthText(to - from)}; now ${now.join(', ') || 'none'}; at most ${rateText(peak)} exchanges a second`
}
