import {
  checkRows,
  closeWithoutLog,
  held,
  isDiskFull,
  jsonProblem,
  openSound,
  openSqlite,
  UserError,
  type Clock,
  type DatabaseForm,
} from '../runtime/index.js'
import { defaultMachineSpec } from './hardware/default-spec.js'
import { ERRORS } from './errors.js'

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

/** Stores nothing, for machines that end with the process. */
export const forgetfulStore: MachineStore = {
  load: () => [],
  put: () => {},
  remove: () => {},
  note: () => {},
  flush: () => Promise.resolve(),
  [Symbol.asyncDispose]: () => Promise.resolve(),
}

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA secure_delete = ON;
  CREATE TABLE IF NOT EXISTS record (
    machine TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (machine, kind, name)
  ) WITHOUT ROWID;
`

/** Specifications in older state folders have their `metalImage` as `liveImage`. */
const RENAME_METAL_IMAGE = `
  UPDATE record
  SET value = json_remove(json_set(value, '$.metalImage', json_extract(value, '$.liveImage')), '$.liveImage')
  WHERE kind = 'spec' AND CASE WHEN json_valid(value) THEN json_type(value, '$.liveImage') END IS NOT NULL
`

/** Name and schema of `machines.db`. */
export const MACHINE_DATABASE: DatabaseForm = {
  file: 'machines.db',
  version: 0,
  prepare: (db) => void db.exec(SCHEMA),
  tables: [
    {
      name: 'record',
      columns: ['machine', 'kind', 'name', 'value'],
      key: ['machine', 'kind', 'name'],
      problem: ({ kind, value }) => {
        if (!KINDS.includes(kind as RecordKind)) return 'its kind is not known'
        const { metalImage: _renamed, ...model } = defaultMachineSpec(1)
        return jsonProblem(value, kind === 'spec' ? model : {})
      },
    },
  ],
}

const KINDS: readonly RecordKind[] = ['spec', 'state', 'system', 'saved', 'run', 'file']

type Change =
  { put: readonly [machine: string, kind: RecordKind, name: string]; value: () => unknown } | { remove: string[] }

/**
 * Opens `machines.db`. WAL with synchronous NORMAL: flushed changes survive a killed process, but not a crash of the
 * host. All changes of one turn of the event loop go into one transaction. Changes that a full disk refused are written
 * with the next change.
 *
 * @param most limit on the pages of the file, to simulate a full disk
 */
export function openMachineStore(file: string, clock: Clock, most?: number): MachineStore {
  const db = openSound(file, () => {
    const opened = openSqlite(file)
    try {
      opened.exec(SCHEMA)
      opened.exec(RENAME_METAL_IMAGE)
      if (most !== undefined) opened.exec(`PRAGMA max_page_count = ${most}`)
      checkRows(opened, MACHINE_DATABASE)
      return opened
    } catch (error) {
      opened.close()
      throw error
    }
  })
  const insert = db.prepare('INSERT OR REPLACE INTO record (machine, kind, name, value) VALUES (?, ?, ?, ?)')
  const removals = ['machine = ?', 'machine = ? AND kind = ?', 'machine = ? AND kind = ? AND name = ?'].map((where) =>
    db.prepare(`DELETE FROM record WHERE ${where}`),
  )
  let queue: Change[] = []
  let flushing: Promise<void> | undefined

  const write = (changes: readonly Change[]) => {
    db.exec('BEGIN')
    try {
      for (const change of changes)
        if ('put' in change) insert.run(...change.put, JSON.stringify(change.value()))
        else removals[change.remove.length - 1]!.run(...change.remove)
      db.exec('COMMIT')
    } catch (error) {
      // SQLite itself rolls back when the disk is full.
      if (db.inTransaction) db.exec('ROLLBACK')
      throw error
    }
  }
  const commit = () => {
    flushing = undefined
    const changes = queue
    queue = []
    if (changes.length === 0) return
    try {
      write(changes)
    } catch (error) {
      queue = [...changes, ...queue]
      throw isDiskFull(error) ? full(file, error) : error
    }
  }
  const flush = () =>
    queue.length === 0
      ? Promise.resolve()
      : (flushing ??= held(
          clock,
          'keeping machines',
          () =>
            new Promise<void>((resolve, reject) =>
              setImmediate(() => {
                try {
                  commit()
                  resolve()
                } catch (error) {
                  reject(error as Error)
                }
              }),
            ),
        ))

  return {
    load: () =>
      (db.prepare('SELECT machine, kind, name, value FROM record').all() as Record<keyof StoredRecord, string>[]).map(
        (row) => ({ ...row, kind: row.kind as RecordKind, value: JSON.parse(row.value) as unknown }),
      ),
    put: (machine, kind, name, value) => void queue.push({ put: [machine, kind, name], value }),
    remove: (...key) => void queue.push({ remove: key.filter((part) => part !== undefined) }),
    note: () => {},
    flush,
    [Symbol.asyncDispose]: async () => {
      try {
        await flush()
      } finally {
        closeWithoutLog(db)
      }
    },
  }
}

const full = (file: string, cause: unknown): UserError =>
  new UserError('state-full', `the disk of ${file} is full: what the machines did last is not kept`, {
    cause,
    remedy: ERRORS['state-full'].remedy,
  })
