import Database from 'libsql'
import { makeNodeRecord } from '../../ironic-mock/conductor/records/new-records.js'
import { AT, node } from './store-records.js'

/** Tables of `ironic.db` in version 1, and those that version 2 has besides. */
const VERSION_1 = `
  CREATE TABLE nodes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL UNIQUE, name TEXT UNIQUE, instance_uuid TEXT UNIQUE,
    provision_state TEXT NOT NULL, driver TEXT NOT NULL, revision INTEGER NOT NULL, record TEXT NOT NULL
  );
  CREATE TABLE ports (
    id INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL UNIQUE, address TEXT NOT NULL UNIQUE, node TEXT NOT NULL,
    record TEXT NOT NULL
  );
  CREATE TABLE effects (
    id INTEGER PRIMARY KEY AUTOINCREMENT, node TEXT NOT NULL, kind TEXT NOT NULL, payload TEXT NOT NULL
  );
  CREATE TABLE deadlines (
    node TEXT NOT NULL, kind TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (node, kind)
  ) WITHOUT ROWID;
  CREATE TABLE inventories (node TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE history (id INTEGER PRIMARY KEY AUTOINCREMENT, node TEXT NOT NULL, record TEXT NOT NULL);
  CREATE INDEX history_by_node ON history (node);
`
const VERSION_2 = `
  CREATE TABLE resources (
    kind TEXT NOT NULL, id INTEGER NOT NULL, uuid TEXT NOT NULL, record TEXT NOT NULL,
    PRIMARY KEY (kind, id), UNIQUE (kind, uuid)
  ) WITHOUT ROWID;
  CREATE TABLE resource_ids (kind TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE sheets (
    node TEXT NOT NULL, kind TEXT NOT NULL, record TEXT NOT NULL, PRIMARY KEY (node, kind)
  ) WITHOUT ROWID;
  INSERT INTO resource_ids VALUES ('chassis', 7);
  INSERT INTO sheets VALUES ('a', 'traits', '["CUSTOM_X"]');
`

/** Writes an `ironic.db` as an ironstage before sums did: a node of uuid and name `a`, whose last port was removed. */
export function writeOlderIronic(path: string, version: 1 | 2): void {
  const db = new Database(path)
  db.exec(`PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; BEGIN; ${VERSION_1} ${version === 2 ? VERSION_2 : ''}`)
  const record = JSON.stringify({ ...makeNodeRecord(node('a'), {} as never, AT, 'a'), ...node('a'), id: 1, name: 'a' })
  db.prepare("INSERT INTO nodes VALUES (1, 'a', 'a', NULL, 'enroll', 'fake-hardware', 4, ?)").run(record)
  db.exec(`
    INSERT INTO deadlines VALUES ('a', 'd', 5.5);
    INSERT INTO history (node, record) VALUES ('a', '{"event":"one"}');
    INSERT INTO effects (node, kind, payload) VALUES ('a', 'k', '{"n":1}');
    INSERT INTO sqlite_sequence VALUES ('ports', 9);
    PRAGMA user_version = ${version};
    COMMIT;
  `)
  db.close()
}
