import type Database from 'libsql'
import { access, chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  checkRows,
  closeToOthers as closeFileToOthers,
  makeFolder,
  markFile,
  openSqlite,
  refuseSpecialFiles,
  replaceFile,
  UserError,
  withoutLog,
} from '../../base/runtime/index.js'
import {
  addColumns,
  bothCopies,
  copyAll,
  copyOne,
  formOfLock,
  IN_USE,
  LOCK_DATABASE,
  markIn,
  putInLock,
  readLock,
  secondCopyIn,
  type RememberedValue,
  type RememberedValues,
} from './lock-database.js'

/** Version of the folder's layout, increased when an older ironstage can no longer read the folder. */
const STATE_LAYOUT = 2
/** Layouts that are brought up to date: 1 had no sums and no marks. */
const OLDER_LAYOUTS = [1]

/** Folder with all state of a rehearsal: `VERSION`, `lock`, `remembered.jsonl`, `ironic.db`, `machines.db`, `disks/`. */
export interface StateFolder extends Disposable {
  readonly path: string
  readonly ironicDb: string
  /** A small value for the next start, such as a port that other programs use. */
  remembered(name: string): string | undefined
  remember(name: string, value: string): void
}

/**
 * Opens or creates a state folder and locks it for this process. The kernel releases the lock when the process ends in
 * any way.
 *
 * @throws UserError when the folder holds something else, was written by a newer ironstage, is in use, is damaged or
 *   cannot be written
 */
export async function openStateFolder(path: string): Promise<StateFolder> {
  const lock = await prepared(path)
  let values: Map<string, RememberedValue>
  try {
    const [missing] = await missingLogs(path, lock)
    if (missing !== undefined) throw withoutLog(join(path, missing))
    values = bothCopies(readLock(lock), secondCopyIn(path))
    rewriteCopies(path, lock, values)
    await writeVersion(path)
  } catch (error) {
    release(lock)
    throw stateFolderError(path, error)
  }
  return {
    path,
    ironicDb: join(path, 'ironic.db'),
    remembered: (name) => values.get(name)?.value,
    remember: (name, value) => {
      const later = { value, revision: (values.get(name)?.revision ?? 0) + 1 }
      copyOne(path, name, later)
      putInLock(lock, name, later)
      values.set(name, later)
    },
    [Symbol.dispose]: () => release(lock),
  }
}

/** Makes both copies equal to the values that were found in either. */
function rewriteCopies(path: string, lock: Database.Database, values: RememberedValues): void {
  addColumns(lock)
  const known = readLock(lock)
  for (const [name, value] of values) if (!sameValue(known.get(name), value)) putInLock(lock, name, value)
  forgetUse(lock)
  copyAll(path, values)
}

const sameValue = (a: RememberedValue | undefined, b: RememberedValue): boolean =>
  a?.value === b.value && a.revision === b.revision

const forgetUse = (lock: Database.Database): void =>
  void lock.prepare('DELETE FROM remembered WHERE name = ?').run(IN_USE)

const DATABASES = ['ironic.db', 'machines.db']

/**
 * Finds databases of an older layout whose last process was killed and whose write-ahead log is missing. SQLite opens such
 * a database without the changes in the log, and without an error; of later ones, their mark knows.
 */
async function missingLogs(path: string, lock: Database.Database): Promise<string[]> {
  const inUse = readLock(lock).has(IN_USE)
  return inUse || markIn(secondCopyIn(path)) === 'in use' ? databasesWithoutLog(path) : []
}

async function databasesWithoutLog(path: string): Promise<string[]> {
  const isThere = (file: string) =>
    access(join(path, file)).then(
      () => true,
      () => false,
    )
  const missing: string[] = []
  for (const file of DATABASES)
    if ((await isThere(file)) && !(await isThere(`${file}-wal`)) && !(await isThere(markFile(file)))) missing.push(file)
  return missing
}

/** A folder that is locked for a check. */
export interface LockedFolder extends Disposable {
  /** Whether the file `lock` is damaged. Then no process can use the folder, and the file is not held open. */
  readonly damaged: boolean
  /** Databases whose write-ahead log is missing. */
  readonly withoutLog: readonly string[]
  /** Databases without a write-ahead log that may have had one: no readable file says whether a process was killed. */
  readonly maybeWithoutLog: readonly string[]
  /** Accepts the databases without their missing logs. */
  accept(): void
}

/** Locks a state folder as {@link openStateFolder} does, without checking its contents. */
export async function lockStateFolder(path: string): Promise<LockedFolder> {
  let lock: Database.Database
  try {
    lock = takeLock(path)
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'damaged-state') throw error
    const mark = markIn(secondCopyIn(path))
    const found = mark === 'not in use' ? [] : await databasesWithoutLog(path)
    return {
      damaged: true,
      withoutLog: mark === 'in use' ? found : [],
      maybeWithoutLog: mark === 'unknown' ? found : [],
      accept: () => {},
      [Symbol.dispose]: () => {},
    }
  }
  return {
    damaged: false,
    withoutLog: await missingLogs(path, lock),
    maybeWithoutLog: [],
    accept: () => {
      forgetUse(lock)
      copyAll(path, bothCopies(readLock(lock), secondCopyIn(path)))
    },
    [Symbol.dispose]: () => release(lock),
  }
}

async function prepared(path: string): Promise<Database.Database> {
  try {
    // 0700: the databases contain BMC passwords and agent tokens.
    await makeFolder(path, 0o700)
    await refuseSpecialFiles(path)
    await checkVersion(path)
    await closeToOthers(path)
    await writable(path)
    return takeLock(path)
  } catch (error) {
    throw stateFolderError(path, error)
  }
}

