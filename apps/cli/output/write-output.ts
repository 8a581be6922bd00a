import { appendFile, open, rm, stat } from 'node:fs/promises'
import { UserError, writeResult } from '../../../base/runtime/index.js'
import { ERRORS } from '../errors.js'

/** @throws UserError `report-file` */
export async function writeOutput(path: string, text: string, name = path): Promise<void> {
  try {
    await writeResult(path, text)
  } catch (cause) {
    throw fileUnwritableError(name, cause)
  }
}

/** @throws UserError `report-file` */
export const writeReport = (path: string, text: string): Promise<void> => writeOutput(path, text, `the report ${path}`)

/** @throws UserError `report-file` */
export async function appendReport(path: string, text: string): Promise<void> {
  try {
    await appendFile(path, text)
  } catch (cause) {
    throw fileUnwritableError(`the report ${path}`, cause)
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
    throw fileUnwritableError(`the report ${path}`, cause)
  }
}

/** @param name of the file or folder, as in `the report out.html` */
export const fileUnwritableError = (
  name: string,
  cause: unknown,
  options: { kind?: 'usage'; remedy?: string } = {},
): UserError =>
  new UserError('report-file', `${name} cannot be written`, {
    cause,
    remedy: ERRORS['report-file'].remedy,
    ...options,
  })
