import { writeFile } from 'node:fs/promises'
import { UserError } from '../../runtime/index.js'

/** @throws UserError `report-file` */
export async function writeReport(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text)
  } catch (cause) {
    throw new UserError('report-file', `the report ${path} cannot be written`, {
      ...{ cause, remedy: 'name a file in a folder that exists and may be written' },
    })
  }
}
