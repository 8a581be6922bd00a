import type Database from 'libsql'
import { copyFile, open, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import {
  addRow,
  checkedSeal,
  createTables,
  decodedRow,
  hostBoot,
  isSealed,
  openSqlite,
  pageProblems,
  readMark,
  readSeal,
  rowProblem,
  schemaOf,
  selectAll,
  standingOf,
  temporaryFolder,
  versionOf,
  type CommitMark,
  type DatabaseContents,
  type DatabaseForm,
  type Row,
  type TableForm,
} from '../../base/runtime/index.js'

/** Readable contents of a database. */
export interface Salvage {
  readonly file: string
  /** Problems of the file as a whole; empty for an undamaged one. */
  readonly problems: readonly string[]
  readonly tables: readonly SalvagedTable[]
}

interface SalvagedTable {
  readonly name: string
  readonly rows: readonly Row[]
  /** Number of rows that were read but are not usable. */
  readonly unusable: number
  /** True if parts of the table could not be read. */
  readonly torn: boolean
}

/**
 * Reads all readable rows of a database, from a copy, so the file itself does not change. Null for a missing or empty
 * file that never had any.
 */
export async function salvageRows(path: string, form: DatabaseForm): Promise<Salvage | null> {
  const mark = markOf(path, form)
  // Readable by its owner only, since the copy contains the same secrets.
  await using temporary = await temporaryFolder()
  const folder = temporary.path
  const copy = join(folder, form.file)
  // The log first: SQLite may move it into the database meanwhile, when the last statement of a closed one is collected.
  const hasLog = await copyIfThere(`${path}-wal`, `${copy}-wal`)
  const lossOf = (found: DatabaseContents): string[] => (form.sealed ? lossIn(path, found, mark, hasLog) : [])
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  )
  if (size === 0) return missing(form, lossOf('missing'))
  await copyFile(path, copy)
  await padToItsSize(copy)
  const first = readAll(copy, form, lossOf)
  if (first.salvage.problems.length === 0) return first.salvage
  const alone = hasLog ? await readWithoutLog(path, copy, form, lossOf) : undefined
  if (alone) return alone
  if (!first.unreadable) return first.salvage
  // SQLite cannot read a file without its first page. The first page of a new database is equivalent.
  await replaceFirstPage(copy, folder, form)
  const second = readAll(copy, form, lossOf)
  return second.unreadable ? first.salvage : { ...second.salvage, problems: first.salvage.problems }
}

/** @returns false if there is no such file */
const copyIfThere = (path: string, copy: string): Promise<boolean> =>
  copyFile(path, copy).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )

const missing = ({ file, tables }: DatabaseForm, problems: readonly string[]): Salvage | null =>
  problems.length === 0
    ? null
    : { file, problems, tables: tables.map(({ name }) => ({ name, rows: [], unusable: 0, torn: false })) }

/** Reads the database alone where its log is of another time: it may be whole without it. */
async function readWithoutLog(
  path: string,
  copy: string,
  form: DatabaseForm,
  lossOf: (found: DatabaseContents) => string[],
): Promise<Salvage | undefined> {
  for (const end of ['', '-wal', '-shm', '-journal']) await rm(copy + end, { force: true })
  await copyFile(path, copy)
  await padToItsSize(copy)
  const { salvage: found } = readAll(copy, form, lossOf)
  if (!form.sealed || !isWhole(found)) return undefined
  return { ...found, problems: [`its log ${form.file}-wal is of another time: nothing is lost without it`] }
}

const isWhole = ({ problems, tables }: Salvage): boolean =>
  problems.length === 0 && tables.every(({ torn, unusable }) => !torn && unusable === 0)

/** The mark of a database, or what is wrong with it. */
function markOf(path: string, { sealed }: DatabaseForm): CommitMark | string | undefined {
  if (!sealed) return undefined
  try {
    return readMark(path)
  } catch (error) {
    return messageOf(error)
  }
}

