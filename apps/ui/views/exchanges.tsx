import { useEffect, useState } from 'preact/hooks'
import { atMostEvery, pauseFor } from '../browser.js'
import { goToRoute, currentRoute } from '../parts/navigation.js'
import { useKeys, type Key } from '../parts/page-keys.js'
import { makeLabClient, connectionState, sentenceOf } from '../state/page-connection.js'
import { isFleet, rows } from '../state/lab-state.js'
import {
  callKey,
  isCall,
  PARTIES,
  selectedCalls,
  withMore,
  type ShownExchange,
  type CallFilter,
} from '../state/exchanges.js'
import { ExchangeDetails } from './exchanges-details.js'
import { useEarlier, type ExchangeSubject } from './exchanges-earlier.js'
import { SequenceDiagram } from './exchanges-sequence.js'
import { ExchangeTable } from './exchanges-table.js'

/** Calls that are read at the beginning. */
const FIRST_READ_CALLS = 500
/** Time between two drawings while calls come. */
const REDRAW_DELAY = 200
/** Pause before a stream that ended is opened again. */
const EXCHANGES_RETRY_DELAY = 1000
/** Rows of the table, and arrows of the diagram. */
const MAX_EXCHANGE_ROWS = 300
const MAX_DIAGRAM_ARROWS = 80

/** The calls between clients, Ironic, agents and BMCs, as they come. */
export function ExchangesView() {
  const { query } = currentRoute.value
  const filter = callFilterOf(query)
  const isDiagram = query['as'] === 'diagram'
  const isOfMachine = isFleet.value || rows.get(filter.node)?.isNode === false
  const subject = filter.node === '' ? {} : isOfMachine ? { machine: filter.node } : { node: filter.node }
  const { calls, problem } = useCalls(filter.node, subject)
  // A list that moves cannot be read.
  const [held, setHeld] = useState<readonly ShownExchange[] | null>(null)
  const listed = held ?? calls
  const following = selectedCalls(listed, filter)
  const { older, isBusy, isAll, more } = useEarlier(subject, filter, listed[0], following.length)
  const shown = older.length > 0 ? [...older, ...following] : following
  const hold = (): void => setHeld(held ? null : calls)
  const picked = shown.find((call) => callKey(call) === query['call']) ?? null
  const change = (more: Record<string, string>): void =>
    goToRoute({ view: 'exchanges', query: { ...query, ...more } }, { replace: true })
  const pick = (key: string | null): void => change({ call: key ?? '' })
  const pickedKey = picked && callKey(picked)
  const draw = (as: ExchangeForm): void => change({ as: as === 'diagram' ? as : '' })
  useKeys(
    () => exchangeKeys({ shown, picked, pick, hold, switchForm: () => draw(isDiagram ? 'list' : 'diagram') }),
    [shown, pickedKey, isDiagram, held],
  )
  return (
    <>
      <div class="tools">
        <h1>Exchanges</h1>
        <span class="quiet" role="status">
          {shown.length} of {listed.length + older.length} calls{held ? ', held' : ''}
        </span>
        <span class="space" />
        <button aria-pressed={held !== null} title="pauses the list while you read (h)" onClick={hold}>
          Hold
        </button>
        <FormChoice form={isDiagram ? 'diagram' : 'list'} choose={draw} />
      </div>
      <CallFilterInputs filter={filter} change={change} />
      {problem !== null && <p class="error-text">{problem}</p>}
      {shown.length === 0 && (
        <p class="empty">{isBusy ? 'Loading earlier calls …' : 'No matching calls. New calls appear live.'}</p>
      )}
      <div class={picked ? 'beside' : ''}>
        {picked && <ExchangeDetails call={picked} close={() => pick(null)} />}
        {shown.length > 0 &&
          (isDiagram ? (
            <SequenceDiagram calls={shown.slice(-MAX_DIAGRAM_ARROWS)} picked={pickedKey} pick={pick} />
          ) : (
            <ExchangeTable calls={rowsOf(shown, older.length)} picked={pickedKey} pick={pick} />
          ))}
      </div>
      {listed.length > 0 && !isAll && (
        <button disabled={isBusy} onClick={more}>
          {isBusy ? 'Loading …' : 'Earlier calls'}
        </button>
      )}
    </>
  )
}

type ExchangeForm = 'list' | 'diagram'

const callFilterOf = (query: Readonly<Record<string, string>>): CallFilter => ({
  node: query['node'] ?? '',
  party: query['party'] ?? '',
  route: query['route'] ?? '',
  status: query['status'] ?? '',
  isWithoutReads: query['reads'] !== 'all',
})

