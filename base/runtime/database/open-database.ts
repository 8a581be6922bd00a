import type Database from 'libsql'
import { chmodSync, closeSync, existsSync, openSync, rmSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isDiskFull, UserError } from '../error.js'
import { ERRORS } from '../errors.js'
import { hostBoot } from '../system-boot.js'
import { checkRows } from './check-database.js'
import { markFile, OpenMark, readMark } from './commit-mark.js'
import { checkSchema, createTables, migrateTables } from './create-tables.js'
import { openSound } from './database-errors.js'
import type { DatabaseForm } from './database-form.js'
import { checkedSeal, commitCount, isSealed, readSeal, schemaOf, sealing, UNWRITTEN, type Seal } from './seal.js'
import { standingOf, type DatabaseContents, type DatabaseLog } from './standing.js'
import { openSqlite } from '../sqlite.js'

/** Makes the file, when it is missing, and what belongs to it readable for its owner only: it holds passwords. */
export function closeToOthers(path: string): void {
  closeSync(openSync(path, 'a', 0o600))
  for (const file of [path, `${path}-wal`, `${path}-shm`, markFile(path)]) if (existsSync(file)) chmodSync(file, 0o600)
}

export interface DatabaseOptions {
  /** SQL for each connection. */
  settings: string
  /** Whether commits wait for the disk. */
  durable?: boolean
  /** Hears which changes a power cut has taken. */
  onLoss?: ((sentence: string) => void) | undefined
}

/** A database of a state folder that is known to be as it was acknowledged. */
export interface SealedDatabase {
  readonly db: Database.Database
  /** Ends the transaction. Its changes survive a SIGKILL, and when a later start does not find them it knows so. */
  commit(): void
  /** Closes with the log written back. `abandoned` leaves the files as a killed process would. */
  close(abandoned?: boolean): void
}

/**
 * Opens a database of a state folder, or makes it. Its files stay as they are when it is refused.
 *
 * @throws UserError `damaged-state` for one that is not as it was acknowledged; `store-version`; `state-folder`
 */
export function openDatabase(path: string, form: DatabaseForm, options: DatabaseOptions): SealedDatabase {
  return openSound(path, () => {
    const found = soundContents(path, form, options)
    const mark = new OpenMark(path, {
      ...(typeof found === 'string' ? UNWRITTEN : found),
      state: 'open',
      boot: hostBoot(),
      durable: options.durable ?? false,
    })
    try {
      return opened(path, form, { ...options, found, mark })
    } catch (error) {
      mark.close(false)
      throw error
    }
  })
}

/** Refuses a database that is not whole. */
function soundContents(path: string, form: DatabaseForm, { onLoss }: DatabaseOptions): DatabaseContents {
  const mark = readMark(path)
  const log = existsSync(`${path}-wal`) ? 'there' : 'missing'
  const found = readAlone(path, form, log)
  const standing = standingOf(path, found, mark, { boot: hostBoot(), log })
  if (standing.kind === 'no-log') throw withoutLog(path)
  if (standing.kind === 'torn') throw new SyntaxError(standing.sentence)
  if (standing.kind === 'behind') onLoss?.(standing.sentence)
  return found
}

/** Reads the contents of a database, and leaves no log where there was none: SQLite makes an empty one. */
function readAlone(path: string, form: DatabaseForm, log: DatabaseLog): DatabaseContents {
  try {
    return contentsOf(path, form)
  } finally {
    if (log === 'missing') for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true })
  }
}

/** A database whose write-ahead log is gone, with the last changes. */
export const withoutLog = (path: string): UserError =>
  new UserError('damaged-state', `${path}-wal is missing: the last changes of ${basename(path)} were in it`, {
    remedy: `put it back, or go on without them: ironstage state repair --state-dir ${dirname(path)}`,
  })

/** @throws Error about the first damage */
function contentsOf(path: string, form: DatabaseForm): DatabaseContents {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return 'missing'
  const db = openToRead(path)
  try {
    return readContents(db, path, form)
  } finally {
    db.close()
  }
}

/**
 * Opens a database whose log stays as it is: closing one that can be written moves what is sound of the log into the
 * database, and deletes the rest.
 */
function openToRead(path: string): Database.Database {
  const db = openSqlite(`${pathToFileURL(path).href}?mode=ro`)
  try {
    schemaOf(db)
    return db
  } catch (error) {
    db.close()
    // A kill while the file was made: SQLite must undo the write before it can read.
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_READONLY'))
      return openSqlite(path)
    throw error
  }
}

function readContents(db: Database.Database, path: string, form: DatabaseForm): DatabaseContents {
  const version = versionOf(db)
  if (version > form.version) throw newerVersion(path, version, form)
  if (schemaOf(db).length === 0) return 'empty'
  if (!isSealed(db)) {
    if (form.older.includes(version)) return 'older'
    throw new SyntaxError('it holds the tables of something else')
  }
  if (version !== form.version) throw new SyntaxError(`its schema version is ${version}, expected ${form.version}`)
  checkSchema(db, form)
  return checkedSeal(db, checkRows(db, form))
}

export const versionOf = (db: Database.Database): number =>
  Number((db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version)

const newerVersion = (path: string, version: number, form: DatabaseForm): UserError =>
  new UserError(
    'store-version',
    `the database ${path} has schema version ${version}, this program writes ${form.version}`,
    {
      remedy: ERRORS['store-version'].remedy,
    },
  )

interface OpenParts extends DatabaseOptions {
  found: DatabaseContents
  mark: OpenMark
}

function opened(
  path: string,
  form: DatabaseForm,
  { found, mark, settings, durable = false }: OpenParts,
): SealedDatabase {
  closeToOthers(path)
  const db = openSqlite(path)
  try {
    db.exec(`PRAGMA page_size = ${form.pageSize}`)
    db.exec('PRAGMA journal_mode = WAL')
    db.exec(`PRAGMA synchronous = ${durable ? 'FULL' : 'NORMAL'}`)
    // Overwrites deleted data: records hold passwords and Ignition configs.
    db.exec('PRAGMA secure_delete = ON')
    db.exec(settings)
    const seal = sealed(db, form, found)
    mark.advance(seal)
    return inUse(db, mark, seal)
  } catch (error) {
    db.close()
    throw error
  }
}

/** Makes or migrates what is not sealed yet. */
function sealed(db: Database.Database, form: DatabaseForm, found: DatabaseContents): Seal {
  if (typeof found !== 'string') return found
  return found === 'older' ? migrateTables(db, form) : createTables(db, form)
}

function inUse(db: Database.Database, mark: OpenMark, { commits: before }: Seal): SealedDatabase {
  const seal = sealing(db)
  const commit = db.prepare('COMMIT')
  let commits = before
  return {
    db,
    commit() {
      seal.run()
      commit.run()
      commits++
      mark.advance(commitCount(commits))
    },
    close(abandoned = false) {
      let isOrderly = false
      try {
        if (!abandoned) mark.advance(readSeal(db))
        if (abandoned) db.close()
        else closeWithoutLog(db)
        isOrderly = !abandoned
      } finally {
        mark.close(isOrderly)
      }
    },
  }
}

/** Closes a database with its log written back; on a full disk the log stays, and the next start reads it. */
function closeWithoutLog(db: Database.Database): void {
  try {
    // Prepared statements keep SQLite from deleting the log on close, and it still holds data that was overwritten since.
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch (error) {
    if (!isDiskFull(error)) throw error
  } finally {
    db.close()
  }
}
