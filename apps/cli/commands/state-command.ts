import { join } from 'node:path'
import { checkObjectFile, OBJECT_FILE, repairObjectFile, type CheckedObjects } from '../../cluster/index.js'
import {
  checkState,
  exportState,
  repairState,
  type CheckedDatabase,
  type RepairedDatabase,
} from '../../../lab/index.js'
import type { Environment } from '../environment.js'
import type { STATE_EXPORT_OPTIONS, STATE_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { usageError } from '../usage-error.js'

type StateOptions = CommandOptionValues<(typeof STATE_OPTIONS)[number]>
type ExportOptions = CommandOptionValues<(typeof STATE_EXPORT_OPTIONS)[number]>

/** `ironstage state check`: what can be read. Exit code 1 when something is damaged. */
export async function stateCheck(options: StateOptions, { stdout }: Environment): Promise<number> {
  const folder = stateFolderOf(options)
  const databases = await checkState(folder)
  for (const database of databases) stdout.either(options.json, reported(database), databaseLines(database))
  const objects = checkObjectFile(join(folder, OBJECT_FILE))
  if (objects) stdout.either(options.json, objectReport(objects), objectLines(objects))
  const sound = databases.every((database) => database.sound) && (objects?.problem ?? null) === null
  if (!sound && !options.json)
    stdout.line(`ironstage state repair --state-dir ${folder} rebuilds it from what can be read`)
  return sound ? 0 : 1
}

/** `ironstage state repair` */
export async function stateRepair(options: StateOptions, { stdout }: Environment): Promise<number> {
  const folder = stateFolderOf(options)
  const repaired = [...(await repairState(folder)), ...repairObjects(join(folder, OBJECT_FILE))]
  for (const database of repaired) stdout.either(options.json, repair(database), repairLines(database))
  if (repaired.length === 0 && !options.json) stdout.line('nothing is damaged')
  return 0
}

function repairObjects(path: string): RepairedDatabase[] {
  const checked = checkObjectFile(path)
  if (checked === null || checked.problem === null) return []
  return [{ file: OBJECT_FILE, rows: checked.objects, aside: repairObjectFile(path), lost: [checked.problem] }]
}

const objectReport = ({ objects, problem }: CheckedObjects): object => ({
  file: OBJECT_FILE,
  sound: problem === null,
  problems: problem === null ? [] : [problem],
  objects,
})

const objectLines = ({ objects, problem }: CheckedObjects): string[] => [
  `${OBJECT_FILE}: ${problem === null ? 'sound' : 'DAMAGED'}`,
  ...(problem === null ? [] : [`  ${problem}`]),
  `  ${objects} readable`,
]

const repair = ({ file, rows, aside, lost }: RepairedDatabase): object => ({
  event: 'repaired',
  file,
  kept: rows,
  aside,
  lost,
})

function repairLines({ file, rows, aside, lost }: RepairedDatabase): string[] {
  const sentence = `${file} is new, with the ${rows} readable ${rows === 1 ? 'row' : 'rows'}`
  const before = aside === null ? '' : `; the damaged file is now ${aside}`
  return [`${sentence}${before}`, ...lost.map((sentence) => `  ${sentence}`)]
}

/** `ironstage state export` */
export async function stateExport(options: ExportOptions, { stdout }: Environment): Promise<number> {
  const document = await exportState(stateFolderOf(options), { secrets: options.secrets ?? false })
  stdout.document(document)
  return 0
}

function stateFolderOf({ 'state-dir': folder }: { 'state-dir'?: string | undefined }): string {
  if (folder !== undefined) return folder
  throw usageError('the state folder is not named', 'name it with --state-dir', 'state-folder')
}

const reported = ({ file, found, sound }: CheckedDatabase): object => ({
  file,
  sound,
  problems: found?.problems ?? [],
  tables: (found?.tables ?? []).map(({ name, rows, unusable, torn }) => ({ name, rows: rows.length, unusable, torn })),
})

function databaseLines({ file, found, sound }: CheckedDatabase): string[] {
  if (found === null) return [`${file}: nothing is in it yet`]
  const tables = found.tables
    .filter(({ rows, unusable, torn }) => rows.length > 0 || unusable > 0 || torn)
    .map(({ name, rows, unusable, torn }) => {
      const lost = [...(unusable > 0 ? [`${unusable} unusable`] : []), ...(torn ? ['others unreadable'] : [])]
      return `  ${name}: ${rows.length} readable${lost.map((each) => `, ${each}`).join('')}`
    })
  const problems = found.problems.map((problem) => `  ${problem}`)
  return [`${file}: ${sound ? 'sound' : 'DAMAGED'}`, ...problems, ...tables]
}
