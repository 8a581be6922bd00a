import type Database from 'libsql'
import { UserError } from '../../runtime/index.js'
import { ERRORS } from '../errors.js'

/** Schema version, raised with every change of the tables; a database of another version is refused. */
export const SCHEMA_VERSION = 2

/** One table for all other kinds of records; uniqueness besides the uuid is checked in memory. */
const RESOURCES = `
  CREATE TABLE resources (
    kind TEXT NOT NULL,
    id INTEGER NOT NULL,
    uuid TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (kind, id),
    UNIQUE (kind, uuid)
  ) WITHOUT ROWID;
  CREATE TABLE resource_ids (kind TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
`

/** Lists that belong to a node, read on demand. */
const NODE_LISTS = `
  CREATE TABLE IF NOT EXISTS sheets (node TEXT NOT NULL, kind TEXT NOT NULL, record TEXT NOT NULL, PRIMARY KEY (node, kind)) WITHOUT ROWID;
`

/** Few indexes: only for uniqueness and history. Everything else is looked up in memory. */
const TABLES = `
  CREATE TABLE nodes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL UNIQUE,
    name TEXT UNIQUE,
    instance_uuid TEXT UNIQUE,
    provision_state TEXT NOT NULL,
    driver TEXT NOT NULL,
    revision INTEGER NOT NULL,
    record TEXT NOT NULL
  );
  CREATE TABLE ports (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL UNIQUE,
    address TEXT NOT NULL UNIQUE,
    node TEXT NOT NULL,
    record TEXT NOT NULL
  );
  CREATE TABLE effects (id INTEGER PRIMARY KEY AUTOINCREMENT, node TEXT NOT NULL, kind TEXT NOT NULL, payload TEXT NOT NULL);
  CREATE TABLE deadlines (node TEXT NOT NULL, kind TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (node, kind)) WITHOUT ROWID;
  CREATE TABLE inventories (node TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE history (id INTEGER PRIMARY KEY AUTOINCREMENT, node TEXT NOT NULL, record TEXT NOT NULL);
  CREATE INDEX history_by_node ON history (node);
  ${RESOURCES}
  ${NODE_LISTS}
`

/** Bytes of a page: large ones, since a node's record with its cached steps takes several KiB. */
export const PAGE_SIZE = 8192

/**
 * Creates the tables in an empty database, or checks the version of one that has them; a database of version 1 gets the
 * tables that were added since.
 *
 * @throws UserError when the file was written by another version of the schema
 */
export function prepareSchema(db: Database.Database, path: string): void {
  const version = Number((db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version)
  if (version === SCHEMA_VERSION) return
  if (version === 0 && db.prepare('SELECT name FROM sqlite_master LIMIT 1').get() !== undefined)
    throw new SyntaxError('it holds the tables of something else')
  if (version === 1)
    return void db.exec(`BEGIN; ${RESOURCES} ${NODE_LISTS} PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`)
  if (version !== 0)
    throw new UserError(
      'store-version',
      `the database ${path} has schema version ${version}, this program writes ${SCHEMA_VERSION}`,
      {
        remedy: ERRORS['store-version'].remedy,
      },
    )
  db.exec(`BEGIN; ${TABLES} PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`)
}
