import type { ResourceKind, ResourceRecords } from '../../base/wire/index.js'
import type { Records } from './record-store.js'
import { ownerNodeOf, uniqueKeys } from './store-resources.js'
import type { RowWrites } from './store-rows.js'
import type { NewIds } from './write.js'
import {
  DanglingReference,
  Duplicate,
  StaleRevision,
  StillReferenced,
  type NewResource,
  type ResourceChange,
  type ResourcePatch,
  type UniqueField,
} from './store.js'

/** Changes records other than nodes and ports in the running transaction. */
export class ResourceWriter {
  constructor(
    readonly rows: RowWrites,
    readonly records: Records,
    readonly ids: Pick<NewIds, 'resource'>,
  ) {}

  create<Kind extends ResourceKind>(kind: Kind, fields: NewResource<Kind>): ResourceRecords[Kind] {
    this.#checkNew(kind, fields)
    return this.#insert(kind, fields)
  }

  update<Kind extends ResourceKind>(
    kind: Kind,
    uuid: string,
    change: (record: ResourceRecords[Kind]) => ResourcePatch<Kind>,
  ): ResourceRecords[Kind] | undefined {
    const current = this.records.resources(kind).byUuid.get(uuid)
    if (!current) return undefined
    const record: ResourceRecords[Kind] = { ...current, ...change(current) }
    this.#checkKeys(kind, record)
    this.#checkNode(record)
    return this.#replace(kind, record)
  }

  remove(kind: ResourceKind, uuid: string): boolean {
    const record = this.records.resources(kind).byUuid.get(uuid)
    if (!record) return false
    this.#checkUnused(kind, record)
    this.rows.deleteResource(kind, record)
    this.records.resources(kind).drop(uuid)
    return true
  }

  /** Checks all changes of a commit before any of them is made. */
  check(changes: readonly ResourceChange[]): void {
    const fresh = new Set<string>()
    const claim = (kind: ResourceKind, record: NewResource<ResourceKind>) => {
      for (const { field, value } of [{ field: 'uuid', value: record.uuid }, ...uniqueKeys(kind, record as never)]) {
        if (fresh.has(`${kind} ${field} ${value}`)) throw new Duplicate(field as UniqueField, value, kind)
        fresh.add(`${kind} ${field} ${value}`)
      }
    }
    for (const change of changes) {
      if (change.do === 'remove') {
        const current = this.records.resources(change.kind).byUuid.get(change.uuid)
        if (current) this.#checkUnused(change.kind, current)
        continue
      }
      if (change.do === 'create') {
        this.#checkNew(change.kind, change.record)
        claim(change.kind, change.record)
      } else {
        const current = this.records.resources(change.kind).byUuid.get(change.uuid)
        if (!current) throw new StaleRevision(`${change.kind} ${change.uuid} is gone`)
        const record = { ...current, ...change.patch } as ResourceRecords[ResourceKind]
        this.#checkKeys(change.kind, record)
        this.#checkNode(record)
        claim(change.kind, record)
      }
    }
  }

  /** Makes changes that have passed {@link check}. */
  apply(changes: readonly ResourceChange[]): void {
    for (const change of changes)
      if (change.do === 'create') this.#insert(change.kind, change.record)
      else if (change.do === 'remove') this.remove(change.kind, change.uuid)
      else {
        const current = this.records.resources(change.kind).byUuid.get(change.uuid)
        if (current) this.#replace(change.kind, { ...current, ...change.patch } as ResourceRecords[ResourceKind])
      }
  }

  #checkNew<Kind extends ResourceKind>(kind: Kind, record: NewResource<Kind>): void {
    const table = this.records.resources(kind)
    // Upstream reports the uuid last when several values are taken.
    for (const { field, value } of uniqueKeys(kind, record))
      if (table.owner(field, value) !== undefined) throw new Duplicate(field as UniqueField, value, kind)
    if (table.byUuid.has(record.uuid)) throw new Duplicate('uuid', record.uuid, kind)
    this.#checkNode(record)
  }

  #checkKeys<Kind extends ResourceKind>(kind: Kind, record: NewResource<Kind>): void {
    const table = this.records.resources(kind)
    for (const { field, value } of uniqueKeys(kind, record))
      if ((table.owner(field, value) ?? record.uuid) !== record.uuid)
        throw new Duplicate(field as UniqueField, value, kind)
  }

  #checkUnused(kind: ResourceKind, record: { readonly id: number; readonly uuid: string }): void {
    const { id } = record
    const { ports, nodes } = this.records
    if (kind === 'portgroup') {
      for (const { portgroup_id } of ports.values())
        if (portgroup_id === id) throw new StillReferenced('portgroup', record)
    } else if (kind === 'chassis')
      for (const { record: node } of nodes.values())
        if (node.chassis_id === id) throw new StillReferenced('chassis', record)
  }

  #checkNode(record: object): void {
    const node = ownerNodeOf(record)
    if (node !== null && !this.records.nodes.has(node)) throw new DanglingReference('node', node)
  }

  #insert<Kind extends ResourceKind>(kind: Kind, fields: NewResource<Kind>): ResourceRecords[Kind] {
    const record = { ...fields, id: this.ids.resource(kind) } as ResourceRecords[Kind]
    this.rows.insertResource(kind, record)
    this.records.putResource(kind, record)
    return record
  }

  #replace<Kind extends ResourceKind>(kind: Kind, record: ResourceRecords[Kind]): ResourceRecords[Kind] {
    this.rows.updateResource(kind, record)
    this.records.putResource(kind, record)
    return record
  }
}
