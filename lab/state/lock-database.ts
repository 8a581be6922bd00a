import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type Database from 'libsql'
import {
  decodedRow,
  jsonProblem,
  replaceFileSync,
  rowSum,
  selectAll,
  type DatabaseForm,
  type Row,
} from '../../base/runtime/index.js'

/** Prefix of the names of BMC accounts, whose values are JSON. */
export const BMC_ACCOUNT = 'bmc-account '

/** A value for later starts. Of two copies the one with the higher revision is the later one. */
export interface RememberedValue {
  readonly value: string
  readonly revision: number
}

export type RememberedValues = ReadonlyMap<string, RememberedValue>

/** Contents of the file `lock`: names and values for later starts. BMC accounts are stored nowhere else. */
export const LOCK_DATABASE: DatabaseForm = {
  file: 'lock',
  version: 0,
  older: [],
  schema: `
    CREATE TABLE IF NOT EXISTS remembered (
      name TEXT PRIMARY KEY,
      value TEXT,
      revision INTEGER NOT NULL DEFAULT 0,
      sum INTEGER NOT NULL DEFAULT 0
    )
  `,
  pageSize: 4096,
  sealed: false,
  tables: [
    { name: 'remembered', columns: ['name', 'revision', 'sum', 'value'], key: ['name'], problem: lockRowProblemOf },
  ],
}

/** The form before revisions and sums. */
const OLDER_LOCK_DATABASE: DatabaseForm = {
  ...LOCK_DATABASE,
  tables: [{ name: 'remembered', columns: ['name', 'value'], key: ['name'], problem: lockRowProblemOf }],
}

/** Form of an open `lock`. */
export function formOfLock(lock: Database.Database): DatabaseForm {
  const columns = lock.prepare("SELECT count(*) AS found FROM pragma_table_info('remembered') WHERE name = 'sum'")
  return (columns.all() as { found: number }[])[0]?.found === 1 ? LOCK_DATABASE : OLDER_LOCK_DATABASE
}

/** Adds the columns that an older `lock` lacks. */
export function addColumns(lock: Database.Database): void {
  if (formOfLock(lock) === LOCK_DATABASE) return
  lock.exec('ALTER TABLE remembered ADD COLUMN revision INTEGER NOT NULL DEFAULT 0')
  lock.exec('ALTER TABLE remembered ADD COLUMN sum INTEGER NOT NULL DEFAULT 0')
}

function lockRowProblemOf({ name, value, revision = 0, sum = 0 }: Readonly<Row>): string | undefined {
  if (typeof name !== 'string') return 'its name is no text'
  const isOlder = revision === 0 && sum === 0
  if (!isOlder && sum !== sumOf(name, { value, revision })) return 'it is not as it was written'
  if (!name.startsWith(BMC_ACCOUNT)) return typeof value === 'string' ? undefined : 'its value is no text'
  return jsonProblem(value, { username: '', password: '' })
}

const sumOf = (name: string, { value, revision }: { value: unknown; revision: unknown }): number =>
  rowSum('remembered', [name, revision, value])

/** In folders of before: a process uses the folder. Empty in the second copy once no process does. */
export const IN_USE = 'in-use'

/** Reads from a second copy whether a process uses a folder of before. */
export function markIn(secondCopy: RememberedValues): 'in use' | 'not in use' | 'unknown' {
  const mark = secondCopy.get(IN_USE)
  if (mark === undefined) return 'unknown'
  return mark.value === '' ? 'not in use' : 'in use'
}

/** Second copy of the contents of `lock`: lines of JSON, of which the last one of a name counts. */
const SECOND_COPY = 'remembered.jsonl'

/** Reads the second copy; empty when there is none. Damaged lines are skipped. */
export function secondCopyIn(folder: string): Map<string, RememberedValue> {
  const found = new Map<string, RememberedValue>()
  for (const line of readLockText(join(folder, SECOND_COPY)).split('\n')) {
    const row = parseLockRow(line)
    if (row !== undefined && lockRowProblemOf(row) === undefined) found.set(row.name, valueOf(row))
  }
  return found
}

function readLockText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

interface LockRow extends Row {
  name: string
  value: string
  revision: number
  sum: number
}

function parseLockRow(line: string): LockRow | undefined {
  try {
    const [name, value, revision = 0, sum = 0] = JSON.parse(line) as unknown[]
    const isRow = typeof name === 'string' && typeof value === 'string'
    return isRow ? { name, value, revision: Number(revision), sum: Number(sum) } : undefined
  } catch {
    return undefined
  }
}

const valueOf = ({ value, revision }: LockRow): RememberedValue => ({ value, revision })

/** Appends to the second copy. */
export function copyOne(folder: string, name: string, value: RememberedValue): void {
  appendFileSync(join(folder, SECOND_COPY), formatLockRow([name, value]), { mode: 0o600 })
}

/** Rewrites the second copy when it differs. */
export function copyAll(folder: string, values: RememberedValues): void {
  const file = join(folder, SECOND_COPY)
  const text = [...values].map(formatLockRow).join('')
  if (text === readLockText(file)) return
  replaceFileSync(file, text)
}

const formatLockRow = (entry: readonly [name: string, value: RememberedValue]): string => {
  const { name, value, revision, sum } = lockRow(entry)
  return `${JSON.stringify([name, value, revision, sum])}\n`
}

/** A row of `lock`, with its sum. */
export function lockRow([name, { value, revision }]: readonly [name: string, value: RememberedValue]): LockRow {
  return { name, value, revision, sum: sumOf(name, { value, revision }) }
}

/** Merges both copies, without {@link IN_USE}: the later value of a name counts, and at the same revision the first one. */
export function bothCopies(first: RememberedValues, second: RememberedValues): Map<string, RememberedValue> {
  const both = new Map(first)
  for (const [name, value] of second) if (value.revision > (both.get(name)?.revision ?? -1)) both.set(name, value)
  both.delete(IN_USE)
  return both
}

/** The usable rows of `lock`. */
export const valuesIn = (rows: readonly Row[]): Map<string, RememberedValue> =>
  new Map(
    rows.map((row) => [String(row.name), { value: String(row.value), revision: Number(row.revision ?? 0) }] as const),
  )

/** Reads the contents of `lock`. */
export function readLock(lock: Database.Database): Map<string, RememberedValue> {
  const [table] = formOfLock(lock).tables
  const rows = lock.prepare(`${selectAll(table!, false)} ORDER BY name`).all() as Row[]
  return valuesIn(rows.map((row) => decodedRow(row)!))
}

const PUT = `
  INSERT INTO remembered (name, value, revision, sum) VALUES (?, ?, ?, ?)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value, revision = excluded.revision, sum = excluded.sum
`

/** Writes a value to `lock`. */
export function putInLock(lock: Database.Database, name: string, remembered: RememberedValue): void {
  const { value, revision, sum } = lockRow([name, remembered])
  lock.prepare(PUT).run(name, value, revision, sum)
}
