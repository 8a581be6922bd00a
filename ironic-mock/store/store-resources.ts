import type { ResourceKind, ResourceRecords } from '../../base/wire/index.js'
import { forget } from './forget.js'

type Keys = readonly (readonly [field: string, value: string | null])[]

/** Fields of each kind that are unique, besides the uuid; null may repeat. */
const UNIQUE: { readonly [Kind in ResourceKind]: (record: Omit<ResourceRecords[Kind], 'id'>) => Keys } = {
  portgroup: ({ name, address }) => [
    ['name', name],
    ['address', address],
  ],
  allocation: ({ name }) => [['name', name]],
  chassis: () => [],
  volume_connector: ({ type, connector_id }) => [['connector_id', `${type} ${connector_id}`]],
  volume_target: ({ node_uuid, boot_index }) => [['boot_index', `${node_uuid} ${boot_index}`]],
  deploy_template: ({ name }) => [['name', name]],
  runbook: ({ name }) => [['name', name]],
  inspection_rule: () => [],
}

/** Unique fields of a record with their values, without nulls. */
export function uniqueKeys<Kind extends ResourceKind>(
  kind: Kind,
  record: Omit<ResourceRecords[Kind], 'id'>,
): { field: string; value: string }[] {
  return UNIQUE[kind](record).flatMap(([field, value]) => (value === null ? [] : [{ field, value }]))
}

/** The node that a record belongs to, and is removed with; null for records without a node. */
export const ownerNodeOf = (record: object): string | null =>
  'node_uuid' in record ? (record.node_uuid as string | null) : null

/** The records of one kind in memory, in the order of creation; shared, never to be changed. */
export class ResourceTable<Kind extends ResourceKind> {
  readonly kind: Kind
  readonly byUuid = new Map<string, ResourceRecords[Kind]>()
  /** Ids are never reused, even after their records are gone. */
  lastId = 0
  readonly #byId = new Map<number, string>()
  /** True after a record came later than one with a larger id, as from another process. */
  #isOutOfOrder = false
  readonly #byKey = new Map<string, string>()
  readonly #byNode = new Map<string, Set<string>>()

  constructor(kind: Kind) {
    this.kind = kind
  }

  /** Finds by uuid, or by name where the kind has names. */
  find(ident: string): ResourceRecords[Kind] | undefined {
    return this.byUuid.get(ident) ?? this.byUuid.get(this.owner('name', ident) ?? '')
  }

  byId(id: number | null): ResourceRecords[Kind] | undefined {
    return id === null ? undefined : this.byUuid.get(this.#byId.get(id) ?? '')
  }

  /** The uuid of the record that holds a unique value. */
  owner(field: string, value: string): string | undefined {
    return this.#byKey.get(`${field} ${value}`)
  }

  /** Records of a node, in the order of creation. */
  of(node: string): ResourceRecords[Kind][] {
    const uuids = this.#byNode.get(node)
    if (!uuids || uuids.size === 0) return []
    return [...uuids].map((uuid) => this.byUuid.get(uuid)!).sort((a, b) => a.id - b.id)
  }

  /** All records in the order of their ids. */
  ordered(): ResourceRecords[Kind][] {
    const records = [...this.byUuid.values()]
    return this.#isOutOfOrder ? records.sort((a, b) => a.id - b.id) : records
  }

  put(record: ResourceRecords[Kind]): void {
    const before = this.byUuid.get(record.uuid)
    if (before) this.#forgetKeys(before)
    else if (record.id < this.lastId) this.#isOutOfOrder = true
    this.byUuid.set(record.uuid, record)
    this.#byId.set(record.id, record.uuid)
    this.lastId = Math.max(this.lastId, record.id)
    for (const { field, value } of uniqueKeys(this.kind, record)) this.#byKey.set(`${field} ${value}`, record.uuid)
    const node = ownerNodeOf(record)
    if (node !== null) this.#byNode.set(node, (this.#byNode.get(node) ?? new Set()).add(record.uuid))
  }

  drop(uuid: string): void {
    const record = this.byUuid.get(uuid)
    if (!record) return
    this.#forgetKeys(record)
    this.byUuid.delete(uuid)
    this.#byId.delete(record.id)
  }

  #forgetKeys(record: ResourceRecords[Kind]): void {
    for (const { field, value } of uniqueKeys(this.kind, record)) forget(this.#byKey, `${field} ${value}`, record.uuid)
    const node = ownerNodeOf(record)
    if (node === null) return
    const siblings = this.#byNode.get(node)
    siblings?.delete(record.uuid)
    if (siblings?.size === 0) this.#byNode.delete(node)
  }
}

export const RESOURCE_KINDS = Object.keys(UNIQUE) as ResourceKind[]

export type ResourceTables = { readonly [Kind in ResourceKind]: ResourceTable<Kind> }

export const emptyTables = (): ResourceTables =>
  Object.fromEntries(RESOURCE_KINDS.map((kind) => [kind, new ResourceTable(kind)])) as unknown as ResourceTables
