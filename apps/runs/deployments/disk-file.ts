import { open, readFile, realpath, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { temporaryFolder, UserError } from '../../../base/runtime/index.js'

/**
 * Creates the sparse file of a machine's disk: `size` bytes of zeros. A note beside it marks it as ironstage's, so the
 * next rehearsal may overwrite it.
 *
 * @throws UserError when the path is a disk, a folder, or a file of the user (unless `overwrite`)
 */
export async function makeDiskFile(path: string, size: number, overwrite: boolean): Promise<void> {
  const there = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw diskFileError(path, error)
  })
  if (there && !there.isFile())
    throw new UserError('disk-file', `${path} is not a regular file, so it is not used as a disk`, {
      remedy: 'name a file with --disk-file; a real disk is never one',
      kind: 'usage',
    })
  if (there && there.size > 0 && !overwrite && !(await isOurs(path, there.ino)))
    throw new UserError('disk-file', `${path} exists and was not made by ironstage`, {
      remedy: 'name another file with --disk-file, or erase this one with --overwrite',
      kind: 'usage',
    })
  try {
    await putBlankFile(there ? await realpath(path) : path, size)
    await writeFile(noteOf(path), `${JSON.stringify({ made_by: 'ironstage', inode: (await stat(path)).ino })}\n`)
  } catch (error) {
    throw diskFileError(path, error)
  }
}

/** Puts a blank file in place of an old one, which stays where one of that size cannot be made. */
async function putBlankFile(path: string, size: number): Promise<void> {
  await using folder = await temporaryFolder(dirname(path))
  const fresh = join(folder.path, 'disk')
  const file = await open(fresh, 'wx', 0o600)
  try {
    await file.truncate(size)
  } finally {
    await file.close()
  }
  await rename(fresh, path)
}

const noteOf = (path: string): string => `${path}.ironstage`

/** True if ironstage made the file. The inode shows when another file was moved to its path. */
async function isOurs(path: string, inode: number): Promise<boolean> {
  try {
    const note = JSON.parse(await readFile(noteOf(path), 'utf8')) as { made_by?: unknown; inode?: unknown }
    return note.made_by === 'ironstage' && note.inode === inode
  } catch {
    return false
  }
}

const diskFileError = (path: string, cause: unknown): UserError =>
  new UserError('disk-file', `the disk file ${path} cannot be made`, {
    cause,
    remedy: 'name a file in a folder that you may write with --disk-file',
  })
