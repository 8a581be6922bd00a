import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { cutText, sequenceOf, sequencePlaces, type Arrow, type ShownExchange } from '../state/exchanges.js'

const TOP = 34
const STEP = 34
const TIME_GAP = 12
/** Width of a letter of a label. */
const LETTER = 7.2

/** Calls as arrows between those who take part, the oldest first. */
export function SequenceDiagram(props: {
  calls: readonly ShownExchange[]
  picked: number | null
  pick: (id: number) => void
}) {
  const { calls, picked, pick } = props
  const box = useRef<HTMLDivElement>(null)
  const [room, setRoom] = useState(0)
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => setRoom(box.current!.clientWidth))
    observer.observe(box.current!)
    return () => observer.disconnect()
  }, [])
  const { parties, arrows } = sequenceOf(calls)
  const { width, left, column, isNarrow } = sequencePlaces(room, parties.length)
  const x = (party: number): number => left + party * column
  const height = TOP + arrows.length * STEP + 16
  const timeOf = (call: ShownExchange): string => call.labTime.slice(11, isNarrow ? 19 : 23)
  const words = ({ from, to, label, answer }: Arrow): string =>
    `${cutText(label, (width - Math.min(x(from), x(to)) - 8) / LETTER - answer.length - 3)} → ${answer}`
  return (
    <div ref={box} class="sequence" tabIndex={0} role="region" aria-label="Sequence diagram">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        {parties.map((party, index) => (
          <g key={party}>
            <line class="life" x1={x(index)} x2={x(index)} y1={TOP - 8} y2={height} />
            <text class="party" x={x(index)} y={16}>
              {party}
            </text>
          </g>
        ))}
        {arrows.map((arrow, index) => {
          const { call, from, to, isBad } = arrow
          const y = TOP + index * STEP + 20
          const isBack = to < from
          const start = x(from)
          const end = x(to) + (isBack ? 6 : -6)
          // The name of a button begins with what is seen of it, so the time stands beside it.
          return (
            <g key={call.id}>
              <text class="time" x={4} y={y + 4}>
                {timeOf(call)}
              </text>
              <g
                class={`arrow${isBad ? ' bad' : ''}${call.id === picked ? ' picked' : ''}`}
                role="button"
                tabIndex={0}
                aria-label={`${words(arrow)}, ${parties[from]} to ${parties[to]}, at ${timeOf(call)}`}
                onClick={() => pick(call.id)}
                onKeyDown={(event) => {
                  if (event.key !== 'Enter' && event.key !== ' ') return
                  event.preventDefault()
                  pick(call.id)
                }}
              >
                <rect x={left - TIME_GAP} y={y - 18} width={width - left + TIME_GAP} height={STEP - 4} />
                <line x1={start} x2={end} y1={y} y2={y} />
                <path d={isBack ? `M${end} ${y}l7 -4v8z` : `M${end} ${y}l-7 -4v8z`} />
                <text class="label" x={Math.min(x(from), x(to)) + 8} y={y - 5}>
                  {words(arrow)}
                </text>
              </g>
            </g>
          )
        })}
      </svg>
    </div>
  )
}
