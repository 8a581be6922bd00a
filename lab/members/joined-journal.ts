import { errorChain, defined, seconds, onAbort, sharedAbort, systemClock } from '../../base/runtime/index.js'
import type { LabClient, LabReport, JournalEntry, JournalPage, MissingProcess } from '../../control/index.js'
import type { MemberDatabase, MemberRow } from '../../ironic-mock/index.js'
import { queryFrom } from '../control/journal-handlers.js'
import type { Journal } from '../journal/journal.js'
import { askMember } from './ask-member.js'
import { cursorText, readCursor, type EntryCursor } from './entry-cursor.js'
import { mergeEntries, type ProcessEntries } from './merge-entries.js'

export interface JoinedJournalParts {
  readonly shared: MemberDatabase
  /** The journal of this process. */
  readonly journal: Journal
  readonly secret: string
}

/** Conditions of a query, as they came; checked by the schemas of their operation. */
export type EntryConditions = Readonly<Record<string, string>>

/** How many entries are wanted: from a place on, or the last ones. */
type WantedEntries = { readonly limit: number } | { readonly last: number }

type JournalParams = NonNullable<Parameters<LabClient['journal']>[0]>

/** A process that brings its entries slowly is missing after this. */
const DOCUMENT_TIMEOUT = seconds(10)

/** Entries that are asked of each process at once where all are wanted. */
const PAGE_ENTRIES = 1000

/** The part of one process in a page. */
interface AskedEntries extends ProcessEntries {
  readonly isMore: boolean
}

/** The journals of all processes, joined when they are read: each process keeps its own, which ends with it. */
export class JoinedJournal {
  readonly #parts: JoinedJournalParts
  readonly #ending = sharedAbort()

  constructor(parts: JoinedJournalParts) {
    this.#parts = parts
  }

  get own(): { readonly journal: Journal; readonly process: string; readonly stream: number } {
    const { shared, journal } = this.#parts
    return { journal, process: shared.self.host, stream: shared.others.session.stream }
  }

  /** The other processes that are alive, or have ended without a word. */
  get others(): { readonly row: MemberRow; readonly isAlive: boolean }[] {
    const { members } = this.#parts.shared
    const { stream } = this.own
    return (members?.members ?? [])
      .filter((row) => row.stream !== stream && row.isOnline)
      .map((row) => ({ row, isAlive: members!.isAlive(row) }))
  }

  /**
   * A page from a place on, or the last entries.
   *
   * @param skipped names of processes that are not asked: they have not answered before
   */
  async page(
    conditions: EntryConditions,
    start: EntryCursor,
    wanted: WantedEntries,
    skipped: ReadonlySet<string> = new Set(),
  ): Promise<Omit<JournalPage, 'next'> & { readonly isMore: boolean }> {
    const { lists, missing } = await this.#askAll(conditions, start, wanted, skipped)
    const merged = mergeEntries(lists, start)
    const entries = 'last' in wanted ? merged.slice(-wanted.last) : merged.slice(0, wanted.limit)
    const isMore = 'limit' in wanted && (merged.length > entries.length || lists.some((list) => list.isMore))
    return { entries: wantsNone(wanted) ? [] : entries, isMore, ...defined({ missing: missingOrNone(missing) }) }
  }

  /** All entries from a place on. */
  async readAll(
    conditions: EntryConditions,
    start: EntryCursor,
  ): Promise<{ entries: JournalEntry[]; missing: MissingProcess[] }> {
    const entries: JournalEntry[] = []
    const missing = new Map<string, MissingProcess>()
    for (let from = start; ;) {
      const page = await this.page(conditions, from, { limit: PAGE_ENTRIES }, new Set(missing.keys()))
      entries.push(...page.entries)
      for (const each of page.missing ?? []) missing.set(each.process, each)
      const last = page.entries.at(-1)
      if (!page.isMore || !last) return { entries, missing: [...missing.values()] }
      from = readCursor(last.cursor ?? '0', 'cursor')
    }
  }

