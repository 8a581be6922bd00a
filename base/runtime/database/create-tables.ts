import type Database from 'libsql'
import { checkRows } from './check-database.js'
import { asBytes, decodedRow, type DatabaseForm, type Row, type TableForm } from './database-form.js'
import { createSeal, names, schemaOf, sealOnce, sumOfRow, type Seal, UNWRITTEN } from './seal.js'
import { openSqlite } from '../sqlite.js'

/** Makes the tables of an empty database. */
export function createTables(db: Database.Database, form: DatabaseForm): Seal {
  // Has an effect only before the first table.
  db.exec(`PRAGMA page_size = ${form.pageSize}`)
  return inTransaction(db, () => {
    create(db, form)
    return form.sealed ? sealOnce(db) : UNWRITTEN
  })
}

function create(db: Database.Database, form: DatabaseForm): void {
  db.exec(form.schema)
  if (form.sealed) createSeal(db, form)
  db.exec(`PRAGMA user_version = ${form.version}`)
}

/** Gives the rows of an older database their sums, and the database its seal. */
export function migrateTables(db: Database.Database, form: DatabaseForm): Seal {
  const older = { ...form, sealed: false, tables: tablesIn(db, form) }
  checkRows(db, older)
  return inTransaction(db, () => {
    for (const index of names(db, 'index')) db.exec(`DROP INDEX ${index}`)
    for (const { name } of older.tables) db.exec(`ALTER TABLE ${name} RENAME TO ${name}_before`)
    create(db, form)
    for (const table of older.tables) moveRows(db, table)
    return sealOnce(db)
  })
}

/** The tables of a form that a database of an older version has. */
function tablesIn(db: Database.Database, { tables }: DatabaseForm): TableForm[] {
  const present = names(db, 'table')
  return tables.filter(({ name }) => present.includes(name))
}

function moveRows(db: Database.Database, table: TableForm): void {
  const { name, columns } = table
  const insert = insertion(db, table)
  for (const raw of db.prepare(`SELECT ${asBytes(columns)} FROM ${name}_before`).all() as Row[])
    insert(decodedRow(raw)!)
  // Ids are never reused, even after their rows are gone.
  if (names(db, 'table').includes('sqlite_sequence'))
    db.exec(`
      DELETE FROM sqlite_sequence WHERE name = '${name}';
      UPDATE sqlite_sequence SET name = '${name}' WHERE name = '${name}_before';
    `)
  db.exec(`DROP TABLE ${name}_before`)
}

/** Inserts a row with its sum. Of two rows with the same key the first one is kept; returns how many were inserted. */
export function insertion(db: Database.Database, table: TableForm, sealed = true): (row: Readonly<Row>) => number {
  const { name, columns } = table
  const filled = sealed ? [...columns, 'sum'] : columns
  const places = filled.map(() => '?').join(', ')
  const insert = db.prepare(`INSERT OR IGNORE INTO ${name} (${filled.join(', ')}) VALUES (${places})`)
  return (row) => {
    const values = columns.map((column) => row[column])
    return insert.run(...values, ...(sealed ? [sumOfRow(table, row)] : [])).changes
  }
}

/** @throws Error when tables, indexes or triggers are not those of the form */
export function checkSchema(db: Database.Database, form: DatabaseForm): void {
  if (JSON.stringify(schemaOf(db)) !== madeSchema(form))
    throw new SyntaxError('its tables are not those that were made')
}

/** The schemas of empty databases. */
const madeSchemas = new WeakMap<DatabaseForm, string>()

function madeSchema(form: DatabaseForm): string {
  const known = madeSchemas.get(form)
  if (known !== undefined) return known
  const model = openSqlite(':memory:')
  try {
    createTables(model, form)
    const schema = JSON.stringify(schemaOf(model))
    madeSchemas.set(form, schema)
    return schema
  } finally {
    model.close()
  }
}

function inTransaction<T>(db: Database.Database, work: () => T): T {
  db.exec('BEGIN IMMEDIATE')
  try {
    const value = work()
    db.exec('COMMIT')
    return value
  } catch (error) {
    // SQLite itself rolls back when the disk is full.
    if (db.inTransaction) db.exec('ROLLBACK')
    throw error
  }
}
