import { useLayoutEffect, useRef } from 'preact/hooks'
import { isWide } from '../browser.js'
import { callKey, callText, hasFailed, partiesOf, statusText, type ShownExchange } from '../state/exchanges.js'

/** Calls as a table, the newest first. */
export function ExchangeTable(props: {
  calls: readonly ShownExchange[]
  /** Keys of calls, as `callKey` makes them. */
  picked: string | null
  pick: (key: string) => void
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
            const { labTime, name, machine, fault } = call
            const key = callKey(call)
            const [from, to] = partiesOf(call)
            const miss = call.kind === 'exchange' ? call.nearMiss : null
            return (
              <tr key={key} ref={key === picked ? row : null} class={key === picked ? 'picked-row' : ''}>
                <td class="mono">{labTime.slice(11, 23)}</td>
                <td>{name ?? machine ?? ''}</td>
                <td>
                  {from} → {to}
                </td>
                <td>
                  <button class="plain mono" aria-pressed={key === picked} onClick={() => pick(key)}>
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
