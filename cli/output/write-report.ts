import { open, rm, stat, writeFile } from 'node:fs/promises'
import { UserError } from '../../runtime/index.js'

/** @throws UserError `report-file` */
export async function writeReport(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text)
  } catch (cause) {
    throw unwritable(path, cause)
  }
}

/**
 * Refuses a file that cannot be written, before the work that it would report. What is in it stays.
 *
 * @throws UserError `report-file`
 */
export async function checkReport(path: string): Promise<void> {
  try {
    const there = await stat(path).catch(() => undefined)
    // Opening a pipe waits for its reader.
    if (there && !there.isFile() && !there.isDirectory()) return
    const file = await open(path, there ? 'r+' : 'wx')
    await file.close()
    if (!there) await rm(path)
  } catch (cause) {
    throw unwritable(path, cause)
  }
}

const unwritable = (path: string, cause: unknown): UserError =>
  new UserError('report-file', `the report ${path} cannot be written`, {
    ...{ cause, remedy: 'name a file in a folder that exists and may be written' },
  })
