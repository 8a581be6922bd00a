import { useEffect, useRef, useState } from 'preact/hooks'
import { lab } from '../state/connection.js'
import { isCall, selectedCalls, type Call, type CallFilter } from '../state/exchanges.js'

/** Entries that are read at once, and how often for one search: a filter may fit one call in thousands. */
const PAGE = 500
const PAGES = 20
/** A filter that leaves fewer calls is searched for among earlier ones. */
const FEW = 20
/** Earlier calls that the page keeps. */
const MOST = 1000

export interface Subject {
  readonly node?: string
  readonly machine?: string
}

/** Calls from before those that the page follows, by a filter. */
export function useEarlier(subject: Subject, filter: CallFilter, first: Call | undefined, count: number) {
  const [older, setOlder] = useState<readonly Call[]>([])
  const [isBusy, setBusy] = useState(false)
  const [isAll, setAll] = useState(false)
  const searching = useRef<AbortController | null>(null)
  /** The earliest entry that was read. */
  const earliest = useRef<Call | undefined>(undefined)
  const key = JSON.stringify([subject, filter])
  const hasFirst = first !== undefined
  const search = async (known: readonly Call[]): Promise<void> => {
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
      setOlder([...found, ...known].slice(-MOST))
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
    if (hasFirst && count < FEW) void search([])
    return () => {
      searching.current?.abort()
      searching.current = null
    }
  }, [key, hasFirst])
  return { older, isBusy, isAll, more: () => void search(older) }
}

/** Goes back through the journal until enough calls fit. `end` is the earliest entry that was read; null at the beginning. */
async function callsBefore(
  subject: Subject,
  filter: CallFilter,
  before: Call,
  signal: AbortSignal,
): Promise<{ found: Call[]; end: Call | null }> {
  let found: Call[] = []
  let end = before
  for (let page = 0; page < PAGES && found.length < FEW; page++) {
    // Entries of the same millisecond are read again, and told apart by their ids.
    const until = new Date(Date.parse(end.labTime) + 1).toISOString()
    const { entries } = await lab(signal).journal({ ...subject, kind: ['exchange', 'bmc'], until, last: PAGE })
    const earlier = entries.filter(isCall).filter(({ id }) => id < end.id)
    if (earlier.length === 0) return { found, end: null }
    found = [...selectedCalls(earlier, filter), ...found]
    end = earlier[0]!
  }
  return { found, end }
}
