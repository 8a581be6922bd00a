import type Database from 'libsql'
import { isUtf8 } from 'node:buffer'
import { chmodSync, closeSync, existsSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { isDiskFull, UserError } from './error.js'

/** A database of a state folder: how an empty one is made, and what its rows must be like. */
export interface DatabaseForm {
  /** As in `ironic.db`. */
  readonly file: string
  /** `PRAGMA user_version`; 0 when it is not counted. */
  readonly version: number
  prepare(db: Database.Database): void
  readonly tables: readonly TableForm[]
}

export interface TableForm {
  readonly name: string
  readonly columns: readonly string[]
  /** Columns that identify a row. */
  readonly key: readonly string[]
  /** Why a row cannot be used; undefined when it can. */
  problem(row: Readonly<Record<string, unknown>>): string | undefined
}

/** Makes the file, when it is missing, and what SQLite keeps beside it readable for its owner only: it holds passwords. */
export function closeToOthers(path: string): void {
  closeSync(openSync(path, 'a', 0o600))
  for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600)
}

/**
 * Opens a database with what goes on in it at once.
 *
 * @throws UserError `damaged-state` for what is no database, or holds what cannot be used; other errors as they are
 */
export function openSound<T>(path: string, open: () => T): T {
  try {
    closeToOthers(path)
    return open()
  } catch (cause) {
    if (cause instanceof UserError) throw cause
    if (isDamage(cause)) throw damaged(path, cause)
    throw unusableDatabase(path, cause)
  }
}

/** A disk that is full, or cannot be read or written, in a sentence; other errors as they are. */
function unusableDatabase(path: string, cause: unknown): unknown {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const [sentence, remedy] = isDiskFull(cause)
    ? [`there is no space left for ${path}`, 'make some']
    : [`${path} cannot be read or written`, 'check the space and the health of the disk that it is on']
  if (!isDiskFull(cause) && !/^SQLITE_(IOERR|CANTOPEN|READONLY|PERM)|^E(IO|ROFS|ACCES|PERM)$/.test(code)) return cause
  return new UserError('state-folder', sentence, {
    cause,
    remedy: `${remedy}, or name another folder with --state-dir`,
  })
}

/** Closes a database with its log written back; on a full disk the log stays, and the next start reads it. */
export function closeWithoutLog(db: Database.Database): void {
  try {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch (error) {
    if (!isDiskFull(error)) throw error
  } finally {
    db.close()
  }
}

const damaged = (path: string, cause: unknown): UserError =>
  new UserError('damaged-state', `the database ${path} is damaged`, {
    cause,
    remedy: `ironstage state check --state-dir ${dirname(path)} says what can be read; ironstage state repair keeps that`,
  })

/** Errors of SQLite about pages, and of parsers about their contents; not those of locks, full disks and missing rights. */
function isDamage(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code.startsWith('SQLITE_')) return /^SQLITE_(CORRUPT|NOTADB|ERROR|MISMATCH|CONSTRAINT|FORMAT|RANGE)/.test(code)
  return error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError
}

/** @throws Error about the first damaged page or row */
export function checkRows(db: Database.Database, { tables }: DatabaseForm): void {
  const [found] = db.prepare('PRAGMA quick_check(1)').all() as { quick_check?: string }[]
  const [verdict] = Object.values(found ?? { ok: 'ok' })
  if (verdict !== 'ok') throw new SyntaxError(findingOf(String(verdict)))
  for (const table of tables)
    for (const raw of db.prepare(`SELECT ${columnsOf(table)} FROM ${table.name}`).iterate() as IterableIterator<Row>) {
      const row = decodedRow(raw)
      const problem = row === undefined ? 'it is not UTF-8' : table.problem(row)
      if (problem !== undefined) throw new SyntaxError(`a row of ${table.name}: ${problem}`)
    }
}

/** SQLite's finding as one line; SQLite may put a line with the database's name above it. */
export const findingOf = (verdict: string): string => verdict.replace(/^\*\*\*.*\n/, '').split('\n')[0] ?? verdict

export type Row = Record<string, unknown>

/**
 * The columns of a table for SELECT, texts as bytes: libsql ends the process at text that is not UTF-8. For
 * {@link decodedRow}.
 */
export const columnsOf = ({ columns }: TableForm): string =>
  columns
    .map(
      (name) =>
        `CASE typeof(${name}) WHEN 'text' THEN CAST(${name} AS BLOB) WHEN 'blob' THEN NULL ELSE ${name} END AS ${name}`,
    )
    .join(', ')

/** A row with its texts decoded; undefined when one of them is not UTF-8. */
export function decodedRow(row: Readonly<Row>): Row | undefined {
  const decoded: Row = {}
  for (const [name, value] of Object.entries(row)) {
    const bytes =
      value instanceof ArrayBuffer || ArrayBuffer.isView(value) ? Buffer.from(value as ArrayBuffer) : undefined
    if (bytes && !isUtf8(bytes)) return undefined
    decoded[name] = bytes ? bytes.toString() : value
  }
  return decoded
}

/**
 * Why a JSON text cannot be used: it does not parse, or lacks what its model has, or has it of another type. What is null
 * in the model may be anything.
 */
export function jsonProblem(text: unknown, model: Readonly<Record<string, unknown>> = {}): string | undefined {
  if (typeof text !== 'string') return 'it is no text'
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'its record is not JSON'
  }
  if (Object.keys(model).length === 0) return undefined
  if (typeOf(value) !== 'object') return 'its record is not an object'
  for (const [key, sample] of Object.entries(model)) {
    if (!Object.hasOwn(value as object, key)) return `its record lacks ${key}`
    const type = typeOf((value as Row)[key])
    if (sample !== null && type !== 'null' && type !== typeOf(sample)) return `its ${key} is no ${typeOf(sample)}`
  }
  return undefined
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