function lossIn(
  path: string,
  found: DatabaseContents,
  mark: CommitMark | string | undefined,
  hasLog: boolean,
): string[] {
  if (typeof mark === 'string') return [mark]
  const standing = standingOf(path, found, mark, { boot: hostBoot(), log: hasLog ? 'there' : 'missing' })
  if (standing.kind === 'whole') return []
  return [standing.kind === 'no-log' ? logIsMissing(basename(path)) : standing.sentence]
}

const logIsMissing = (file: string): string => `${file}-wal is missing: the last changes were in it`

function readAll(
  path: string,
  form: DatabaseForm,
  lossOf: (found: DatabaseContents) => string[],
): { salvage: Salvage; unreadable: boolean } {
  const { file } = form
  const problems: string[] = []
  let db: Database.Database | undefined
  let sealed: boolean
  try {
    db = openSqlite(path)
    if (form.sealed && schemaOf(db).length === 0) return readEmpty(db, form, lossOf)
    sealed = isSealed(db)
    problems.push(...pagesOf(db), ...versionProblem(db, form, sealed))
  } catch (error) {
    db?.close()
    const tables = form.tables.map(({ name }) => ({ name, rows: [], unusable: 0, torn: true }))
    return { salvage: { file, problems: [messageOf(error)], tables }, unreadable: true }
  }
  const opened = db
  try {
    const tables = form.tables.map((table) => readTable(opened, table, sealed))
    if (form.sealed) problems.push(...sealProblems(opened, tables, sealed, lossOf))
    return { salvage: { file, problems, tables }, unreadable: tables.every(({ torn }) => torn) }
  } finally {
    opened.close()
  }
}

/** A database whose tables were all in its log. */
function readEmpty(
  db: Database.Database,
  form: DatabaseForm,
  lossOf: (found: DatabaseContents) => string[],
): { salvage: Salvage; unreadable: boolean } {
  db.close()
  const tables = form.tables.map(({ name }) => ({ name, rows: [], unusable: 0, torn: false }))
  return { salvage: { file: form.file, problems: lossOf('empty'), tables }, unreadable: false }
}

/** Problems by the seal and the mark: whether the rows are those that were written together, and whether later ones are lost. */
function sealProblems(
  db: Database.Database,
  tables: readonly SalvagedTable[],
  sealed: boolean,
  lossOf: (found: DatabaseContents) => string[],
): string[] {
  if (!sealed) return lossOf('older')
  const total = { rows: 0, sum: 0 }
  for (const { rows } of tables) for (const { sum } of rows) addRow(total, sum as number)
  const isComplete = tables.every(({ torn, unusable }) => !torn && unusable === 0)
  try {
    return lossOf(isComplete ? checkedSeal(db, total) : readSeal(db))
  } catch (error) {
    return [messageOf(error)]
  }
}

/** First few problems that SQLite reports, a line each. */
function pagesOf(db: Database.Database): string[] {
  try {
    return pageProblems(db, 5)
  } catch (error) {
    return [messageOf(error)]
  }
}

function versionProblem(
  db: Database.Database,
  { version, older, sealed: isExpected }: DatabaseForm,
  sealed: boolean,
): string[] {
  if (!isExpected) return []
  const found = versionOf(db)
  return found === version || (older.includes(found) && !sealed)
    ? []
    : [`its schema version is ${found}, expected ${version}`]
}

/**
 * Reads forwards up to an unreadable page, then backwards from the end, then the part between row by row, if the rows are
 * numbered.
 */
