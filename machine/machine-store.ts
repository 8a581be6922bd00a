import type Database from 'libsql'
import {
  withClockHeld,
  isDiskFull,
  jsonProblem,
  openDatabase,
  rowSum,
  UserError,
  type Clock,
  type DatabaseForm,
  type SealedDatabase,
} from '../base/runtime/index.js'
import { defaultMachineSpec } from './hardware/default-spec.js'
import { ERRORS } from './errors.js'
import type { MachineSpec } from './machine-spec.js'

/**
 * Kinds of records of a machine, JSON documents under a name: its specification and its state (one each), the parts of
 * the system on its disk, and the records of one boot: values that programs saved, runs, changed files.
 */
export type RecordKind = 'spec' | 'state' | 'system' | 'saved' | 'run' | 'file'

export interface StoredRecord {
  machine: string
  kind: RecordKind
  name: string
  value: unknown
}

/** Store of machines between processes. Changes are queued in order and written by {@link MachineStore.flush}. */
export interface MachineStore extends AsyncDisposable {
  load(): StoredRecord[]
  /** Queues a record. `value` is called when it is written, so a record that changes often is written once per flush. */
  put(machine: string, kind: RecordKind, name: string, value: () => unknown): void
  remove(machine: string, kind?: RecordKind, name?: string): void
  /** Tells of a change that is stored with another one, or not at all. */
  note(machine: string): void
  /** Resolves when every change queued before survives a SIGKILL of this process. */
  flush(): Promise<void>
}

const NOTHING_TO_WRITE = Promise.resolve()

/** Stores nothing, for machines that end with the process. */
export const forgetfulStore: MachineStore = {
  load: () => [],
  put: () => {},
  remove: () => {},
  note: () => {},
  flush: () => NOTHING_TO_WRITE,
  [Symbol.asyncDispose]: () => Promise.resolve(),
}

const SCHEMA = `
  CREATE TABLE record (
    machine TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    sum INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (machine, kind, name)
  ) WITHOUT ROWID;
`

/** Name and schema of `machines.db`. */
export const MACHINE_DATABASE: DatabaseForm = {
  file: 'machines.db',
  version: 1,
  older: [0],
  schema: SCHEMA,
  pageSize: 4096,
  sealed: true,
  tables: [
    {
      name: 'record',
      columns: ['machine', 'kind', 'name', 'value'],
      key: ['machine', 'kind', 'name'],
      problem: ({ kind, value }) => {
        if (!RECORD_KINDS.includes(kind as RecordKind)) return 'its kind is not known'
        const { metalImage: _renamed, ...model } = defaultMachineSpec(1)
        return jsonProblem(value, kind === 'spec' ? model : {})
      },
    },
  ],
}

const RECORD_KINDS: readonly RecordKind[] = ['spec', 'state', 'system', 'saved', 'run', 'file']

type RecordKey = readonly [machine: string, kind: RecordKind, name: string]

type RecordChange = { put: RecordKey; value: () => unknown } | { remove: string[] }

/** Listeners for what no caller waits for. */
export interface StoreHooks {
  /** Gets a sentence about the changes that a power cut has taken. */
  onLoss?: (sentence: string) => void
  /** Gets `state-full`, also for a change that no caller waits for. */
  onFull?: (error: UserError) => void
}

/**
 * Opens `machines.db`. WAL with synchronous NORMAL: flushed changes survive a killed process, but not a crash of the
 * host. All changes of one turn of the event loop go into one transaction. Changes that a full disk refused are written
 * with the next change.
 *
 * @param most limit on the pages of the file, to simulate a full disk
 * @throws UserError `damaged-state` for a file that is not as it was acknowledged
 */
export function openMachineStore(
  file: string,
  clock: Clock,
  { most, onLoss, onFull }: StoreHooks & { most?: number } = {},
): MachineStore {
  const settings = most === undefined ? '' : `PRAGMA max_page_count = ${most}`
  const database = openDatabase(file, MACHINE_DATABASE, { settings, onLoss })
  return new QueuedMachineStore(file, new RecordTable(database), clock, onFull)
}

/** Queues changes, and writes those of one turn of the event loop together. */
class QueuedMachineStore implements MachineStore {
  readonly #file: string
  readonly #records: RecordTable
  readonly #clock: Clock
  readonly #onFull: StoreHooks['onFull']
  #queue: RecordChange[] = []
  #flushing: Promise<void> | undefined