  /** The place behind all that is there now. */
  async end(): Promise<string> {
    const cursor = new Map([[this.own.stream, this.own.journal.last]])
    const found = await Promise.all(
      this.#living.map(async (row) => {
        const index = await this.index(row).catch(() => undefined)
        return [row.stream, index?.journal.last] as const
      }),
    )
    for (const [stream, last] of found) if (last !== undefined) cursor.set(stream, last)
    return cursorText(cursor)
  }

  /** Counts of another process. */
  index(row: MemberRow): Promise<LabReport> {
    return this.#document(row, (client) => client.index())
  }

  /** Another process, for a stream. @throws Error for one that has no control API */
  streamOf(row: MemberRow, signal: AbortSignal): LabClient {
    return this.#client(row, signal, true)
  }

  /** Ends the questions that are under way. */
  close(): void {
    this.#ending.abort(new Error('the lab has ended'))
  }

  async #document<T>(row: MemberRow, ask: (client: LabClient) => Promise<T>): Promise<T> {
    const late = new AbortController()
    using _ = onAbort(this.#ending.signal, (reason) => late.abort(reason))
    using _timer = systemClock().timer(
      DOCUMENT_TIMEOUT,
      () => late.abort(new Error(`its answer was not whole after ${DOCUMENT_TIMEOUT / 1000} s`)),
      { weak: true },
    )
    return await ask(this.#client(row, late.signal, false))
  }

  #client({ control, stream }: MemberRow, signal: AbortSignal, isStream: boolean): LabClient {
    if (!control) throw new Error('it has no control API')
    return askMember({ control, stream }, this.#parts.secret, signal, isStream)
  }

  get #living(): MemberRow[] {
    return this.others.flatMap(({ row, isAlive }) => (isAlive && row.control ? [row] : []))
  }

  async #askAll(
    conditions: EntryConditions,
    start: EntryCursor,
    wanted: WantedEntries,
    skipped: ReadonlySet<string>,
  ): Promise<{ lists: AskedEntries[]; missing: MissingProcess[] }> {
    const missing: MissingProcess[] = []
    const lists = await Promise.all(
      this.others.map(async ({ row, isAlive }) => {
        if (!isAlive) {
          missing.push({ process: row.host, why: 'it has ended, and its journal with it' })
          return []
        }
        if (skipped.has(row.host)) return []
        try {
          return [await this.#askOne(row, conditions, start, wanted)]
        } catch (error) {
          missing.push({ process: row.host, why: errorChain(error).join(': ') })
          return []
        }
      }),
    )
    return { lists: [this.#ownEntries(conditions, start, wanted), ...lists.flat()], missing }
  }

  #ownEntries(conditions: EntryConditions, start: EntryCursor, wanted: WantedEntries): AskedEntries {
    const { journal, process, stream } = this.own
    const query = { ...queryFrom(conditions), ...defined({ after: start.get(stream) }) }
    const all = 'last' in wanted ? journal.entries(query) : journal.entries(query, wanted.limit)
    const entries = 'last' in wanted ? all.slice(-wanted.last) : all
    return { process, stream, entries, isMore: 'limit' in wanted && entries.length === wanted.limit }
  }

  async #askOne(
    row: MemberRow,
    conditions: EntryConditions,
    start: EntryCursor,
    wanted: WantedEntries,
  ): Promise<AskedEntries> {
    const after = start.get(row.stream)
    const params = { ...conditions, ...defined({ after }), ...wanted } as JournalParams
    const { entries, next } = await this.#document(row, (client) => client.journal(params))
    return { process: row.host, stream: row.stream, entries, isMore: next !== null }
  }
}

const wantsNone = (wanted: WantedEntries): boolean => 'last' in wanted && wanted.last === 0

const missingOrNone = (missing: MissingProcess[]): MissingProcess[] | undefined =>
  missing.length === 0 ? undefined : missing
