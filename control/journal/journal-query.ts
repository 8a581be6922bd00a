import type { ExchangeEntry, JournalEntry, JournalKind } from './entry.js'

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
  /** Earliest lab time, in milliseconds since the epoch, inclusive. */
  since?: number
  /** Latest lab time, in milliseconds since the epoch, exclusive. */
  until?: number
}

/** Latest events of a lab in order, in bounded memory. */
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
