/** Schema version, raised with every change of the tables; a database of a newer version is refused. */
export const SCHEMA_VERSION = 3

/** Versions whose rows have no sums: 1 had no resources and no lists. */
export const OLDER_VERSIONS = [1, 2]

/** One table for all other kinds of records; uniqueness besides the uuid is checked in memory. */
const RESOURCES_TABLE = `
  CREATE TABLE resources (
    kind TEXT NOT NULL,
    id INTEGER NOT NULL,
    uuid TEXT NOT NULL,
    sum INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (kind, id),
    UNIQUE (kind, uuid)
  ) WITHOUT ROWID;
  CREATE TABLE resource_ids (kind TEXT PRIMARY KEY, sum INTEGER NOT NULL, last INTEGER NOT NULL) WITHOUT ROWID;
`

/** Lists that belong to a node, read on demand. */
const NODE_LISTS = `
  CREATE TABLE sheets (
    node TEXT NOT NULL,
    kind TEXT NOT NULL,
    sum INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (node, kind)
  ) WITHOUT ROWID;
`

/**
 * Few indexes: only for uniqueness and history. Everything else is looked up in memory. A sum stands before what may be
 * long, so that it is read without it.
 */
export const TABLES = `
  CREATE TABLE nodes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL UNIQUE,
    name TEXT UNIQUE,
    instance_uuid TEXT UNIQUE,
    provision_state TEXT NOT NULL,
    driver TEXT NOT NULL,
    revision INTEGER NOT NULL,
    sum INTEGER NOT NULL,
    record TEXT NOT NULL
  );
  CREATE TABLE ports (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL UNIQUE,
    address TEXT NOT NULL UNIQUE,
    node TEXT NOT NULL,
    sum INTEGER NOT NULL,
    record TEXT NOT NULL
  );
  CREATE TABLE effects (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    node TEXT NOT NULL,
    kind TEXT NOT NULL,
    sum INTEGER NOT NULL,
    payload TEXT NOT NULL
  );
  CREATE TABLE deadlines (
    node TEXT NOT NULL,
    kind TEXT NOT NULL,
    sum INTEGER NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (node, kind)
  ) WITHOUT ROWID;
  CREATE TABLE inventories (node TEXT PRIMARY KEY, sum INTEGER NOT NULL, record TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE history (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    node TEXT NOT NULL,
    sum INTEGER NOT NULL,
    record TEXT NOT NULL
  );
  CREATE INDEX history_by_node ON history (node);
  ${RESOURCES_TABLE}
  ${NODE_LISTS}
`

/** Bytes of a page: large ones, since a node's record with its cached steps takes several KiB. */
export const PAGE_SIZE = 8192