  constructor(file: string, records: RecordTable, clock: Clock, onFull: StoreHooks['onFull']) {
    this.#file = file
    this.#records = records
    this.#clock = clock
    this.#onFull = onFull
  }

  load(): StoredRecord[] {
    return this.#records.readAll()
  }

  put(machine: string, kind: RecordKind, name: string, value: () => unknown): void {
    this.#queue.push({ put: [machine, kind, name], value })
  }

  remove(...key: [machine: string, kind?: RecordKind, name?: string]): void {
    this.#queue.push({ remove: key.filter((part) => part !== undefined) })
  }

  note(): void {}

  flush(): Promise<void> {
    if (this.#queue.length === 0) return Promise.resolve()
    return (this.#flushing ??= withClockHeld(this.#clock, 'keeping machines', () => this.#writeAfterTurn()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.flush()
    } finally {
      this.#records.close()
    }
  }

  #writeAfterTurn(): Promise<void> {
    return new Promise((resolve, reject) =>
      this.#clock.queueWork(() => {
        try {
          this.#writeQueue()
          resolve()
        } catch (error) {
          reject(error as Error)
        }
      }),
    )
  }

  /** Changes that the disk refuses stay in the queue. */
  #writeQueue(): void {
    this.#flushing = undefined
    const changes = this.#queue
    this.#queue = []
    if (changes.length === 0) return
    try {
      this.#records.write(changes)
    } catch (error) {
      this.#queue = [...changes, ...this.#queue]
      if (!isDiskFull(error)) throw error
      const refused = full(this.#file, error)
      this.#onFull?.(refused)
      throw refused
    }
  }
}

/** The table of `machines.db`. */
class RecordTable {
  readonly #database: SealedDatabase
  readonly #insert: Database.Statement
  /** By the number of parts of the key. */
  readonly #removals: readonly Database.Statement[]

  constructor(database: SealedDatabase) {
    const { db } = database
    this.#database = database
    this.#insert = db.prepare(
      `INSERT INTO record (machine, kind, name, sum, value) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (machine, kind, name) DO UPDATE SET sum = excluded.sum, value = excluded.value`,
    )
    this.#removals = ['machine = ?', 'machine = ? AND kind = ?', 'machine = ? AND kind = ? AND name = ?'].map((where) =>
      db.prepare(`DELETE FROM record WHERE ${where}`),
    )
  }

  readAll(): StoredRecord[] {
    const rows = this.#database.db.prepare('SELECT machine, kind, name, value FROM record').all()
    return (rows as Record<keyof StoredRecord, string>[]).map(storedRecord)
  }

  /** Makes all of the changes in one transaction, or none. */
  write(changes: readonly RecordChange[]): void {
    const { db } = this.#database
    db.exec('BEGIN')
    try {
      for (const change of changes)
        if ('put' in change) this.#put(change.put, change.value())
        else this.#removals[change.remove.length - 1]!.run(...change.remove)
      this.#database.commit()
    } catch (error) {
      // SQLite itself rolls back when the disk is full.
      if (db.inTransaction) db.exec('ROLLBACK')
      throw error
    }
  }

  close(): void {
    this.#database.close()
  }

  #put(key: RecordKey, value: unknown): void {
    const text = JSON.stringify(value)
    this.#insert.run(...key, rowSum('record', [...key, text]), text)
  }
}

function storedRecord(row: Record<keyof StoredRecord, string>): StoredRecord {
  const kind = row.kind as RecordKind
  const value = JSON.parse(row.value) as unknown
  return { ...row, kind, value: kind === 'spec' ? withMetalImage(value as MachineSpec) : value }
}

/** Specifications in older state folders have their `metalImage` as `liveImage`. */
function withMetalImage(spec: MachineSpec & { liveImage?: string | null }): MachineSpec {
  const { liveImage, ...others } = spec
  return liveImage === undefined ? spec : { ...others, metalImage: liveImage }
}

const full = (file: string, cause: unknown): UserError =>
  new UserError('state-full', `the disk of ${file} is full: what the machines did last is not kept`, {
    cause,
    remedy: ERRORS['state-full'].remedy,
  })
