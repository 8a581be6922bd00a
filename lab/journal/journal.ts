import { systemClock } from '../../runtime/index.js'
import { beginsWith, routeOf } from '../faults/check-fault.js'
import type { EntryHead, ExchangeEntry, JournalEntry, JournalKind } from './entry.js'

/** Selects entries: all conditions must hold. */
export interface JournalQuery {
  /** A node's uuid or name. */
  node?: string
  machine?: string
  kind?: JournalKind | readonly JournalKind[]
  /** `PUT /v1/nodes/:id/states/provision`: exchanges of this route. */
  route?: string
  /** Id of a fault. */
  fault?: string
  status?: number
  /** Entries after this id. */
  after?: number
  /** Lab time in milliseconds since the epoch, from which on. */
  since?: number
  /** Lab time in milliseconds since the epoch, before which. */
  until?: number
}

/** An entry before it has its place in the journal. */
export type NewEntry = JournalEntry extends infer Entry
  ? Entry extends JournalEntry
    ? Omit<Entry, 'id' | 'labTime' | 'wallTime'>
    : never
  : never

export interface JournalOptions {
  /** Lab time. */
  now: () => number
  wallNow: () => number
  /** Entries that are slot. Default 10,000. */
  capacity?: number
  /** Bytes of bodies that are slot together. Default 64 MiB. */
  bytes?: number
}

interface Slot {
  id: number
  at: number
  wall: number
  bytes: number
  /** Makes the entry, which takes longer than to note it: bodies are parsed and masked. */
  make: (head: Pick<EntryHead, 'id' | 'labTime' | 'wallTime'>) => JournalEntry
  made?: JournalEntry
  text?: string
}

/** Milliseconds of wall time after which a reader that waits for entries gets none. */
const QUIET = 15_000

/** Entries that a reader gets at once. */
const FIRST_LOOK = 64

/** Everything that happened in a lab, in order: the last of it, in bounded memory. */
export interface LabJournal {
  /** Id of the first entry that is still there. */
  readonly first: number
  /** Id of the last entry; 0 without any. */
  readonly last: number
  /** The entries that a query selects, oldest first. */
  entries(query?: JournalQuery, limit?: number): JournalEntry[]
  /** Exchanges of a route, oldest first: `journal.calls('PATCH /v1/nodes/:id')`. */
  calls(route: string, query?: Omit<JournalQuery, 'kind' | 'route'>): ExchangeEntry[]
  /** Calls `listener` with each entry from now on, until the returned object is disposed of. */
  listen(listener: (entry: JournalEntry) => void): Disposable
}

/** The journal as a ring. */
export class Journal implements LabJournal {
  readonly #options: Required<JournalOptions>
  /** A ring: the entry with id `n` is at `n` modulo its length. */
  readonly #ring: (Slot | undefined)[]
  #isMuted = false
  #first = 1
  #next = 1
  #bytes = 0
  readonly #waiting = new Set<() => void>()
  readonly #listeners = new Set<(entry: JournalEntry) => void>()

  constructor(options: JournalOptions) {
    this.#options = { capacity: 10_000, bytes: 64 * 2 ** 20, ...options }
    this.#ring = new Array<Slot | undefined>(this.#options.capacity)
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

  /** @param bytes of the bodies that the entry keeps */
  add(make: Slot['make'], bytes = 0): void {
    if (this.#isMuted) return
    const { now, wallNow, capacity } = this.#options
    const slot: Slot = { id: this.#next++, at: now(), wall: wallNow(), bytes, make }
    if (this.#next - this.#first > capacity) this.#drop()
    this.#ring[slot.id % capacity] = slot
    this.#bytes += bytes
    while (this.#bytes > this.#options.bytes && this.#first < slot.id) this.#drop()
    if (this.#listeners.size > 0) for (const listener of [...this.#listeners]) listener(this.#entry(slot))
    if (this.#waiting.size === 0) return
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of waiting) wake()
  }

  entries(query: JournalQuery = {}, limit = Infinity): JournalEntry[] {
    const found: JournalEntry[] = []
    const selects = selection(query)
    for (let id = Math.max(this.#first, (query.after ?? 0) + 1); id < this.#next && found.length < limit; id++) {
      const slot = this.#at(id)
      if (query.since !== undefined && slot.at < query.since) continue
      if (query.until !== undefined && slot.at >= query.until) break
      const entry = this.#entry(slot)
      if (selects(entry)) found.push(entry)
    }
    return found
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
   */
  async *follow(query: JournalQuery, signal: AbortSignal): AsyncGenerator<JournalEntry[]> {
    const selects = selection(query)
    let next = Math.max(1, (query.after ?? 0) + 1)
    if (next < this.#first) throw new TooSlow(next, this.#first)
    while (!signal.aborted) {
      if (next >= this.#next) {
        await this.#more(signal)
        if (next >= this.#next && !signal.aborted) yield []
        continue
      }
      if (next < this.#first) throw new TooSlow(next, this.#first)
      const end = Math.min(this.#next, next + FIRST_LOOK)
      const found: JournalEntry[] = []
      for (; next < end; next++) {
        const entry = this.#entry(this.#at(next))
        if (selects(entry)) found.push(entry)
      }
      if (found.length > 0) yield found
    }
  }

  /** Waits for another entry; for at most {@link QUIET}, so that a reader can show that it is still there. */
  async #more(signal: AbortSignal): Promise<void> {
    const over = new AbortController()
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        over.abort()
        resolve()
      }
      this.#waiting.add(wake)
      signal.addEventListener('abort', wake, { once: true })
      systemClock()
        .sleep(QUIET, { weak: true, signal: over.signal })
        .then(wake, () => {})
    })
    // Entries of one moment are read together.
    await Promise.resolve()
  }

  #at(id: number): Slot {
    return this.#ring[id % this.#options.capacity]!
  }

  #drop(): void {
    const index = this.#first++ % this.#options.capacity
    this.#bytes -= this.#ring[index]!.bytes
    this.#ring[index] = undefined
  }

  #entry(slot: Slot): JournalEntry {
    return (slot.made ??= slot.make({
      id: slot.id,
      labTime: new Date(slot.at).toISOString(),
      wallTime: new Date(slot.wall).toISOString(),
    }))
  }
}

/** A reader is so far behind that entries it has not read are no longer there. */
export class TooSlow extends Error {
  override name = 'TooSlow'
  constructor(wanted: number, first: number) {
    super(`entry ${wanted} is no longer there; the first that is has id ${first}`)
  }
}

function selection(query: JournalQuery): (entry: JournalEntry) => boolean {
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