function readTable(db: Database.Database, table: TableForm, sealed: boolean): SalvagedTable {
  const found = new Map<string, Row>()
  let unusable = 0
  let torn = false
  const all = selectAll(table, sealed)
  let last = Math.max(MIN_TRIED_ROWS, lastNumber(db, table.name))
  const add = (raw: Row) => {
    const row = decodedRow(raw)
    if (row === undefined) return void unusable++
    if (typeof row.id === 'number') last = Math.min(MAX_TRIED_ROWS, Math.max(last, row.id))
    const key = JSON.stringify(table.key.map((column) => row[column]))
    if (found.has(key)) return
    if (rowProblemOf(table, row, sealed) === undefined) found.set(key, row)
    else unusable++
  }
  for (const order of ['ASC', 'DESC']) {
    // Order by the key columns of the table's tree: any other order would read all rows first, to sort them.
    const by = table.key.map((column) => `${table.name}.${column} ${order}`).join(', ')
    if (readInOrder(db, `${all} ORDER BY ${by}`, add)) break
    torn = true
  }
  if (torn && table.key.join() === 'id' && hasTable(db, table.name))
    for (let id = 1, one = db.prepare(`${all} WHERE id = ?`); id <= last; id++)
      try {
        const row = one.get(id) as Row | undefined
        if (row) add(row)
      } catch {
        // The row's page is lost.
      }
  return { name: table.name, rows: [...found.values()], unusable, torn }
}

/** Reads a few rows at a time, and single rows up to an unreadable one. Returns whether all rows were readable. */
function readInOrder(db: Database.Database, select: string, add: (row: Row) => void): boolean {
  const page = (offset: number, limit: number): Row[] =>
    db.prepare(`${select} LIMIT ${limit} OFFSET ${offset}`).all() as Row[]
  for (let offset = 0; ; offset += SALVAGE_PAGE_ROWS)
    try {
      const rows = page(offset, SALVAGE_PAGE_ROWS)
      rows.forEach(add)
      if (rows.length < SALVAGE_PAGE_ROWS) return true
    } catch {
      try {
        for (let one = offset; one < offset + SALVAGE_PAGE_ROWS; one++) page(one, 1).forEach(add)
      } catch {
        // This row is unreadable.
      }
      return false
    }
}

const SALVAGE_PAGE_ROWS = 50

function lastNumber(db: Database.Database, table: string): number {
  try {
    const row = db.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?').get(table) as { seq: unknown } | undefined
    return Math.min(MAX_TRIED_ROWS, Number(row?.seq) || 0)
  } catch {
    return 0
  }
}

function hasTable(db: Database.Database, table: string): boolean {
  try {
    db.prepare(`SELECT 1 FROM ${table} LIMIT 0`).all()
    return true
  } catch {
    return false
  }
}

/** Minimum number of row ids that are tried one by one. */
const MIN_TRIED_ROWS = 500
const MAX_TRIED_ROWS = 100_000

function rowProblemOf(table: TableForm, row: Row, sealed: boolean): string | undefined {
  try {
    return rowProblem(table, row, sealed)
  } catch (error) {
    return messageOf(error)
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Extends a truncated file with zeros. SQLite refuses a file that is shorter than its header says. */
async function padToItsSize(path: string): Promise<void> {
  await using file = await open(path, 'r+')
  const header = Buffer.alloc(32)
  await file.read(header, 0, 32, 0)
  const written = header.readUInt16BE(16)
  const size = (written === 1 ? 65_536 : written) * header.readUInt32BE(28)
  const isHeader = header.toString('latin1', 0, 15) === 'SQLite format 3'
  if (isHeader && size > (await file.stat()).size && size <= MAX_DATABASE_BYTES) await file.truncate(size)
}

/** Largest database that is extended, in bytes. */
const MAX_DATABASE_BYTES = 2 ** 32

async function replaceFirstPage(path: string, folder: string, form: DatabaseForm): Promise<void> {
  const model = join(folder, 'model.db')
  const db = openSqlite(model)
  createTables(db, form)
  db.exec('PRAGMA journal_mode = DELETE')
  const [{ page_size: page } = { page_size: 4096 }] = db.prepare('PRAGMA page_size').all() as { page_size: number }[]
  db.close()
  const bytes = Buffer.alloc(page)
  await using from = await open(model)
  await from.read(bytes, 0, page, 0)
  await using to = await open(path, 'r+')
  // Number of pages in the file, and an empty list of free pages.
  bytes.writeUInt32BE(Math.ceil((await to.stat()).size / page), 28)
  bytes.fill(0, 32, 40)
  await to.write(bytes, 0, page, 0)
}