/** Refuses a read-only folder at once, instead of at the first write. */
async function writable(path: string): Promise<void> {
  // A fixed name, so that the next start deletes the file of a killed process.
  const probe = join(path, '.probe')
  await writeFile(probe, '0', { mode: 0o600 })
  await rm(probe, { force: true })
}

const NO_SPACE = ['ENOSPC', 'EDQUOT', 'SQLITE_FULL']
const LOCKED_DATABASE_CODES = ['SQLITE_BUSY', 'SQLITE_LOCKED']

/** Turns an error of the operating system or SQLite about a folder into a user error. */
export function stateFolderError(path: string, error: unknown): unknown {
  const { code } = error as { code?: unknown }
  if (error instanceof UserError || typeof code !== 'string') return error
  const folder = `the state folder ${path}`
  const known: [string[], 'locked-folder' | 'state-folder', string, string][] = [
    [LOCKED_DATABASE_CODES, 'locked-folder', `${folder} is in use by another ironstage`, 'stop that one'],
    [['SQLITE_IOERR'], 'state-folder', `${folder} cannot be read or written`, 'check its disk'],
    [NO_SPACE, 'state-folder', `there is no space left for ${folder}`, 'free some space'],
    [['EROFS'], 'state-folder', `${folder} is on a read-only filesystem`, 'mount it writable'],
    [['EACCES', 'EPERM'], 'state-folder', `${folder} may not be written by this user`, 'run as its owner'],
    [['EEXIST', 'ENOTDIR'], 'state-folder', `${folder} is not a folder`, 'remove that file'],
  ]
  const otherwise = [[], 'state-folder', `${folder} cannot be used`, 'check its permissions and free space'] as const
  const [, name, sentence, remedy] = known.find(([codes]) => codes.includes(code)) ?? otherwise
  return new UserError(name, sentence, { cause: error, remedy: `${remedy}, or name another folder with --state-dir` })
}

/** Makes a folder private that was created with other permissions; a failure is ignored, as in a mounted volume. */
async function closeToOthers(path: string): Promise<void> {
  const { mode } = await stat(path)
  if ((mode & 0o077) !== 0) await chmod(path, 0o700).catch(() => {})
}

async function checkVersion(path: string): Promise<void> {
  const text = await readVersion(path)
  const layout = layoutIn(text)
  if (layout === STATE_LAYOUT || OLDER_LAYOUTS.includes(layout)) return
  const entries = await readdir(path)
  if (text === null && entries.length === 0) return writeVersion(path)
  if (Number.isNaN(layout) && DATABASES.some((file) => entries.includes(file)))
    throw new UserError('damaged-state', `${join(path, VERSION)} is ${text === null ? 'missing' : 'damaged'}`, {
      remedy: `ironstage state repair --state-dir ${path} writes it again, if the folder is from this ironstage`,
    })
  if (text === null)
    throw new UserError('foreign-folder', `${path} is not a state folder of ironstage: it holds ${entries[0]}`, {
      remedy: 'name an empty or a new folder with --state-dir',
      kind: 'usage',
    })
  const what = Number.isNaN(layout)
    ? `its VERSION says ${JSON.stringify(text.slice(0, 40))}`
    : `its layout is ${layout}`
  throw new UserError('foreign-folder', `${path} cannot be used by this ironstage: ${what}, expected ${STATE_LAYOUT}`, {
    remedy: 'use the ironstage that made it, or name a new folder with --state-dir',
    kind: 'usage',
  })
}

const VERSION = 'VERSION'
const VERSION_TEXT = `ironstage ${STATE_LAYOUT}\n`

/** Contents of VERSION; null when it is missing. */
async function readVersion(path: string): Promise<string | null> {
  try {
    return await readFile(join(path, VERSION), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

const layoutIn = (text: string | null): number => Number(/^ironstage (\d+)\n?$/.exec(text ?? '')?.[1] ?? NaN)

/** Writes VERSION when it says something else. Older ironstages refuse the folder from then on. */
export async function writeVersion(path: string): Promise<void> {
  if ((await readVersion(path)) !== VERSION_TEXT) await replaceFile(join(path, VERSION), VERSION_TEXT)
}

/** Result of reading VERSION for a check; a number is another layout. */
export async function checkedVersion(path: string): Promise<'known' | 'damaged' | number> {
  const layout = layoutIn(await readVersion(path))
  if (Number.isNaN(layout)) return 'damaged'
  return layout === STATE_LAYOUT || OLDER_LAYOUTS.includes(layout) ? 'known' : layout
}

/** Takes SQLite's exclusive lock, which the kernel holds for the process, so no stale lock survives a SIGKILL. */
function takeLock(path: string): Database.Database {
  closeFileToOthers(join(path, 'lock'))
  const lock = openSqlite(join(path, 'lock'))
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE')
    lock.exec('BEGIN EXCLUSIVE')
    lock.exec(LOCK_DATABASE.schema)
    lock.exec('COMMIT')
    checkRows(lock, formOfLock(lock))
    return lock
  } catch (cause) {
    release(lock)
    if (isDamaged(cause))
      throw new UserError('damaged-state', `the file ${join(path, 'lock')} is damaged`, {
        cause,
        remedy: `ironstage state repair --state-dir ${path} rebuilds it from its second copy`,
      })
    throw stateFolderError(path, cause)
  }
}

const isDamaged = (error: unknown): boolean =>
  error instanceof SyntaxError || (error instanceof Error && /not a database|malformed|file format/.test(error.message))

/** Releases the lock before closing: closing alone keeps it until the garbage collector frees all statements. */
function release(lock: Database.Database): void {
  try {
    lock.exec('PRAGMA locking_mode = NORMAL; SELECT count(*) FROM sqlite_master')
  } catch {
    // A damaged file, or one of another program, cannot be read.
  } finally {
    lock.close()
  }
}
