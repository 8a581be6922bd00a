import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type Database from 'libsql'
import { jsonProblem, replaceFileSync, type DatabaseForm } from '../../runtime/index.js'

/** Prefix of the names of BMC accounts, whose values are JSON. */
export const BMC_ACCOUNT = 'bmc-account '

/** Contents of the file `lock`: names and values for later starts. BMC accounts are stored nowhere else. */
export const LOCK_DATABASE: DatabaseForm = {
  file: 'lock',
  version: 0,
  prepare: (db) => void db.exec('CREATE TABLE IF NOT EXISTS remembered (name TEXT PRIMARY KEY, value TEXT)'),
  tables: [{ name: 'remembered', columns: ['name', 'value'], key: ['name'], problem: problemOf }],
}

function problemOf({ name, value }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof name !== 'string') return 'its name is no text'
  if (!name.startsWith(BMC_ACCOUNT)) return typeof value === 'string' ? undefined : 'its value is no text'
  return jsonProblem(value, { username: '', password: '' })
}

/** Marks that a process uses the folder; empty in the second copy once no process does. */
export const IN_USE = 'in-use'

/** Reads from a second copy whether a process uses the folder. A copy that is damaged, or of an older ironstage, says nothing. */
export function markIn(secondCopy: ReadonlyMap<string, string>): 'in use' | 'not in use' | 'unknown' {
  const mark = secondCopy.get(IN_USE)
  if (mark === undefined) return 'unknown'
  return mark === '' ? 'not in use' : 'in use'
}

/** Second copy of the contents of `lock`: lines of JSON, of which the last one of a name counts. */
const SECOND_COPY = 'remembered.jsonl'

/** Reads the second copy; empty when there is none. Damaged lines are skipped. */
export function secondCopyIn(folder: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const line of textOf(join(folder, SECOND_COPY)).split('\n')) {
    const row = rowOf(line)
    if (row && problemOf(row) === undefined) found.set(row.name, row.value)
  }
  return found
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

function rowOf(line: string): { name: string; value: string } | undefined {
  try {
    const [name, value] = JSON.parse(line) as unknown[]
    return typeof name === 'string' && typeof value === 'string' ? { name, value } : undefined
  } catch {
    return undefined
  }
}

/** Appends to the second copy. */
export function copyOne(folder: string, name: string, value: string): void {
  appendFileSync(join(folder, SECOND_COPY), lineOf([name, value]), { mode: 0o600 })
}

/** Rewrites the second copy when it differs. */
export function copyAll(folder: string, rows: ReadonlyMap<string, string>): void {
  const file = join(folder, SECOND_COPY)
  const text = [...rows].map(lineOf).join('')
  if (text === textOf(file)) return
  replaceFileSync(file, text)
}

const lineOf = (row: readonly [name: string, value: string]): string => `${JSON.stringify(row)}\n`

/** Merges both copies, without {@link IN_USE}; the first one takes precedence. */
export const bothCopies = (
  first: ReadonlyMap<string, string>,
  second: ReadonlyMap<string, string>,
): Map<string, string> => {
  const both = new Map([...second, ...first])
  both.delete(IN_USE)
  return both
}

/** Reads the contents of `lock`. */
export const rowsOf = (lock: Database.Database): Map<string, string> =>
  new Map(
    (lock.prepare('SELECT name, value FROM remembered ORDER BY name').all() as { name: string; value: string }[]).map(
      ({ name, value }) => [name, value],
    ),
  )
