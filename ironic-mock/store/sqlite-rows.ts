import type Database from 'libsql'
import { rowSum, type SealedDatabase } from '../../base/runtime/index.js'
import type { NodeListKind, PortRecord, ResourceKind, ResourceRecords } from '../../base/wire/index.js'
import { IRONIC_DATABASE } from './database-form.js'
import { NodeEntry, Records, parseObject, type NodeColumns } from './record-store.js'
import type { RowKey, StoredInventory, StoreRows } from './store-rows.js'
import type { HistoryEntry, StoredEffect } from './store.js'
import { joinJsonList, type NodeTexts } from './store-state.js'

/** Inserts a row or replaces what it holds. `INSERT OR REPLACE` would delete the old row behind the back of the seal. */
const upsert = (table: string, key: string, value: string): string =>
  `INSERT INTO ${table} (${key}, sum, ${value}) VALUES (${key.replaceAll(/\w+/g, '?')}, ?, ?)
   ON CONFLICT (${key}) DO UPDATE SET sum = excluded.sum, ${value} = excluded.${value}`

/** SQL statements of the store, with their parameters in the order of the question marks. */
const SQL = {
  begin: 'BEGIN IMMEDIATE',
  rollback: 'ROLLBACK',
  insertNode:
    'INSERT INTO nodes (id, uuid, name, instance_uuid, provision_state, driver, revision, sum, record) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  updateNode:
    'UPDATE nodes SET name = ?, instance_uuid = ?, provision_state = ?, driver = ?, revision = ?, sum = ?, record = ? WHERE id = ?',
  /** Leaves out the indexed columns: SQLite would otherwise rewrite their indexes every time. */
  updateRecord: 'UPDATE nodes SET revision = ?, sum = ?, record = ? WHERE id = ?',
  updateState: 'UPDATE nodes SET provision_state = ?, revision = ?, sum = ?, record = ? WHERE id = ?',
  deleteNode: 'DELETE FROM nodes WHERE id = ?',
  allNodes: 'SELECT id, uuid, name, instance_uuid, provision_state, driver, revision, record FROM nodes ORDER BY id',
  insertPort: 'INSERT INTO ports (id, uuid, address, node, sum, record) VALUES (?, ?, ?, ?, ?, ?)',
  updatePort: 'UPDATE ports SET address = ?, node = ?, sum = ?, record = ? WHERE id = ?',
  deletePort: 'DELETE FROM ports WHERE id = ?',
  allPorts: 'SELECT record FROM ports ORDER BY id',
  lastIds: "SELECT name, seq FROM sqlite_sequence WHERE name IN ('nodes', 'ports', 'effects', 'history')",
  insertResource: 'INSERT INTO resources (id, kind, uuid, sum, record) VALUES (?, ?, ?, ?, ?)',
  updateResource: 'UPDATE resources SET sum = ?, record = ? WHERE kind = ? AND id = ?',
  deleteResource: 'DELETE FROM resources WHERE kind = ? AND id = ?',
  allResources: 'SELECT kind, record FROM resources ORDER BY kind, id',
  lastResource: upsert('resource_ids', 'kind', 'last'),
  lastResources: 'SELECT kind, last FROM resource_ids',
  insertEffect: 'INSERT INTO effects (id, node, kind, sum, payload) VALUES (?, ?, ?, ?, ?)',
  replaceEffect: 'UPDATE effects SET id = ?, kind = ?, sum = ?, payload = ? WHERE id = ?',
  deleteEffect: 'DELETE FROM effects WHERE id = ?',
  allEffects: 'SELECT id, node, kind, payload FROM effects ORDER BY id',
  putDeadline: upsert('deadlines', 'node, kind', 'at'),
  deleteDeadline: 'DELETE FROM deadlines WHERE node = ? AND kind = ?',
  deleteDeadlines: 'DELETE FROM deadlines WHERE node = ?',
  allDeadlines: 'SELECT node, kind, at FROM deadlines',
  putInventory: upsert('inventories', 'node', 'record'),
  inventory: 'SELECT record FROM inventories WHERE node = ?',
  deleteInventory: 'DELETE FROM inventories WHERE node = ?',
  putNodeList: upsert('sheets', 'node, kind', 'record'),
  nodeList: 'SELECT record FROM sheets WHERE node = ? AND kind = ?',
  deleteNodeLists: 'DELETE FROM sheets WHERE node = ?',
  insertHistory: 'INSERT INTO history (id, node, sum, record) VALUES (?, ?, ?, ?)',
  history: 'SELECT record FROM history WHERE node = ? ORDER BY id',
  deleteHistory: 'DELETE FROM history WHERE node = ?',
  allInventories: 'SELECT node, record FROM inventories',
  allNodeLists: 'SELECT node, kind, record FROM sheets',
  allHistory: 'SELECT node, record FROM history ORDER BY id',
}

