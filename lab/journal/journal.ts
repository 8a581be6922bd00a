import {
  beginsWith,
  routeOf,
  type ExchangeEntry,
  type ExchangeMessages,
  type JournalEntry,
  type NewEntry,
  type NewExchange,
  type JournalQuery,
  type LabJournal,
} from '../../control/index.js'
import { ActivityCounter } from './activity.js'
import { FlowMemory } from './flow-memory.js'
import { ReaderSchedule } from './reader-schedule.js'

export interface JournalOptions {
  /** Lab time. */
  now: () => number
  wallNow: () => number
  /** Entries that are kept; 0 for no journal. Default 10,000. */
  capacity?: number
  /** Bytes of bodies that are kept together. Default 64 MiB. */
  bytes?: number
}

interface JournalSlot {
  readonly id: number
  readonly at: number
  readonly wall: number
  readonly bytes: number
  readonly noted: NewEntry | NewExchange
  readonly messages: (() => ExchangeMessages) | undefined
  made: JournalEntry | undefined
  text: string | undefined
}

/** Number of entries that a reader searches at once. */
const MAX_SEARCHED_ENTRIES = 4096

/** Entries that a reader gets at once. */
const MAX_READ_ENTRIES = 64

/** Bytes of bodies after which a reader gets no more at once: what it gets waits in memory until it has taken it. */
const MAX_READ_BYTES = 128 * 1024
/** Findings that are kept for other readers: more are of readers who all ask for something else. */
const MAX_FINDINGS = 64

interface JournalMatches {
  /** The entry after the last one that was looked at. */
  readonly end: number
  readonly entries: readonly JournalEntry[]
}

/** The journal as a ring. */
export class Journal implements LabJournal {
  readonly #options: Required<JournalOptions>
  /** The last hour in numbers: it outlives the entries that are dropped. */
  readonly activity: ActivityCounter
  /** A ring: the entry with id `n` is at `n` modulo its length. */
  readonly #ring: (JournalSlot | undefined)[]
  #isMuted = false
  #isOnlyCounting = false
  #first = 1
  #next = 1
  #bytes = 0
  readonly #readers = new ReaderSchedule()
  readonly #memory = new FlowMemory<JournalSlot>()
  /** Entries that readers have found since the last one came, by query and place: others with the same ones find the same. */
  readonly #found = new Map<string, JournalMatches>()
  readonly #listeners = new Set<(entry: JournalEntry) => void>()

