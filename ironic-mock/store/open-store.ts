import { isDiskFull, openDatabase, type Clock } from '../../base/runtime/index.js'
import type { NodeLists, PortRecord, ResourceKind, ResourceRecords, NodeListKind } from '../../base/wire/index.js'
import { MemoryRows } from './memory-rows.js'
import { type NodeEntry, Records } from './record-store.js'
import type { StoredInventory, StoreRows } from './store-rows.js'
import { SqliteRows } from './sqlite-rows.js'
import { IRONIC_DATABASE } from './database-form.js'
import { PAGE_SIZE } from './table-schema.js'
import { writeState, type StoreState } from './store-state.js'
import { RecordAccess } from './record-access.js'
import type { HistoryEntry, NodeQuery, PortQuery, ResourceQuery, Store } from './store.js'
import type { DatabaseSession } from './postgres/database-session.js'
import { recordIds, Writer } from './write.js'

export interface StoreOptions {
  /** The file, which is made when missing; nothing is written without one. */
  path?: string | undefined
  /** True if commits wait for the disk, to survive power loss too and not only the death of the process. */
  durable?: boolean
  /** Bytes that the database may take; beyond them it answers as on a full disk. */
  largest?: number
  /** Contents that take the place of those of the database. */
  from?: StoreState
  /** Hears which changes a power cut has taken. */
  onLoss?: (sentence: string) => void
  clock: Clock
}

/** Synchronous reads for the conductor, on top of {@link Store}. */
export interface StoreView {
  /** Records without copying: callers must not change them. */
  readonly records: Records
  /** Everything in the database, as the start of another one. */
  take(): StoreState
  /** {@link Store.nodeList}, synchronously; queued writes are not in it. */
  nodeListNow<Kind extends NodeListKind>(node: string, kind: Kind): NodeLists[Kind]
  /** Closes without writing the queued changes, as a killed process would. Their promises never settle. */
  abandon(): void
  /** {@link Store.resources}, synchronously and with shared records. */
  resourcesNow<Kind extends ResourceKind>(kind: Kind, query: ResourceQuery<Kind>): ResourceRecords[Kind][]
  /** {@link Store.ports}, synchronously and with shared records. */
  portsNow(query: PortQuery): PortRecord[]
  /** {@link Store.node}, synchronously: shared record with its revision. */
  nodeNow(ident: string): NodeEntry | undefined
  /** {@link Store.nodes}, synchronously: shared records with their revisions. */
  nodesNow(query: NodeQuery): NodeEntry[]
  /** Absent where no other process writes. */
  readonly others?: OtherProcesses
}

/** The part of a store that concerns the other processes of its database. */
export interface OtherProcesses {
  /**
   * Resolves when {@link StoreView.records} has all that was committed anywhere before the call.
   *
   * @throws DatabaseUnavailable
   */
  catchUp(): Promise<void>
  /** Hears the uuids of nodes that another process has changed or removed, once the records have the change. */
  watchFollowed(listener: (nodes: readonly string[]) => void): Disposable
  readonly session: DatabaseSession
}

interface QueuedWrite {
  apply: (writer: Writer) => unknown
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
  hold: Disposable
}

/**
 * Opens Ironic's database. Commits that arrive in the same event-loop iteration share one transaction, and each
 * resolves when that transaction is written (WAL, `synchronous=NORMAL`: survives SIGKILL; FULL when durable). A refused
 * commit does not affect the others.
 *
 * @throws UserError when the file has a newer schema version, or is not as it was acknowledged
 */
export function openStore({ path, durable = false, largest, from, onLoss, clock }: StoreOptions): Store & StoreView {
  if (path === undefined) {
    const rows = new MemoryRows()
    if (from) rows.putTexts(from.texts)
    return new RecordStore(rows, clock, from && new Records(from.records))
  }
  const settings = largest === undefined ? SETTINGS : `${SETTINGS}; ${limitTo(largest)}`
  const database = openDatabase(path, IRONIC_DATABASE, { settings, durable, onLoss })
  try {
    const rows = new SqliteRows(database)
    if (from) writeState(rows, from)
    return new RecordStore(rows, clock)
  } catch (error) {
    database.close(true)
    throw error
  }
}

