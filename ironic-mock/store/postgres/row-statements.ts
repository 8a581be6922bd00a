import type { PortRecord, ResourceKind } from '../../../base/wire/index.js'
import type { NodeWork } from '../record-store.js'
import { ownerNodeOf, uniqueKeys } from '../store-resources.js'
import { joinJsonList } from '../store-state.js'
import type { NodeImage, RecordChanges, ResourceChange, ResourceImage } from './changed-rows.js'

/** A prepared statement; its name stands for its text. */
export interface Statement {
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
}

/** Versions of ports and other records, as the database counts them; 1 where none is noted. */
export class RowVersions {
  readonly #changed = new Map<string, number>()

  of(uuid: string): number {
    return this.#changed.get(uuid) ?? 1
  }

  set(uuid: string, version: number): void {
    if (version === 1) this.#changed.delete(uuid)
    else this.#changed.set(uuid, version)
  }
}

/** The statements of some changes, in an order that is the same in every process, so that two do not wait for each other. */
export function rowStatements(changes: RecordChanges, versions: RowVersions): Statement[] {
  const statements: Statement[] = []
  for (const [uuid, { before, after }] of inOrder(changes.nodes))
    statements.push(...nodeStatements(uuid, before, after))
  for (const [uuid, { before, after }] of inOrder(changes.ports))
    statements.push(...portStatements(uuid, versions.of(uuid), before, after))
  for (const [key, change] of inOrder(changes.resources))
    statements.push(...resourceStatements(change, versions.of(key)))
  for (const [node, lists] of inOrder(changes.lists))
    for (const [kind, elements] of lists) statements.push({ ...PUT_LIST, values: [node, kind, joinJsonList(elements)] })
  for (const [node, text] of inOrder(changes.inventories)) statements.push({ ...PUT_INVENTORY, values: [node, text] })
  for (const { node, text } of changes.history) statements.push({ ...ADD_HISTORY, values: [node, text] })
  return statements
}

export const inOrder = <T>(records: ReadonlyMap<string, T>): [string, T][] =>
  [...records].sort(([a], [b]) => (a < b ? -1 : 1))

function* nodeStatements(uuid: string, before?: NodeImage, after?: NodeImage): Iterable<Statement> {
  const known = before?.entry.columns.id
  if (before && after && known !== after.entry.columns.id) {
    // Another node has the uuid now: the row of the first is deleted, and the revisions of the new one begin at 1.
    yield* nodeStatements(uuid, before)
    yield* nodeStatements(uuid, undefined, after)
    return
  }
  if (!after) {
    if (before) yield { ...DELETE_NODE, values: oldNode(uuid, before) }
    return
  }
  if (!before) yield { ...INSERT_NODE, values: newNode(uuid, after) }
  else if (sameKeys(before, after)) yield { ...UPDATE_NODE, values: nodeUpdate(uuid, before, after) }
  else {
    const { name, instance_uuid, driver } = after.entry.columns
    const { chassis_id } = after.entry.record
    const keys = [columnText(name), columnText(instance_uuid), driver, chassis_id]
    yield { ...UPDATE_NODE_KEYS, values: [...nodeUpdate(uuid, before, after), ...keys] }
  }
}

/** Uuid, id, name, instance UUID, provision state, driver, id of the chassis, revision, record, work. */
export type NewNode = readonly [
  string,
  number,
  string | null,
  string | null,
  string,
  string,
  number | null,
  number,
  string,
  string | null,
]

export function newNode(uuid: string, { entry, work }: NodeImage): NewNode {
  const { columns, revision, text, record } = entry
  const { id, name, instance_uuid, provision_state, driver } = columns
  const keys = [columnText(name), columnText(instance_uuid)] as const
  return [uuid, id, ...keys, provision_state, driver, record.chassis_id, revision, text, workText(work)]
}

/** Uuid, revision before, id. */
export type OldNode = readonly [string, number, number]

export const oldNode = (uuid: string, { entry: { revision, columns } }: NodeImage): OldNode => [
  uuid,
  revision,
  columns.id,
]

/** Uuid, revision before, provision state, revision, record, work, id. */
export type NodeUpdate = readonly [string, number, string, number, string, string | null, number]

export function nodeUpdate(uuid: string, before: NodeImage, { entry, work }: NodeImage): NodeUpdate {
  const { columns, revision, text } = entry
  return [uuid, before.entry.revision, columns.provision_state, revision, text, workText(work), columns.id]
}

/** A unique value. PostgreSQL has no text with a NUL: such a value is its JSON there. */
const columnText = (value: string | null): string | null => (value?.includes('\0') ? JSON.stringify(value) : value)

export function sameKeys({ entry: before }: NodeImage, { entry: after }: NodeImage): boolean {
  return (
    before.columns.name === after.columns.name &&
    before.columns.instance_uuid === after.columns.instance_uuid &&
    before.columns.driver === after.columns.driver &&
    before.record.chassis_id === after.record.chassis_id
  )
}

function* portStatements(uuid: string, version: number, before?: PortRecord, after?: PortRecord): Iterable<Statement> {
  if (before && after && before.id !== after.id) {
    yield* portStatements(uuid, version, before)
    yield* portStatements(uuid, version, undefined, after)
    return
  }
  if (!after) {
    if (before) yield { ...DELETE_PORT, values: [uuid, version, before.id] }
    return
  }
  const { id, address, node_uuid, portgroup_id } = after
  const name = columnText(after.name)
  const record = JSON.stringify(after)
  if (before) yield { ...UPDATE_PORT, values: [uuid, version, address, name, node_uuid, portgroup_id, record, id] }
  else yield { ...INSERT_PORT, values: [uuid, id, address, name, node_uuid, portgroup_id, record] }
}

