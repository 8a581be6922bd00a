import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { open, rename, rm, symlink } from 'node:fs/promises'
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
  text: string,
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
