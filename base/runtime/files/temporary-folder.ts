import { rmSync } from 'node:fs'
import { lstat, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UserError } from '../error.js'
import { tryLock } from '../lock-file.js'
import { randomUuid } from '../random.js'
import { systemRandom } from '../system-random.js'
import { hasSqlite } from '../sqlite.js'

/** A folder for temporary files, deleted when it is disposed of, or else when the process ends. */
export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string
  [Symbol.asyncDispose](): Promise<void>
}

/** Folders whose owner is this process; what is in here when the process ends is deleted then. */
const openFolders = new Map<string, Disposable>()

const TEMPORARY_PREFIX = 'ironstage-tmp-'
/** Prefix of folders beside the file that is being written: a rename works within one file system only. */
const HIDDEN_PREFIX = '.ironstage-tmp-'

/**
 * Makes a folder for temporary files. The kernel drops the lock beside it when its process dies, however it dies, and
 * {@link sweepTemporaryFolders} deletes folders without a living owner. Where SQLite is not installed there is no lock, and
 * the folder of a process that was killed stays.
 *
 * @param parent where the folder goes; the system's folder for temporary files by default
 * @throws UserError `temporary-folder` when the system's cannot be used
 */
export async function temporaryFolder(parent?: string): Promise<TemporaryFolder> {
  const where = parent ?? tmpdir()
  if (parent !== undefined) await sweepTemporaryFolders(parent)
  // A folder that cannot be written fails in the system's words; TMPDIR, or what stands for it, was chosen by the user.
  const explain = (cause: unknown): never => {
    throw parent === undefined ? unusableFolder(where, cause) : cause
  }
  for (let attempt = 1; ; attempt++) {
    const path = join(where, `${parent === undefined ? TEMPORARY_PREFIX : HIDDEN_PREFIX}${randomUuid(systemRandom)}`)
    // A folder without the file of a lock is one that no sweep touches.
    if (!hasSqlite()) return ownFolder(path, NO_LOCK).catch(explain)
    await writeFile(lockOf(path), '', { flag: 'wx' }).catch(explain)
    const lock = await tryLock(lockOf(path), 'exclusive').catch((error: unknown) => {
      if (attempt === MAX_FOLDER_ATTEMPTS || !isFileGone(error)) throw error
      return undefined
    })
    // Another process may have swept the file before it was locked.
    const exists = await stat(lockOf(path)).catch(() => null)
    if (!lock || !exists) continue
    return ownFolder(path, lock)
  }
}

const NO_LOCK: Disposable = { [Symbol.dispose]: () => {} }

async function ownFolder(path: string, lock: Disposable): Promise<TemporaryFolder> {
  if (openFolders.size === 0) process.once('exit', deleteAll)
  openFolders.set(path, lock)
  await mkdir(path, { mode: 0o700 })
  return { path, [Symbol.asyncDispose]: () => removeFolder(path) }
}

const unusableFolder = (path: string, cause: unknown): UserError =>
  new UserError('temporary-folder', `the folder for temporary files, ${path}, cannot be used`, {
    cause,
    remedy: 'name a folder that exists and may be written with TMPDIR',
  })

/** Attempts at a folder, each of which a sweep may meet: one of a thousand was met while others swept without a pause. */
const MAX_FOLDER_ATTEMPTS = 10

/** Whether SQLite failed because its file was deleted meanwhile: for that it has no code of its own. */
const isFileGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_IOERR')

const lockOf = (path: string): string => `${path}.lock`
/**
 * A folder and what belongs to it; SQLite keeps a journal beside a lock that is held. The lock comes last, since a sweep
 * that was killed is finished by the next one only while the lock is there.
 */
const allOf = (path: string): string[] => [path, `${lockOf(path)}-journal`, lockOf(path)]

async function removeFolder(path: string): Promise<void> {
  const lock = openFolders.get(path)
  if (!lock) return
  for (const each of allOf(path)) await rm(each, { recursive: true, force: true })
  lock[Symbol.dispose]()
  openFolders.delete(path)
  if (openFolders.size === 0) process.off('exit', deleteAll)
}

function deleteAll(): void {
  for (const path of openFolders.keys())
    for (const each of allOf(path))
      try {
        rmSync(each, { recursive: true, force: true })
      } catch {
        // The next start tries again.
      }
}

/** Deletes the temporary folders in `parent` whose process died without doing so. */
export async function sweepTemporaryFolders(parent?: string): Promise<void> {
  const where = parent ?? tmpdir()
  const prefix = parent === undefined ? TEMPORARY_PREFIX : HIDDEN_PREFIX
  const names = await readdir(where).catch(() => [])
  for (const name of names) {
    if (!name.startsWith(prefix) || !name.endsWith('.lock')) continue
    const path = join(where, name.slice(0, -'.lock'.length))
    // One that cannot be swept now is left to the next start, or to its user.
    if (!openFolders.has(path) && (await isOwnFile(lockOf(path)))) await sweep(path).catch(() => {})
  }
}

async function isOwnFile(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => null)
  return found !== null && found.isFile() && found.uid === process.getuid?.()
}

async function sweep(path: string): Promise<void> {
  using lock = await tryLock(lockOf(path), 'exclusive')
  if (!lock) return
  for (const each of allOf(path)) await rm(each, { recursive: true, force: true })
}
