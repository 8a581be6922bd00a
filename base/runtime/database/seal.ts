import type Database from 'libsql'
import { crc32 } from 'node:zlib'
import { asBytes, decodedRow, type DatabaseForm, type Row, type TableForm } from './database-form.js'

/**
 * A database's own account of its rows, so that its rows are known to be those of one commit and to be all of them. Pages of
 * SQLite have no checksum: a flipped bit, or a page of an earlier time, is seen by this alone.
 */
export interface Seal {
  /** Number of commits so far. */
  readonly commits: number
  /** Number of rows in all tables. */
  readonly rows: number
  /** Sum of the sums of all rows and of {@link COMMIT_SUM} for each commit, modulo {@link DIGEST_SIZE}. */
  readonly digest: number
}

export const UNWRITTEN: Seal = { commits: 0, rows: 0, digest: 0 }

/** The number of commits alone: reading the rest would make each commit dearer, and the seal vouches for it. */
export const commitCount = (commits: number): Seal => ({ commits, rows: -1, digest: -1 })

/** Added to the digest by each commit, so that it covers their number too; odd, so that no two numbers are alike. */
const COMMIT_SUM = 0x5d_ee_ce_66_d
/** A digest has 48 bits: it is an exact number in JavaScript and never overflows in SQLite. */
const DIGEST_SIZE = 2 ** 48
const DIGEST_MASK = DIGEST_SIZE - 1

/** The sum of a row, which is stored with it. It covers the table, so that no row passes for one of another table. */
export function rowSum(table: string, values: readonly unknown[]): number {
  const last = values.at(-1)
  const head = crc32(JSON.stringify([table, ...values.slice(0, -1)]))
  return crc32(typeof last === 'string' ? last : String(last), head)
}

/** The sum of a row as it was read. */
export const sumOfRow = ({ name, columns }: TableForm, row: Readonly<Row>): number =>
  rowSum(
    name,
    columns.map((column) => row[column]),
  )

/** Makes the seal of new and empty tables. Triggers keep it, so that no write passes it by. */
export function createSeal(db: Database.Database, { tables }: DatabaseForm): void {
  db.exec(`
    CREATE TABLE seal (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      commits INTEGER NOT NULL,
      row_count INTEGER NOT NULL,
      digest INTEGER NOT NULL,
      last_ids TEXT NOT NULL
    );
    INSERT INTO seal VALUES (1, 0, 0, 0, '');
  `)
  for (const { name } of tables) db.exec(triggersOf(name))
}

const triggersOf = (table: string): string => `
  CREATE TRIGGER ${table}_inserted AFTER INSERT ON ${table} BEGIN
    UPDATE seal SET row_count = row_count + 1, digest = (digest + NEW.sum) & ${DIGEST_MASK};
  END;
  CREATE TRIGGER ${table}_updated AFTER UPDATE OF sum ON ${table} BEGIN
    UPDATE seal SET digest = (digest - OLD.sum + NEW.sum) & ${DIGEST_MASK};
  END;
  CREATE TRIGGER ${table}_deleted AFTER DELETE ON ${table} BEGIN
    UPDATE seal SET row_count = row_count - 1, digest = (digest - OLD.sum) & ${DIGEST_MASK};
  END;
`

/** The last ids that SQLite has given: its own table of them has no triggers. */
const LAST_IDS = `
  SELECT coalesce(group_concat(name || '=' || seq, ' '), '') FROM sqlite_sequence
`

const hasLastIds = (db: Database.Database): boolean => names(db, 'table').includes('sqlite_sequence')

const countCommit = (db: Database.Database): string => `
  UPDATE seal
  SET
    commits = commits + 1,
    digest = (digest + ${COMMIT_SUM}) & ${DIGEST_MASK},
    last_ids = ${hasLastIds(db) ? `(${LAST_IDS})` : `''`}
`

/** A statement that counts a commit, as the last one of its transaction. */
export const sealing = (db: Database.Database): Database.Statement => db.prepare(countCommit(db))

/** Counts a commit, as the last statement of its transaction, and returns the seal. */
export function sealOnce(db: Database.Database): Seal {
  sealing(db).run()
  return readSeal(db)
}

export const isSealed = (db: Database.Database): boolean => names(db, 'table').includes('seal')

/** Names of the tables, or of the indexes that are not part of one. */
export const names = (db: Database.Database, type: 'table' | 'index'): string[] =>
  schemaOf(db)
    .filter((entry) => entry.type === type && entry.sql !== null)
    .map(({ name }) => name)

/** Tables, indexes and triggers with their SQL. */
export function schemaOf(db: Database.Database): { type: string; name: string; sql: string | null }[] {
  const rows = db
    .prepare(`SELECT ${asBytes(['type', 'name', 'sql'])} FROM sqlite_master ORDER BY type, name`)
    .all() as Row[]
  return rows.map((raw) => {
    const { type, name, sql } = decodedRow(raw) ?? {}
    if (typeof type !== 'string' || typeof name !== 'string') throw new SyntaxError('its list of tables is damaged')
    return { type, name, sql: typeof sql === 'string' ? sql : null }
  })
}

/** Total of the rows of a database. */
export interface RowTotal {
  rows: number
  /** Modulo {@link DIGEST_SIZE}. */
  sum: number
}

export function addRow(total: RowTotal, sum: number): void {
  total.rows++
  total.sum = (total.sum + sum) % DIGEST_SIZE
}

/** @throws Error when the seal cannot be read, or is not that of these rows */
export function checkedSeal(db: Database.Database, total: RowTotal): Seal {
  const seal = readSeal(db)
  const ofCommits = Number((BigInt(seal.commits) * BigInt(COMMIT_SUM)) % BigInt(DIGEST_SIZE))
  if (seal.rows !== total.rows) throw new SyntaxError(`it has ${total.rows} rows, ${seal.rows} were written`)
  if (seal.digest !== (total.sum + ofCommits) % DIGEST_SIZE)
    throw new SyntaxError('its rows are not those that were written together')
  return seal
}

/** @throws Error when it cannot be read */
export function readSeal(db: Database.Database): Seal {
  const columns = asBytes(['commits', 'row_count', 'digest', 'last_ids'])
  const [raw, ...others] = db.prepare(`SELECT ${columns} FROM seal`).all() as Row[]
  const { commits, row_count: rows, digest, last_ids: lastIds } = (raw && decodedRow(raw)) ?? {}
  if (others.length > 0 || !isCount(commits) || !isCount(rows) || !isCount(digest))
    throw new SyntaxError('its seal is damaged')
  if (lastIds !== readLastIds(db)) throw new SyntaxError('its last ids are not those that were written')
  return { commits, rows, digest }
}

function readLastIds(db: Database.Database): string | undefined {
  if (!hasLastIds(db)) return ''
  const raw = db.prepare(`SELECT CAST((${LAST_IDS}) AS BLOB) AS text`).all()[0] as Row
  return decodedRow(raw)?.text as string | undefined
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
