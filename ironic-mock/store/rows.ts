import type Database from 'libsql'

/** SQL statements of the store, with their parameters in the order of the question marks. */
const SQL = {
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
  insertNode:
    'INSERT INTO nodes (id, uuid, name, instance_uuid, provision_state, driver, revision, record) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  updateNode:
    'UPDATE nodes SET name = ?, instance_uuid = ?, provision_state = ?, driver = ?, revision = ?, record = ? WHERE id = ?',
  /** Leaves out the indexed columns: SQLite would otherwise rewrite their indexes every time. */
  updateRecord: 'UPDATE nodes SET revision = ?, record = ? WHERE id = ?',
  updateState: 'UPDATE nodes SET provision_state = ?, revision = ?, record = ? WHERE id = ?',
  deleteNode: 'DELETE FROM nodes WHERE id = ?',
  allNodes: 'SELECT id, uuid, name, instance_uuid, provision_state, driver, revision, record FROM nodes ORDER BY id',
  insertPort: 'INSERT INTO ports (id, uuid, address, node, record) VALUES (?, ?, ?, ?, ?)',
  updatePort: 'UPDATE ports SET address = ?, node = ?, record = ? WHERE id = ?',
  deletePort: 'DELETE FROM ports WHERE id = ?',
  allPorts: 'SELECT record FROM ports ORDER BY id',
  lastIds: "SELECT name, seq FROM sqlite_sequence WHERE name IN ('nodes', 'ports', 'effects')",
  insertResource: 'INSERT INTO resources (id, kind, uuid, record) VALUES (?, ?, ?, ?)',
  updateResource: 'UPDATE resources SET record = ? WHERE kind = ? AND id = ?',
  deleteResource: 'DELETE FROM resources WHERE kind = ? AND id = ?',
  allResources: 'SELECT kind, record FROM resources ORDER BY kind, id',
  lastResource: 'INSERT OR REPLACE INTO resource_ids (kind, last) VALUES (?, ?)',
  lastResources: 'SELECT kind, last FROM resource_ids',
  insertEffect: 'INSERT INTO effects (id, node, kind, payload) VALUES (?, ?, ?, ?)',
  replaceEffect: 'UPDATE effects SET id = ?, kind = ?, payload = ? WHERE id = ?',
  deleteEffect: 'DELETE FROM effects WHERE id = ?',
  allEffects: 'SELECT id, node, kind, payload FROM effects ORDER BY id',
  putDeadline: 'INSERT OR REPLACE INTO deadlines (node, kind, at) VALUES (?, ?, ?)',
  deleteDeadline: 'DELETE FROM deadlines WHERE node = ? AND kind = ?',
  deleteDeadlines: 'DELETE FROM deadlines WHERE node = ?',
  allDeadlines: 'SELECT node, kind, at FROM deadlines',
  putInventory: 'INSERT OR REPLACE INTO inventories (node, record) VALUES (?, ?)',
  inventory: 'SELECT record FROM inventories WHERE node = ?',
  deleteInventory: 'DELETE FROM inventories WHERE node = ?',
  putNodeList: 'INSERT OR REPLACE INTO sheets (node, kind, record) VALUES (?, ?, ?)',
  nodeList: 'SELECT record FROM sheets WHERE node = ? AND kind = ?',
  deleteNodeLists: 'DELETE FROM sheets WHERE node = ?',
  insertHistory: 'INSERT INTO history (node, record) VALUES (?, ?)',
  history: 'SELECT record FROM history WHERE node = ? ORDER BY id',
  deleteHistory: 'DELETE FROM history WHERE node = ?',
}

export type Statements = Record<keyof typeof SQL, Database.Statement>

export function prepareStatements(db: Database.Database): Statements {
  return Object.fromEntries(Object.entries(SQL).map(([name, sql]) => [name, db.prepare(sql)])) as Statements
}