/** Rows of the tables in `schema.ts`. */
export class SqliteRows implements StoreRows {
  readonly #database: SealedDatabase
  readonly #sql: Record<keyof typeof SQL, Database.Statement>
  #lastHistory = 0

  constructor(database: SealedDatabase) {
    this.#database = database
    const prepared = Object.entries(SQL).map(([name, sql]) => [name, database.db.prepare(sql)])
    this.#sql = Object.fromEntries(prepared) as Record<keyof typeof SQL, Database.Statement>
  }

  load(): Records {
    const records = new Records()
    this.#lastHistory = 0
    const all = <Row>(name: keyof typeof SQL): Row[] => this.#sql[name].all() as Row[]
    for (const { revision, record, ...columns } of all<NodeColumns & { revision: number; record: string }>('allNodes'))
      records.putNode(NodeEntry.stored(columns, revision, record))
    for (const { record } of all<{ record: string }>('allPorts')) records.putPort(JSON.parse(record) as PortRecord)
    for (const { payload, ...row } of all<Omit<StoredEffect, 'payload'> & { payload: string }>('allEffects'))
      records.addEffect({ ...row, payload: parseObject(payload) })
    for (const { node, kind, at } of all<{ node: string; kind: string; at: number }>('allDeadlines'))
      records.setDeadline(node, kind, at)
    for (const { kind, record } of all<{ kind: ResourceKind; record: string }>('allResources'))
      records.putResource(kind, JSON.parse(record) as ResourceRecords[ResourceKind])
    for (const { kind, last } of all<{ kind: ResourceKind; last: number }>('lastResources'))
      records.resources(kind).lastId = last
    // Ids are never reused, even after their rows are gone. SQLite does not count ids changed by UPDATE, as those of
    // effects are.
    for (const { name, seq } of all<{ name: string; seq: number }>('lastIds')) {
      if (name === 'nodes') records.lastNode = seq
      if (name === 'ports') records.lastPort = seq
      if (name === 'effects') records.lastEffect = Math.max(records.lastEffect, seq)
      if (name === 'history') this.#lastHistory = seq
    }
    return records
  }

  begin(): void {
    this.#sql.begin.run()
  }

  commit(): void {
    this.#database.commit()
  }

