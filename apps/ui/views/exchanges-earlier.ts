import { useEffect, useRef, useState } from 'preact/hooks'
import { makeLabClient } from '../state/page-connection.js'
import { isBefore, isCall, selectedCalls, type ShownExchange, type CallFilter } from '../state/exchanges.js'

/** Entries that are read at once, and how often for one search: a filter may fit one call in thousands. */
const EARLIER_PAGE_ENTRIES = 500
const MAX_EARLIER_PAGES = 20
/** A filter that leaves fewer calls is searched for among earlier ones. */
const MIN_FILTERED_CALLS = 20
/** Earlier calls that the page keeps. */
const MAX_EARLIER_CALLS = 1000

export interface ExchangeSubject {
  readonly node?: string
  readonly machine?: string
}

/** Calls from before those that the page follows, by a filter. */
export function useEarlier(
  subject: ExchangeSubject,
  filter: CallFilter,
  first: ShownExchange | undefined,
  count: number,
) {
  const [older, setOlder] = useState<readonly ShownExchange[]>([])
  const [isBusy, setBusy] = useState(false)
  const [isAll, setAll] = useState(false)
  const searching = useRef<AbortController | null>(null)
  /** The earliest entry that was read. */
  const earliest = useRef<ShownExchange | undefined>(undefined)
  const key = JSON.stringify([subject, filter])
  const hasFirst = first !== undefined
  const search = async (known: readonly ShownExchange[]): Promise<void> => {
    const before = earliest.current ?? first
    if (!before || searching.current) return
    const controller = new AbortController()
    searching.current = controller
    setBusy(true)
    try {
      const { found, end } = await callsBefore(subject, filter, before, controller.signal)
      if (controller.signal.aborted) return
      earliest.current = end ?? before
      setAll(end === null)
      setOlder([...found, ...known].slice(-MAX_EARLIER_CALLS))
    } catch {
      // The page says that the server is lost; the button is still there.
    } finally {
      if (searching.current === controller) {
        searching.current = null
        setBusy(false)
      }
    }
  }
  useEffect(() => {
    earliest.current = undefined
    setOlder([])
    setAll(false)
    if (hasFirst && count < MIN_FILTERED_CALLS) void search([])
    return () => {
      searching.current?.abort()
      searching.current = null
    }
  }, [key, hasFirst])
  return { older, isBusy, isAll, more: () => void search(older) }
}

/** Goes back through the journal until enough calls fit. `end` is the earliest entry that was read; null at the beginning. */
async function callsBefore(
  subject: ExchangeSubject,
  filter: CallFilter,
  before: ShownExchange,
  signal: AbortSignal,
): Promise<{ found: ShownExchange[]; end: ShownExchange | null }> {
  let found: ShownExchange[] = []
  let end = before
  for (let page = 0; page < MAX_EARLIER_PAGES && found.length < MIN_FILTERED_CALLS; page++) {
    // Entries of the same millisecond are read again, and told apart by their ids.
    const until = new Date(Date.parse(end.labTime) + 1).toISOString()
    const { entries } = await makeLabClient(signal).journal({
      ...subject,
      kind: ['exchange', 'bmc'],
      until,
      last: EARLIER_PAGE_ENTRIES,
    })
    const earlier = entries.filter(isCall).filter((call) => isBefore(call, end))
    if (earlier.length === 0) return { found, end: null }
    found = [...selectedCalls(earlier, filter), ...found]
    end = earlier[0]!
  }
  return { found, end }
}
