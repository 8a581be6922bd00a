import { useLayoutEffect, useRef } from 'preact/hooks'
import { isWide } from '../browser.js'
import { callText, hasFailed, partiesOf, statusText, type ShownExchange } from '../state/exchanges.js'

/** Calls as a table, the newest first. */
export function ExchangeTable(props: {
  calls: readonly ShownExchange[]
  picked: number | null
  pick: (id: number) => void
}) {
  const { calls, picked, pick } = props
  const row = useRef<HTMLTableRowElement>(null)
  // The details stand beside the table where there is room, and above it elsewhere: then they are what is looked at.
  useLayoutEffect(() => {
    if (isWide()) row.current?.scrollIntoView({ block: 'nearest' })
  }, [picked])
  return (
    <div class="exchange-box" tabIndex={0} role="region" aria-label="Calls">
      <table class="exchanges">
        <thead>
          <tr>
            <th scope="col">Lab time</th>
            <th scope="col">Node</th>
            <th scope="col">Between</th>
            <th scope="col">Call</th>
            <th scope="col">Answer</th>
          </tr>
        </thead>
        <tbody>
          {calls.map((call) => {
            const { id, labTime, name, machine, fault } = call
            const [from, to] = partiesOf(call)
            const miss = call.kind === 'exchange' ? call.nearMiss : null
            return (
              <tr key={id} ref={id === picked ? row : null} class={id === picked ? 'picked-row' : ''}>
                <td class="mono">{labTime.slice(11, 23)}</td>
                <td>{name ?? machine ?? ''}</td>
                <td>
                  {from} → {to}
                </td>
                <td>
                  <button class="plain mono" aria-pressed={id === picked} onClick={() => pick(id)}>
                    {callText(call)}
                  </button>
                  {miss && (
                    <p class="near-miss">
                      Nearest is <span class="mono">{miss.nearest}</span>: {miss.why}.
                    </p>
                  )}
                </td>
                <td>
                  <span class={hasFailed(call) ? 'error-text' : ''}>{statusText(call)}</span>
                  {fault !== null && <span class="tag">{fault}</span>}
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
