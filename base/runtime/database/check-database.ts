import type Database from 'libsql'
import { asBytes, decodedRow, type DatabaseForm, type Row, type TableForm } from './database-form.js'
import { addRow, sumOfRow, type RowTotal } from './seal.js'

/** @throws Error about the first damaged page or row */
export function checkRows(db: Database.Database, { tables, sealed }: DatabaseForm): RowTotal {
  const [problem] = pageProblems(db, 1)
  if (problem !== undefined) throw new SyntaxError(problem)
  const total = { rows: 0, sum: 0 }
  for (const table of tables)
    for (const raw of db.prepare(selectAll(table, sealed)).iterate() as IterableIterator<Row>) {
      const row = decodedRow(raw)
      const damage = row === undefined ? 'it is not UTF-8' : rowProblem(table, row, sealed)
      if (damage !== undefined) throw new SyntaxError(`a row of ${table.name}: ${damage}`)
      if (sealed) addRow(total, row!.sum as number)
    }
  return total
}

/** All rows of a table, for {@link decodedRow}. */
export const selectAll = ({ name, columns }: TableForm, sealed: boolean): string =>
  `SELECT ${asBytes(sealed ? [...columns, 'sum'] : columns)} FROM ${name}`

/** Why a row that was read cannot be used; undefined when it can. */
export function rowProblem(table: TableForm, row: Readonly<Row>, sealed: boolean): string | undefined {
  if (sealed && row.sum !== sumOfRow(table, row)) return 'it is not as it was written'
  return table.problem(row)
}

/** The first few findings of SQLite about pages and indexes. */
export function pageProblems(db: Database.Database, most: number): string[] {
  const found = db.prepare(`PRAGMA integrity_check(${most})`).all() as { integrity_check: string }[]
  return found
    .map(({ integrity_check: text }) => text)
    .filter((text) => text !== 'ok')
    .map(findingOf)
}

/** SQLite's finding as one line; SQLite may put a line with the database's name above it. */
const findingOf = (verdict: string): string => verdict.replace(/^\*\*\*.*\n/, '').split('\n')[0] ?? verdict