  constructor(options: JournalOptions) {
    this.#options = { capacity: 10_000, bytes: 64 * 2 ** 20, ...options }
    this.activity = new ActivityCounter(this.#options.wallNow)
    this.#ring = new Array<JournalSlot | undefined>(this.#options.capacity)
  }

  get last(): number {
    return this.#next - 1
  }

  get first(): number {
    return this.#first
  }

  /** Runs `work` without an entry: what happens is there already. */
  async muted<T>(work: () => Promise<T>): Promise<T> {
    this.#isMuted = true
    try {
      return await work()
    } finally {
      this.#isMuted = false
    }
  }

  /** Runs `work`, whose entries another process has: they count in {@link activity} alone. */
  onlyCounting(work: () => void): void {
    this.#isOnlyCounting = true
    try {
      work()
    } finally {
      this.#isOnlyCounting = false
    }
  }

  /**
   * Adds an entry.
   *
   * @param bytes of the bodies that it keeps
   * @param messages of an exchange, made when they are asked for
   */
  add(entry: Exclude<NewEntry, { kind: 'exchange' }>, bytes?: number): void
  add(entry: NewExchange, bytes: number, messages: () => ExchangeMessages): void
  add(noted: NewEntry | NewExchange, bytes = 0, messages?: () => ExchangeMessages): void {
    if (this.#isMuted || this.#options.capacity === 0) return
    const { now, wallNow, capacity } = this.#options
    if (this.#isOnlyCounting) return this.activity.note(noted, wallNow())
    const slot: JournalSlot = {
      id: this.#next++,
      at: now(),
      wall: wallNow(),
      bytes,
      noted,
      messages,
      made: undefined,
      text: undefined,
    }
    if (this.#found.size > 0) this.#found.clear()
    if (this.#next - this.#first > capacity) this.#drop()
    this.#ring[slot.id % capacity] = slot
    this.activity.note(noted, slot.wall)
    this.#bytes += bytes
    while (this.#bytes > this.#options.bytes && this.#first < slot.id) this.#drop()
    if (this.#listeners.size > 0) for (const listener of [...this.#listeners]) listener(this.#entry(slot))
    this.#readers.ring()
  }

  entries(query: JournalQuery = {}, limit = Infinity): JournalEntry[] {
    const found: JournalEntry[] = []
    const selects = selection(query)
    for (let id = Math.max(this.#first, (query.after ?? 0) + 1); id < this.#next && found.length < limit; id++) {
      const slot = this.#at(id)
      if (query.since !== undefined && slot.at < query.since) continue
      if (query.until !== undefined && slot.at >= query.until) break
      if (selects(slot.noted)) found.push(this.#entry(slot))
    }
    return found
  }

  /** Entries that are no longer there, as far as they explain the present state of a node; by its uuid, oldest first. */
  remembered(node: string): JournalEntry[] {
    return this.#memory.of(node).map((slot) => this.#entry(slot))
  }

  calls(route: string, query: Omit<JournalQuery, 'kind' | 'route'> = {}): ExchangeEntry[] {
    return this.entries({ ...query, route }) as ExchangeEntry[]
  }

  /** JSON of an entry, made once for all who read it. */
  textOf(entry: JournalEntry): string {
    const slot = entry.id >= this.#first ? this.#at(entry.id) : undefined
    return slot ? (slot.text ??= JSON.stringify(entry)) : JSON.stringify(entry)
  }

  listen(listener: (entry: JournalEntry) => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /**
   * The entries that a query selects, now and later, some at once. It reads from the ring when it is asked for more, so a
   * slow reader costs nothing; one for which entries were dropped in the meantime ends with {@link TooSlow}. Where nothing
   * happens for a while, there are none.
   *
   * @param isPatient whether the reader is behind a socket, and gets what came in the meantime together with other readers
   */
  async *follow(
    query: JournalQuery,
    signal: AbortSignal,
    { isPatient = false } = {},
  ): AsyncGenerator<readonly JournalEntry[]> {
    const { after = 0, ...conditions } = query
    const key = JSON.stringify(conditions)
    const selects = selection(query)
    let next = Math.max(1, after + 1)
    const hasMore = (): boolean => {
      if (next < this.#first || next >= this.#next) return next < this.#first
      const { entries, end } = this.#look(key, selects, next)
      if (entries.length === 0) next = end
      return entries.length > 0 || next < this.#next
    }
    using place = this.#readers.enter({ key, isPatient, hasMore }, signal)
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      if (!isFirst || next >= this.#next) await place.wait(next < this.#next)
      if (signal.aborted) return
      if (next < this.#first) throw new TooSlow(next, this.#first)
      const isNothingNew = next === this.#next
      const { entries, end } = this.#look(key, selects, next)
      next = end
      if (entries.length > 0 || isNothingNew) yield entries
    }
  }

  #look(key: string, selects: ReturnType<typeof selection>, next: number): JournalMatches {
    const place = `${next} ${key}`
    const known = this.#found.get(place)
    if (known) return known
    const entries: JournalEntry[] = []
    const until = Math.min(this.#next, next + MAX_SEARCHED_ENTRIES)
    let end = next
    for (let bytes = 0; end < until && entries.length < MAX_READ_ENTRIES && bytes < MAX_READ_BYTES; end++) {
      const slot = this.#at(end)
      if (!selects(slot.noted)) continue
      entries.push(this.#entry(slot))
      bytes += slot.bytes
    }
    const found = { end, entries }
    if (this.#found.size >= MAX_FINDINGS) this.#found.clear()
    this.#found.set(place, found)
    return found
  }

  #at(id: number): JournalSlot {
    return this.#ring[id % this.#options.capacity]!
  }

  #drop(): void {
    const index = this.#first++ % this.#options.capacity
    const slot = this.#ring[index]!
    this.#bytes -= slot.bytes
    this.#ring[index] = undefined
    this.#memory.dropped(slot)
  }

  #entry(slot: JournalSlot): JournalEntry {
    const { id, at, wall, noted, messages } = slot
    return (slot.made ??= {
      id,
      labTime: new Date(at).toISOString(),
      wallTime: new Date(wall).toISOString(),
      ...noted,
      ...messages?.(),
    } as JournalEntry)
  }
}

/** A reader is so far behind that entries it has not read are no longer there. */
export class TooSlow extends Error {
  override name = 'TooSlow'
  constructor(wanted: number, first: number) {
    super(`entry ${wanted} is no longer there; the first that is has id ${first}`)
  }
}

function selection(query: JournalQuery): (entry: NewEntry | NewExchange) => boolean {
  const { node, machine, kind, route, fault, status } = query
  const kinds = kind === undefined ? undefined : typeof kind === 'string' ? [kind] : kind
  const wanted = route === undefined ? undefined : routeOf(route)
  return (entry) => {
    if (node !== undefined && entry.node !== node && entry.name !== node) return false
    if (machine !== undefined && entry.machine !== machine) return false
    if (kinds && !kinds.includes(entry.kind)) return false
    if (fault !== undefined && entry.fault !== fault) return false
    if (status !== undefined && !(entry.kind === 'exchange' && entry.status === status)) return false
    if (!wanted) return true
    if (entry.kind !== 'exchange') return false
    if (wanted.method !== undefined && wanted.method !== entry.method) return false
    const { parts } = routeOf(entry.target.replace(/\?.*$/s, ''))
    return parts.length === wanted.parts.length && beginsWith(parts, wanted.parts)
  }
}