const SETTINGS = [
  // 64 MiB: enough to cache a fleet.
  'PRAGMA cache_size = -65536',
  'PRAGMA wal_autocheckpoint = 4000',
  'PRAGMA busy_timeout = 5000',
].join('; ')

const limitTo = (bytes: number): string => `PRAGMA max_page_count = ${Math.ceil(bytes / PAGE_SIZE)}`

class RecordStore extends RecordAccess implements Store, StoreView {
  readonly #rows: StoreRows
  readonly #clock: Clock
  #records: Records
  #waiting: QueuedWrite[] = []
  #closed = false

  constructor(rows: StoreRows, clock: Clock, records = rows.load()) {
    super()
    this.#rows = rows
    this.#clock = clock
    this.#records = records
  }

  take(): StoreState {
    return { records: new Records(this.#records), texts: this.#rows.texts() }
  }

  get records(): Records {
    return this.#records
  }

  nodeList<Kind extends NodeListKind>(node: string, kind: Kind): Promise<NodeLists[Kind]> {
    return Promise.resolve(this.nodeListNow(node, kind))
  }

  nodeListNow<Kind extends NodeListKind>(node: string, kind: Kind): NodeLists[Kind] {
    return this.#rows.nodeList(node, kind) as NodeLists[Kind]
  }

  inventory(node: string): Promise<StoredInventory | undefined> {
    return Promise.resolve(this.#rows.inventory(node))
  }

  history(node: string): Promise<HistoryEntry[]> {
    return Promise.resolve(this.#rows.history(node))
  }

  abandon(): void {
    if (this.#closed) return
    this.#closed = true
    for (const { hold } of this.#waiting.splice(0)) hold[Symbol.dispose]()
    this.#rows.close(true)
  }

  [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return Promise.resolve()
    this.#flush()
    this.#closed = true
    this.#rows.close()
    return Promise.resolve()
  }

  /** @param soon flushes in a microtask: a commit that continues finished work does not wait to share a transaction */
  protected write<T>(apply: (writer: Writer) => T, soon = false): Promise<T> {
    if (this.#closed) return Promise.reject(new Error('the store is closed'))
    return new Promise<T>((resolve, reject) => {
      if (soon) queueMicrotask(() => this.#flush())
      else if (this.#waiting.length === 0) this.#clock.queueWork(() => this.#flush())
      const hold = this.#clock.hold('writing the database')
      this.#waiting.push({ apply, resolve: resolve as (value: unknown) => void, reject, hold })
    })
  }

  /** Runs synchronously, so that no reader sees memory ahead of the database. */
  #flush(): void {
    const batch = this.#waiting
    if (batch.length === 0 || this.#closed) return
    this.#waiting = []
    const answers: (() => void)[] = []
    try {
      this.#rows.begin()
      const writer = new Writer(this.#rows, this.#records, recordIds(this.#records))
      for (const { apply, resolve, reject } of batch) {
        try {
          const value = apply(writer)
          answers.push(() => resolve(value))
        } catch (error) {
          // SQLite has ended the transaction, or will: none of the batch is written.
          if (isDiskFull(error)) throw error
          answers.push(() => reject(error))
        }
      }
      this.#rows.commit()
    } catch (error) {
      // The whole transaction failed (a full disk): reload memory from the database.
      this.#rows.rollback()
      this.#records = this.#rows.load()
      answers.splice(
        0,
        Infinity,
        ...batch.map(
          ({ reject }) =>
            () =>
              reject(error),
        ),
      )
    }
    for (const answer of answers) this.#clock.queueWork(answer)
    for (const { hold } of batch) hold[Symbol.dispose]()
  }
}
