import { useEffect, useState } from 'preact/hooks'
import { go, route } from '../parts/navigation.js'
import { takeKeys } from '../parts/keys.js'
import { lab, link, sentenceOf } from '../state/connection.js'
import { isCall, PARTIES, selectedCalls, withMore, type Call, type CallFilter } from '../state/exchanges.js'
import { atMostEvery } from '../browser.js'
import { ExchangeDetails } from './exchanges-details.js'
import { SequenceDiagram } from './exchanges-sequence.js'
import { ExchangeTable } from './exchanges-table.js'

/** Calls that are read at the beginning. */
const FIRST = 500
/** Time between two drawings while calls come. */
const SOON = 200
/** Rows of the table, and arrows of the diagram. */
const [MOST_ROWS, MOST_ARROWS] = [300, 80]

/** The calls between clients, Ironic, agents and BMCs, as they come. */
export function ExchangesView() {
  const { query } = route.value
  const filter: CallFilter = {
    ...{ node: query['node'] ?? '', party: query['party'] ?? '', route: query['route'] ?? '' },
    ...{ status: query['status'] ?? '', isWithoutReads: query['reads'] !== 'all' },
  }
  const isDiagram = query['as'] === 'diagram'
  const [calls, setCalls] = useState<readonly Call[]>([])
  const [problem, setProblem] = useState<string | null>(null)
  const isLive = link.value.kind === 'live'
  useEffect(() => {
    if (!isLive) return undefined
    const controller = new AbortController()
    void follow(filter.node, controller.signal, setCalls, setProblem)
    return () => controller.abort()
  }, [filter.node, isLive])
  const shown = selectedCalls(calls, filter)
  const picked = shown.find(({ id }) => String(id) === query['call']) ?? null
  const change = (more: Record<string, string>): void =>
    go({ view: 'exchanges', query: { ...query, ...more } }, { replace: true })
  const pick = (id: number | null): void => change({ call: id === null ? '' : String(id) })
  useEffect(() => {
    const step = (by: number) => () => {
      const newest = [...shown].reverse()
      const at = newest.findIndex(({ id }) => id === picked?.id)
      const next = newest[at < 0 ? 0 : at + by]
      if (next) pick(next.id)
    }
    return takeKeys([
      { key: 'j', does: 'next call in the list', act: step(1) },
      { key: 'k', does: 'call before in the list', act: step(-1) },
      { key: 'd', does: 'list or diagram', act: () => change({ as: isDiagram ? '' : 'diagram' }) },
      { key: 'x', does: 'close the call', act: () => pick(null) },
    ])
  }, [shown, picked?.id, isDiagram])
  return (
    <>
      <div class="tools">
        <h1>Exchanges</h1>
        <span class="quiet" role="status">
          {shown.length} of {calls.length} calls
        </span>
        <span class="space" />
        <div class="choice" role="group" aria-label="Shown as">
          <button aria-pressed={!isDiagram} onClick={() => change({ as: '' })}>
            List
          </button>
          <button aria-pressed={isDiagram} onClick={() => change({ as: 'diagram' })}>
            Diagram
          </button>
        </div>
      </div>
      <div class="tools exchange-filter">
        <Text label="Node" value={filter.node} onChange={(node) => change({ node })} />
        <Text label="Route" value={filter.route} onChange={(text) => change({ route: text })} />
        <label>
          Party{' '}
          <select value={filter.party} onChange={({ currentTarget }) => change({ party: currentTarget.value })}>
            <option value="">any</option>
            {PARTIES.map((party) => (
              <option key={party} value={party}>
                {party}
              </option>
            ))}
          </select>
        </label>
        <label>
          Status{' '}
          <select value={filter.status} onChange={({ currentTarget }) => change({ status: currentTarget.value })}>
            <option value="">any</option>
            <option value="failed">failed</option>
            {['2', '4', '5'].map((first) => (
              <option key={first} value={first}>
                {first}xx
              </option>
            ))}
          </select>
        </label>
        <label>
          <input
            type="checkbox"
            checked={!filter.isWithoutReads}
            onChange={({ currentTarget }) => change({ reads: currentTarget.checked ? 'all' : '' })}
          />{' '}
          reads of clients
        </label>
      </div>
      {problem !== null && <p class="error-text">{problem}</p>}
      {shown.length === 0 && <p class="empty">No call fits. Calls appear as they are made.</p>}
      {picked && <ExchangeDetails call={picked} close={() => pick(null)} />}
      {shown.length > 0 &&
        (isDiagram ? (
          <SequenceDiagram calls={shown.slice(-MOST_ARROWS)} picked={picked?.id ?? null} pick={pick} />
        ) : (
          <ExchangeTable calls={shown.slice(-MOST_ROWS).reverse()} picked={picked?.id ?? null} pick={pick} />
        ))}
    </>
  )
}

function Text({ label, value, onChange }: { label: string; value: string; onChange: (text: string) => void }) {
  return (
    <label>
      {label}{' '}
      <input type="search" value={value} onInput={({ currentTarget }) => onChange(currentTarget.value.trim())} />
    </label>
  )
}

/** Reads the last calls, and follows those that come. */
async function follow(
  node: string,
  signal: AbortSignal,
  show: (calls: readonly Call[]) => void,
  fail: (problem: string | null) => void,
): Promise<void> {
  const query = { kind: ['exchange', 'bmc'] as const, ...(node === '' ? {} : { node }) }
  try {
    const { journal } = await lab(signal).index()
    const { entries } = await lab(signal).journal({ ...query, last: FIRST })
    let calls: readonly Call[] = entries.filter(isCall)
    let waiting: Call[] = []
    show(calls)
    fail(null)
    const draw = atMostEvery(SOON, () => {
      calls = withMore(calls, waiting)
      waiting = []
      if (!signal.aborted) show(calls)
    })
    const last = Math.max(journal.last, entries.at(-1)?.id ?? 0)
    for await (const entry of lab(signal).events({ ...query, after: last })) {
      if (isCall(entry)) waiting.push(entry)
      if (waiting.length > FIRST) waiting = waiting.slice(-FIRST)
      draw()
    }
  } catch (error) {
    if (!signal.aborted) fail(sentenceOf(error))
  }
}