  rollback(): void {
    if (this.#database.db.inTransaction) this.#sql.rollback.run()
  }

  clear(): void {
    for (const { name } of IRONIC_DATABASE.tables) this.#database.db.exec(`DELETE FROM ${name}`)
    this.#database.db.exec('DELETE FROM sqlite_sequence')
    this.#lastHistory = 0
  }

  insertNode({ columns, revision, text }: NodeEntry): void {
    const { id, uuid, name, instance_uuid, provision_state, driver } = columns
    const sum = nodeSum(columns, revision, text)
    this.#sql.insertNode.run(id, uuid, name, instance_uuid, provision_state, driver, revision, sum, text)
  }

  updateNode({ columns: before }: NodeEntry, { columns, revision, text }: NodeEntry): void {
    const sum = nodeSum(columns, revision, text)
    const { id, name, instance_uuid, provision_state, driver } = columns
    if (before.name !== name || before.instance_uuid !== instance_uuid || before.driver !== driver)
      this.#sql.updateNode.run(name, instance_uuid, provision_state, driver, revision, sum, text, id)
    else if (before.provision_state !== provision_state)
      this.#sql.updateState.run(provision_state, revision, sum, text, id)
    else this.#sql.updateRecord.run(revision, sum, text, id)
  }

  deleteNode({ columns: { id, uuid } }: NodeEntry): void {
    this.#sql.deleteNode.run(id)
    this.#sql.deleteDeadlines.run(uuid)
    this.#sql.deleteInventory.run(uuid)
    this.#sql.deleteHistory.run(uuid)
    this.#sql.deleteNodeLists.run(uuid)
  }

  insertPort(port: PortRecord): void {
    const { id, uuid, address, node_uuid: node } = port
    const record = JSON.stringify(port)
    this.#sql.insertPort.run(id, uuid, address, node, rowSum('ports', [id, uuid, address, node, record]), record)
  }

  updatePort(port: PortRecord): void {
    const { id, uuid, address, node_uuid: node } = port
    const record = JSON.stringify(port)
    this.#sql.updatePort.run(address, node, rowSum('ports', [id, uuid, address, node, record]), record, id)
  }

  deletePort({ id }: RowKey): void {
    this.#sql.deletePort.run(id)
  }

  insertResource(kind: ResourceKind, record: ResourceRecords[ResourceKind]): void {
    const { id, uuid } = record
    const text = JSON.stringify(record)
    this.#sql.insertResource.run(id, kind, uuid, rowSum('resources', [kind, id, uuid, text]), text)
    this.#sql.lastResource.run(kind, rowSum('resource_ids', [kind, id]), id)
  }

  updateResource(kind: ResourceKind, record: ResourceRecords[ResourceKind]): void {
    const { id, uuid } = record
    const text = JSON.stringify(record)
    this.#sql.updateResource.run(rowSum('resources', [kind, id, uuid, text]), text, kind, id)
  }

  deleteResource(kind: ResourceKind, { id }: RowKey): void {
    this.#sql.deleteResource.run(kind, id)
  }

  insertEffect({ id, node, kind, payload }: StoredEffect): void {
    const text = JSON.stringify(payload)
    this.#sql.insertEffect.run(id, node, kind, rowSum('effects', [id, node, kind, text]), text)
  }

  replaceEffect(done: number, { id, node, kind, payload }: StoredEffect): void {
    const text = JSON.stringify(payload)
    this.#sql.replaceEffect.run(id, kind, rowSum('effects', [id, node, kind, text]), text, done)
  }

  deleteEffect(id: number): void {
    this.#sql.deleteEffect.run(id)
  }

  putDeadline(node: string, kind: string, at: number): void {
    this.#sql.putDeadline.run(node, kind, rowSum('deadlines', [node, kind, at]), at)
  }

  deleteDeadline(node: string, kind: string): void {
    this.#sql.deleteDeadline.run(node, kind)
  }

  putInventory(node: string, inventory: StoredInventory): void {
    this.#putInventory(node, JSON.stringify(inventory))
  }

  inventory(node: string): StoredInventory | undefined {
    const row = this.#sql.inventory.get(node) as { record: string } | undefined
    return row && (JSON.parse(row.record) as StoredInventory)
  }

  putNodeList(node: string, kind: NodeListKind, list: readonly unknown[]): void {
    this.#putNodeList(node, kind, JSON.stringify(list))
  }

  nodeList(node: string, kind: NodeListKind): unknown[] {
    const row = this.#sql.nodeList.get(node, kind) as { record: string } | undefined
    return row ? (JSON.parse(row.record) as unknown[]) : []
  }

  addHistory(node: string, entry: HistoryEntry): void {
    this.#addHistory(node, JSON.stringify(entry))
  }

  history(node: string): HistoryEntry[] {
    return (this.#sql.history.all(node) as { record: string }[]).map(({ record }) => JSON.parse(record) as HistoryEntry)
  }

  texts(): NodeTexts {
    const all = (name: 'allInventories' | 'allNodeLists' | 'allHistory') =>
      this.#sql[name].all() as { node: string; kind: NodeListKind; record: string }[]
    const lists = new Map<string, Map<NodeListKind, string[]>>()
    for (const { node, kind, record } of all('allNodeLists')) {
      const elements = (JSON.parse(record) as unknown[]).map((element) => JSON.stringify(element))
      lists.set(node, (lists.get(node) ?? new Map<NodeListKind, string[]>()).set(kind, elements))
    }
    const history = new Map<string, string[]>()
    for (const { node, record } of all('allHistory')) history.set(node, [...(history.get(node) ?? []), record])
    return { inventories: new Map(all('allInventories').map(({ node, record }) => [node, record])), lists, history }
  }

  putTexts({ inventories, lists, history }: NodeTexts): void {
    for (const [node, text] of inventories) this.#putInventory(node, text)
    for (const [node, of] of lists) for (const [kind, texts] of of) this.#putNodeList(node, kind, joinJsonList(texts))
    for (const [node, of] of history) for (const text of of) this.#addHistory(node, text)
  }

  #putInventory(node: string, text: string): void {
    this.#sql.putInventory.run(node, rowSum('inventories', [node, text]), text)
  }

  #putNodeList(node: string, kind: NodeListKind, text: string): void {
    this.#sql.putNodeList.run(node, kind, rowSum('sheets', [node, kind, text]), text)
  }

  #addHistory(node: string, text: string): void {
    const id = ++this.#lastHistory
    this.#sql.insertHistory.run(id, node, rowSum('history', [id, node, text]), text)
  }

  close(abandoned = false): void {
    this.#database.close(abandoned)
  }
}

/** The sum of a row of `nodes`. */
function nodeSum(columns: NodeColumns, revision: number, text: string): number {
  const { id, uuid, name, instance_uuid, provision_state, driver } = columns
  return rowSum('nodes', [id, uuid, name, instance_uuid, provision_state, driver, revision, text])
}
