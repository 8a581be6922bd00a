import { useRef } from 'preact/hooks'
import { useWidth } from '../parts/width.js'
import { callKey, cutText, sequenceOf, sequencePlaces, type Arrow, type ShownExchange } from '../state/exchanges.js'

const TOP = 34
const STEP = 34
const TIME_GAP = 12
/** Width of a letter of a label. */
const LETTER = 7.2

interface SequenceProps {
  calls: readonly ShownExchange[]
  /** Keys of calls, as `callKey` makes them. */
  picked: string | null
  pick: (key: string) => void
}

/** Calls as arrows between those who take part, the oldest first. */
export function SequenceDiagram({ calls, picked, pick }: SequenceProps) {
  const box = useRef<HTMLDivElement>(null)
  const room = useWidth(box)
  const { parties, arrows } = sequenceOf(calls)
  const places = sequencePlaces(room, parties.length)
  const { width, left, column } = places
  const height = TOP + arrows.length * STEP + 16
  return (
    <div ref={box} class="sequence" tabIndex={0} role="region" aria-label="Sequence diagram">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        {parties.map((party, index) => {
          const x = left + index * column
          return (
            <g key={party}>
              <line class="life" x1={x} x2={x} y1={TOP - 8} y2={height} />
              <text class="party" x={x} y={16}>
                {party}
              </text>
            </g>
          )
        })}
        {arrows.map((arrow, index) => (
          <ArrowShape
            key={callKey(arrow.call)}
            arrow={arrow}
            y={TOP + index * STEP + 20}
            places={places}
            parties={parties}
            isPicked={callKey(arrow.call) === picked}
            pick={() => pick(callKey(arrow.call))}
          />
        ))}
      </svg>
    </div>
  )
}

interface ArrowProps {
  arrow: Arrow
  y: number
  places: ReturnType<typeof sequencePlaces>
  parties: readonly string[]
  isPicked: boolean
  pick: () => void
}

/** A call as a button. Its name begins with what is seen of it, so the time stands beside it. */
function ArrowShape({ arrow, y, places, parties, isPicked, pick }: ArrowProps) {
  const { call, from, to, isBad, label, answer } = arrow
  const { width, left, column, isNarrow } = places
  const x = (party: number): number => left + party * column
  const isBack = to < from
  const end = x(to) + (isBack ? 6 : -6)
  const textLeft = Math.min(x(from), x(to)) + 8
  const words = `${cutText(label, (width - textLeft) / LETTER - answer.length - 3)} → ${answer}`
  const time = call.labTime.slice(11, isNarrow ? 19 : 23)
  return (
    <g>
      <text class="time" x={4} y={y + 4}>
        {time}
      </text>
      <g
        class={`arrow${isBad ? ' bad' : ''}${isPicked ? ' picked' : ''}`}
        role="button"
        tabIndex={0}
        aria-label={`${words}, ${parties[from]} to ${parties[to]}, at ${time}`}
        onClick={pick}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' && event.key !== ' ') return
          event.preventDefault()
          pick()
        }}
      >
        <rect x={left - TIME_GAP} y={y - 18} width={width - left + TIME_GAP} height={STEP - 4} />
        <line x1={x(from)} x2={end} y1={y} y2={y} />
        <path d={isBack ? `M${end} ${y}l7 -4v8z` : `M${end} ${y}l-7 -4v8z`} />
        <text class="label" x={textLeft} y={y - 5}>
          {words}
        </text>
      </g>
    </g>
  )
}
