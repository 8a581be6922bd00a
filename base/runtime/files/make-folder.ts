import { mkdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/**
 * Makes a folder, and those above it that are missing. Below /proc Node's `recursive` tries for ever, and on a read-only
 * file system it says that a folder is missing: this fails with the kernel's own error.
 *
 * @param mode permissions of folders that are made
 */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  const folder = resolve(path)
  try {
    await mkdir(folder, { mode })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && dirname(folder) !== folder) {
      await makeFolder(dirname(folder), mode)
      return mkdir(folder, { mode }).catch((again: unknown) => unlessFolder(folder, again))
    }
    await unlessFolder(folder, error)
  }
}

/** Another process may have made it meanwhile. */
async function unlessFolder(path: string, error: unknown): Promise<void> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!isFolder) throw error
}
