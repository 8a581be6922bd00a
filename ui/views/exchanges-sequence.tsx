import { sequenceOf, type Call } from '../state/exchanges.js'

const [COLUMN, LEFT, TOP, STEP] = [230, 90, 34, 34]

/** Calls as arrows between those who take part, the oldest first. */
export function SequenceDiagram(props: { calls: readonly Call[]; picked: number | null; pick: (id: number) => void }) {
  const { calls, picked, pick } = props
  const { parties, arrows } = sequenceOf(calls)
  const x = (party: number): number => LEFT + 40 + party * COLUMN
  const width = x(parties.length - 1) + 150
  const height = TOP + arrows.length * STEP + 16
  return (
    <div class="sequence" tabIndex={0} role="region" aria-label="Sequence diagram">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        {parties.map((party, index) => (
          <g key={party}>
            <line class="life" x1={x(index)} x2={x(index)} y1={TOP - 8} y2={height} />
            <text class="party" x={x(index)} y={16}>
              {party}
            </text>
          </g>
        ))}
        {arrows.map(({ call, from, to, label, answer, isBad }, index) => {
          const y = TOP + index * STEP + 20
          const isBack = to < from
          const [start, end] = [x(from), x(to) + (isBack ? 6 : -6)]
          const left = Math.min(x(from), x(to)) + 8
          return (
            <g
              key={call.id}
              class={`arrow${isBad ? ' bad' : ''}${call.id === picked ? ' picked' : ''}`}
              role="button"
              tabIndex={0}
              aria-label={`${call.labTime.slice(11, 23)} ${label} → ${answer}, ${parties[from]} to ${parties[to]}`}
              onClick={() => pick(call.id)}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' && event.key !== ' ') return
                event.preventDefault()
                pick(call.id)
              }}
            >
              <rect x={0} y={y - 18} width={width} height={STEP - 4} />
              <text class="time" x={4} y={y + 4}>
                {call.labTime.slice(11, 23)}
              </text>
              <line x1={start} x2={end} y1={y} y2={y} />
              <path d={isBack ? `M${end} ${y}l7 -4v8z` : `M${end} ${y}l-7 -4v8z`} />
              <text class="label" x={left} y={y - 5}>
                {label} → {answer}
              </text>
            </g>
          )
        })}
      </svg>
    </div>
  )
}
