import type Database from 'libsql'
import { copyFile, open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  columnsOf,
  decodedRow,
  findingOf,
  openSqlite,
  temporaryFolder,
  type DatabaseForm,
  type Row,
  type TableForm,
} from '../../runtime/index.js'

/** Readable contents of a database. */
export interface Salvage {
  readonly file: string
  /** Problems of the file as a whole; empty for an undamaged one. */
  readonly problems: readonly string[]
  readonly tables: readonly SalvagedTable[]
}

export interface SalvagedTable {
  readonly name: string
  readonly rows: readonly Row[]
  /** Number of rows that were read but are not usable. */
  readonly unusable: number
  /** Whether parts of the table could not be read. */
  readonly torn: boolean
}

/**
 * Reads all readable rows of a database, from a copy, so the file itself does not change. Null for a missing or empty
 * file.
 */
export async function salvage(path: string, form: DatabaseForm): Promise<Salvage | null> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  )
  if (size === 0) return null
  // Readable by its owner only, since the copy contains the same secrets.
  await using temporary = await temporaryFolder()
  const folder = temporary.path
  const copy = join(folder, form.file)
  await copyFile(path, copy)
  for (const beside of ['-wal']) await copyFile(path + beside, copy + beside).catch(() => {})
  await padToItsSize(copy)
  const first = readAll(copy, form)
  if (!first.unreadable) return first.salvage
  // SQLite cannot read a file without its first page. The first page of a new database is equivalent.
  await rm(`${copy}-wal`, { force: true })
  await rm(`${copy}-shm`, { force: true })
  await replaceFirstPage(copy, folder, form)
  const second = readAll(copy, form)
  return second.unreadable ? first.salvage : { ...second.salvage, problems: first.salvage.problems }
}

function readAll(path: string, form: DatabaseForm): { salvage: Salvage; unreadable: boolean } {
  const problems: string[] = []
  let db: Database.Database | undefined
  try {
    db = openSqlite(path)
    db.prepare('SELECT count(*) FROM sqlite_master').get()
    problems.push(...integrityOf(db), ...versionProblem(db, form))
  } catch (error) {
    db?.close()
    const tables = form.tables.map(({ name }) => ({ name, rows: [], unusable: 0, torn: true }))
    return { salvage: { file: form.file, problems: [messageOf(error)], tables }, unreadable: true }
  }
  const opened = db
  try {
    const tables = form.tables.map((table) => readTable(opened, table))
    return { salvage: { file: form.file, problems, tables }, unreadable: tables.every(({ torn }) => torn) }
  } finally {
    opened.close()
  }
}

/** First few problems that SQLite reports, a line each. */
function integrityOf(db: Database.Database): string[] {
  try {
    const rows = db.prepare('PRAGMA integrity_check(5)').all() as Row[]
    return rows
      .flatMap((row) => Object.values(row).map(String))
      .filter((text) => text !== 'ok')
      .map(findingOf)
  } catch (error) {
    return [messageOf(error)]
  }
}

function versionProblem(db: Database.Database, { version }: DatabaseForm): string[] {
  if (version === 0) return []
  const found = Number((db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version)
  return found === version || found === 1 ? [] : [`its schema version is ${found}, expected ${version}`]
}

/**
 * Reads forwards up to an unreadable page, then backwards from the end, then the part between row by row, if the rows are
 * numbered.
 */
function readTable(db: Database.Database, table: TableForm): SalvagedTable {
  const found = new Map<string, Row>()
  let unusable = 0
  let torn = false
  const columns = columnsOf(table)
  let last = Math.max(LEAST_ROWS, lastNumber(db, table.name))
  const add = (raw: Row) => {
    const row = decodedRow(raw)
    if (row === undefined) return void unusable++
    if (typeof row.id === 'number') last = Math.min(MOST_ROWS, Math.max(last, row.id))
    const key = JSON.stringify(table.key.map((column) => row[column]))
    if (found.has(key)) return
    if (problemOf(table, row) === undefined) found.set(key, row)
    else unusable++
  }
  for (const order of ['ASC', 'DESC']) {
    // Order by the key columns of the table's tree: any other order would read all rows first, to sort them.
    const by = table.key.map((column) => `${table.name}.${column} ${order}`).join(', ')
    if (readInOrder(db, `SELECT ${columns} FROM ${table.name} ORDER BY ${by}`, add)) break
    torn = true
  }
  if (torn && table.key.join() === 'id' && isThere(db, table.name))
    for (let id = 1, one = db.prepare(`SELECT ${columns} FROM ${table.name} WHERE id = ?`); id <= last; id++)
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
  for (let offset = 0; ; offset += PAGE)
    try {
      const rows = page(offset, PAGE)
      rows.forEach(add)
      if (rows.length < PAGE) return true
    } catch {
      try {
        for (let one = offset; one < offset + PAGE; one++) page(one, 1).forEach(add)
      } catch {
        // This row is unreadable.
      }
      return false
    }
}

const PAGE = 50

function lastNumber(db: Database.Database, table: string): number {
  try {
    const row = db.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?').get(table) as { seq: unknown } | undefined
    return Math.min(MOST_ROWS, Number(row?.seq) || 0)
  } catch {
    return 0
  }
}

function isThere(db: Database.Database, table: string): boolean {
  try {
    db.prepare(`SELECT 1 FROM ${table} LIMIT 0`).all()
    return true
  } catch {
    return false
  }
}

/** Minimum number of row ids that are tried one by one. */
const LEAST_ROWS = 500
const MOST_ROWS = 100_000

function problemOf(table: TableForm, row: Row): string | undefined {
  try {
    return table.problem(row)
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
  if (isHeader && size > (await file.stat()).size && size <= LARGEST) await file.truncate(size)
}

/** Largest database that is extended, in bytes. */
const LARGEST = 2 ** 32

async function replaceFirstPage(path: string, folder: string, form: DatabaseForm): Promise<void> {
  const model = join(folder, 'model.db')
  const db = openSqlite(model)
  form.prepare(db)
  db.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE')
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
