import { seconds } from '../../base/runtime/index.js'
import type { JournalEntry } from '../../control/index.js'
import { cursorText, type EntryCursor } from './entry-cursor.js'

/** Entries of one process, in its order. */
export interface ProcessEntries {
  readonly process: string
  /** Number of its stream. */
  readonly stream: number
  readonly entries: readonly JournalEntry[]
}

/** Clocks of hosts differ by less. A larger revision that is older by more is of an earlier node with the same uuid. */
const CLOCK_DIFFERENCE = seconds(5)

/**
 * Joins the entries of several processes: in the order of each, states of a node in the order of its commits, and else by
 * the time on the walls of their hosts. Each gets the cursor behind it.
 *
 * @param start place before the first entries
 */
export function mergeEntries(lists: readonly ProcessEntries[], start: EntryCursor): JournalEntry[] {
  const order = new CommitOrder(lists)
  // Entries of the same moment are in the same order for readers at any process.
  const heads = lists.toSorted((a, b) => a.stream - b.stream).map((list) => ({ ...list, at: 0 }))
  const cursor = new Map(start)
  const merged: JournalEntry[] = []
  for (;;) {
    const left = heads.filter(({ entries, at }) => at < entries.length)
    if (left.length === 0) return merged
    const free = left.filter(({ entries, at }) => order.isNext(entries[at]!))
    const first = earliest(free.length > 0 ? free : left)
    const entry = first.entries[first.at++]!
    order.passed(entry)
    cursor.set(first.stream, entry.id)
    merged.push({ ...entry, process: first.process, cursor: cursorText(cursor) })
  }
}

interface EntryHeadOfList extends ProcessEntries {
  at: number
}

const earliest = (heads: readonly EntryHeadOfList[]): EntryHeadOfList =>
  heads.reduce((best, head) => (wallTimeOf(head) < wallTimeOf(best) ? head : best))

const wallTimeOf = ({ entries, at }: EntryHeadOfList): string => entries[at]!.wallTime

/**
 * Which states of nodes come before which. A process hears of its own commit later than of another's that followed it,
 * so that times alone do not tell.
 */
class CommitOrder {
  /** States of each node that are still to come. */
  readonly #waiting = new Map<string, { revision: number; at: number }[]>()

  constructor(lists: readonly ProcessEntries[]) {
    for (const { entries } of lists)
      for (const entry of entries) {
        const place = placeOf(entry)
        if (!place) continue
        const { node, revision, at } = place
        const known = this.#waiting.get(node)
        if (known) known.push({ revision, at })
        else this.#waiting.set(node, [{ revision, at }])
      }
  }

  isNext(entry: JournalEntry): boolean {
    const place = placeOf(entry)
    if (!place) return true
    const before = this.#waiting.get(place.node)!
    return !before.some(({ revision, at }) => revision < place.revision && at < place.at + CLOCK_DIFFERENCE)
  }

  passed(entry: JournalEntry): void {
    const place = placeOf(entry)
    if (!place) return
    const waiting = this.#waiting.get(place.node)!
    waiting.splice(
      waiting.findIndex(({ revision, at }) => revision === place.revision && at === place.at),
      1,
    )
  }
}

function placeOf(entry: JournalEntry): { node: string; revision: number; at: number } | undefined {
  if (entry.kind !== 'state' || entry.node === null || typeof entry.revision !== 'number') return undefined
  return { node: entry.node, revision: entry.revision, at: Date.parse(entry.wallTime) }
}