/** The last calls of a node, a machine or all, as they come while the page is connected. */
function useCalls(node: string, subject: ExchangeSubject): { calls: readonly ShownExchange[]; problem: string | null } {
  const [calls, setCalls] = useState<readonly ShownExchange[]>([])
  const [problem, setProblem] = useState<string | null>(null)
  const isLive = connectionState.value.kind === 'live'
  useEffect(() => {
    if (!isLive) return undefined
    const controller = new AbortController()
    void followExchanges(subject, controller.signal, setCalls, setProblem)
    return () => controller.abort()
  }, [node, isLive])
  return { calls, problem }
}

interface ExchangeActions {
  shown: readonly ShownExchange[]
  picked: ShownExchange | null
  pick: (key: string | null) => void
  /** Holds the list, or lets it go on. */
  hold: () => void
  /** From the list to the diagram, or back. */
  switchForm: () => void
}

function exchangeKeys({ shown, picked, pick, hold, switchForm }: ExchangeActions): readonly Key[] {
  const step = (by: number) => () => {
    const newest = [...shown].reverse()
    const at = newest.findIndex((call) => picked !== null && callKey(call) === callKey(picked))
    const next = newest[at < 0 ? 0 : at + by]
    if (next) pick(callKey(next))
  }
  return [
    { key: 'j', does: 'next call in the list', act: step(1) },
    { key: 'k', does: 'previous call in the list', act: step(-1) },
    { key: 'd', does: 'list or diagram', act: switchForm },
    { key: 'x', does: 'close the call', act: () => pick(null) },
    { key: 'h', does: 'pause the list, or resume it', act: hold },
  ]
}

function FormChoice({ form, choose }: { form: ExchangeForm; choose: (form: ExchangeForm) => void }) {
  return (
    <div class="choice" role="group" aria-label="Shown as">
      <button aria-pressed={form === 'list'} onClick={() => choose('list')}>
        List
      </button>
      <button aria-pressed={form === 'diagram'} onClick={() => choose('diagram')}>
        Diagram
      </button>
    </div>
  )
}

function CallFilterInputs({ filter, change }: { filter: CallFilter; change: (query: Record<string, string>) => void }) {
  return (
    <div class="tools exchange-filter">
      <Text label={isFleet.value ? 'Machine' : 'Node'} value={filter.node} onChange={(node) => change({ node })} />
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
  )
}

/** The newest first. Earlier ones that were asked for are all there. */
const rowsOf = (shown: readonly ShownExchange[], asked: number): ShownExchange[] =>
  shown.slice(-MAX_EXCHANGE_ROWS - asked).reverse()

function Text({ label, value, onChange }: { label: string; value: string; onChange: (text: string) => void }) {
  return (
    <label>
      {label}{' '}
      <input type="search" value={value} onInput={({ currentTarget }) => onChange(currentTarget.value.trim())} />
    </label>
  )
}

/** Reads the last calls, and follows those that come. */
async function followExchanges(
  subject: ExchangeSubject,
  signal: AbortSignal,
  show: (calls: readonly ShownExchange[]) => void,
  fail: (problem: string | null) => void,
): Promise<void> {
  const query = { kind: ['exchange', 'bmc'] as const, ...subject }
  while (!signal.aborted) {
    try {
      const { journal } = await makeLabClient(signal).index()
      const { entries } = await makeLabClient(signal).journal({ ...query, last: FIRST_READ_CALLS })
      let calls: readonly ShownExchange[] = entries.filter(isCall)
      let waiting: ShownExchange[] = []
      show(calls)
      fail(null)
      const draw = atMostEvery(REDRAW_DELAY, () => {
        calls = withMore(calls, waiting)
        waiting = []
        if (!signal.aborted) show(calls)
      })
      const last = entries.at(-1)
      const after = last?.cursor ?? journal.cursor ?? Math.max(journal.last, last?.id ?? 0)
      for await (const entry of makeLabClient(signal).events({ ...query, after })) {
        if (isCall(entry)) waiting.push(entry)
        if (waiting.length > FIRST_READ_CALLS) waiting = waiting.slice(-FIRST_READ_CALLS)
        draw()
      }
    } catch (error) {
      if (!signal.aborted) fail(sentenceOf(error))
    }
    await pauseFor(EXCHANGES_RETRY_DELAY, signal)
  }
}