function* resourceStatements(change: ResourceChange, version: number): Iterable<Statement> {
  const { kind, uuid, before, after } = change
  if (before && after && before.record.id !== after.record.id) {
    yield* resourceStatements({ ...change, after: undefined }, version)
    yield* resourceStatements({ ...change, before: undefined }, version)
    return
  }
  if (!after) {
    if (before) yield { ...DELETE_RESOURCE, values: [kind, uuid, version, before.record.id] }
    return
  }
  const { record } = after
  const node = ownerNodeOf(record)
  const text = JSON.stringify(record)
  if (before) yield { ...UPDATE_RESOURCE, values: [kind, uuid, version, node, text, record.id] }
  else yield { ...INSERT_RESOURCE, values: [kind, record.id, uuid, node, text] }
  const keys = keysOf(after)
  if (before && JSON.stringify(keysOf(before)) === JSON.stringify(keys)) return
  if (before) yield { ...DELETE_KEYS, values: [kind, uuid] }
  for (const { field, value } of keys) yield { ...INSERT_KEY, values: [kind, field, value, uuid] }
}

/** As JSON, since a client may put into a value what a text of the database cannot have. */
const keysOf = ({ kind, record }: ResourceImage) =>
  uniqueKeys(kind, record as never).map(({ field, value }) => ({ field, value: JSON.stringify(value) }))

/** Effects and time limits as the column `work` has them; null for a node that rests. */
function workText({ effects, deadlines }: NodeWork): string | null {
  if (effects.length === 0 && deadlines.size === 0) return null
  return JSON.stringify({ effects: effects.map(({ node: _node, ...effect }) => effect), deadlines: [...deadlines] })
}

/** {@link workText}, read. */
export function workOfText(node: string, text: string | null): NodeWork {
  if (text === null) return NO_WORK
  const { effects, deadlines } = JSON.parse(text) as {
    effects: Omit<NodeWork['effects'][number], 'node'>[]
    deadlines: [string, number][]
  }
  return { effects: effects.map((effect) => ({ ...effect, node })), deadlines: new Map(deadlines) }
}

const NO_WORK: NodeWork = { effects: [], deadlines: new Map() }

/**
 * Makes a statement fail, by a division by zero, when it has changed no row: another process has changed the record
 * first, or has put another in its place, whose id is another. The transaction fails with it, before its commit, without another round trip.
 */
const unlessOneRow = (statement: string): string =>
  `with done as (${statement} returning 1) select 1 / count(*) from done`

/** SQLSTATE of {@link unlessOneRow}. */
export const ROW_HAS_CHANGED = '22012'

export const statement = (name: string, text: string) => ({ name, text })

const INSERT_NODE = statement(
  'insert-node',
  `insert into nodes (uuid, id, name, instance_uuid, provision_state, driver, chassis_id, revision, record, work)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
)
const UPDATE_NODE = statement(
  'update-node',
  unlessOneRow(
    `update nodes set provision_state = $3, revision = $4, record = $5, work = $6
     where uuid = $1 and revision = $2 and id = $7`,
  ),
)
const UPDATE_NODE_KEYS = statement(
  'update-node-keys',
  unlessOneRow(
    `update nodes set provision_state = $3, revision = $4, record = $5, work = $6, name = $8, instance_uuid = $9,
     driver = $10, chassis_id = $11 where uuid = $1 and revision = $2 and id = $7`,
  ),
)
const DELETE_NODE = statement(
  'delete-node',
  unlessOneRow('delete from nodes where uuid = $1 and revision = $2 and id = $3'),
)
const INSERT_PORT = statement(
  'insert-port',
  `insert into ports (uuid, id, address, name, node_uuid, portgroup_id, record) values ($1, $2, $3, $4, $5, $6, $7)`,
)
const UPDATE_PORT = statement(
  'update-port',
  unlessOneRow(
    `update ports set version = version + 1, address = $3, name = $4, node_uuid = $5, portgroup_id = $6, record = $7
     where uuid = $1 and version = $2 and id = $8`,
  ),
)
const DELETE_PORT = statement(
  'delete-port',
  unlessOneRow('delete from ports where uuid = $1 and version = $2 and id = $3'),
)
const INSERT_RESOURCE = statement(
  'insert-resource',
  'insert into resources (kind, id, uuid, node_uuid, record) values ($1, $2, $3, $4, $5)',
)
const UPDATE_RESOURCE = statement(
  'update-resource',
  unlessOneRow(
    `update resources set version = version + 1, node_uuid = $4, record = $5
     where kind = $1 and uuid = $2 and version = $3 and id = $6`,
  ),
)
const DELETE_RESOURCE = statement(
  'delete-resource',
  unlessOneRow('delete from resources where kind = $1 and uuid = $2 and version = $3 and id = $4'),
)
const DELETE_KEYS = statement('delete-keys', 'delete from resource_keys where kind = $1 and owner = $2')
const INSERT_KEY = statement(
  'insert-key',
  'insert into resource_keys (kind, field, value, owner) values ($1, $2, $3, $4)',
)
const PUT_LIST = statement(
  'put-list',
  `insert into node_lists (node, kind, record) values ($1, $2, $3)
   on conflict (node, kind) do update set record = excluded.record`,
)
const PUT_INVENTORY = statement(
  'put-inventory',
  `insert into inventories (node, record) values ($1, $2) on conflict (node) do update set record = excluded.record`,
)
const ADD_HISTORY = statement('add-history', 'insert into history (node, record) values ($1, $2)')

/** Names of what a transaction has changed, for the processes that follow. */
export interface ChangedKeys {
  readonly nodes: readonly string[]
  readonly ports: readonly string[]
  readonly resources: readonly (readonly [ResourceKind, string])[]
  /** Nodes of which a list has changed. */
  readonly lists: readonly string[]
}
