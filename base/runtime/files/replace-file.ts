import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { open, realpath, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** Where the new file is written, hidden so that it takes no name of a user: `.NAME.new` beside `NAME`. */
const freshBeside = (path: string): string => join(dirname(path), `.${basename(path)}.new`)

/**
 * Writes a file in place of an old one, if there is one, at once: a reader sees the old text or the new one, also after a
 * loss of power. The text goes to `.NAME.new` first, so the caller keeps two writes of one file from meeting.
 *
 * @param options `mode`: permissions of the file, 0600 by default; `flush`: whether the text is on the disk when this ends,
 *   true by default, not needed for what can be written again
 * @throws the kernel's error; the old file is as it was, and nothing is left beside it
 */
export async function replaceFile(
  path: string,
  text: string | Uint8Array,
  { mode = 0o600, flush = true }: { mode?: number; flush?: boolean } = {},
): Promise<void> {
  const fresh = freshBeside(path)
  const file = await open(fresh, 'w', mode)
  try {
    try {
      await file.writeFile(text)
      if (flush) await file.sync()
    } finally {
      await file.close()
    }
    await rename(fresh, path)
  } catch (error) {
    await rm(fresh, { force: true })
    throw error
  }
}

/**
 * Writes the file that a user names for a result: completely, or the old file stays. Pipes and devices are written as they
 * are, and so is a file whose folder, owner or links forbid a new one in its place.
 *
 * @throws the kernel's error
 */
export async function writeResult(path: string, contents: string | Uint8Array): Promise<void> {
  const there = await stat(path).catch(() => undefined)
  const isReplaceable = there === undefined || (there.isFile() && there.nlink === 1 && there.uid === process.getuid?.())
  if (!isReplaceable) return writeFile(path, contents)
  try {
    const mode = there === undefined ? 0o666 : there.mode & 0o7777
    await replaceFile(there === undefined ? path : await realpath(path), contents, { mode, flush: false })
  } catch (error) {
    if (!UNREPLACEABLE.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    await writeFile(path, contents)
  }
}

/** Errors of a folder that takes no new file, or of a file that is mounted at its place. */
const UNREPLACEABLE: readonly string[] = ['EACCES', 'EPERM', 'EROFS', 'EBUSY']

/** As {@link replaceFile}, where nothing else may happen meanwhile. */
export function replaceFileSync(path: string, text: string, mode = 0o600): void {
  const fresh = freshBeside(path)
  const file = openSync(fresh, 'w', mode)
  try {
    try {
      writeFileSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(fresh, path)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw error
  }
}

/** Puts a link in place of an old one, if there is one, at once: a folder that is served always has it. */
export async function replaceLink(target: string, path: string): Promise<void> {
  const fresh = freshBeside(path)
  await rm(fresh, { force: true })
  await symlink(target, fresh)
  await rename(fresh, path)
}
