import type { NodeListKind, NodeRecord, PortRecord, ResourceKind } from '../../base/wire/index.js'
import { NodeEntry, type Records } from './record-store.js'
import { ResourceWriter } from './write-resources.js'
import type { RowWrites } from './store-rows.js'
import {
  DanglingReference,
  Duplicate,
  StaleRevision,
  type Commit,
  type NodeWithRevision,
  type Revision,
} from './store.js'

/** Where the ids of new records come from. */
export interface NewIds {
  node(): number
  port(): number
  resource(kind: ResourceKind): number
  /** @param place of the effect among those of the commit that leads to this revision */
  effect(revision: Revision, place: number): number
}

/** The ids of a database that no other process writes: each follows the largest that there was. */
export const recordIds = (records: Records): NewIds => ({
  node: () => records.lastNode + 1,
  port: () => records.lastPort + 1,
  resource: (kind) => records.resources(kind).lastId + 1,
  effect: () => records.lastEffect + 1,
})

/**
 * Changes rows and memory inside the running transaction. Each method checks everything first, so a refused change
 * leaves the transaction intact for the other changes in it.
 */
export class Writer {
  readonly resources: ResourceWriter

  constructor(
    readonly rows: RowWrites,
    readonly records: Records,
    readonly ids: NewIds,
  ) {
    this.resources = new ResourceWriter(rows, records, ids)
  }

  createNode(fields: Omit<NodeRecord, 'id'>): NodeWithRevision {
    const { nodes, nodesByName, nodesByInstance } = this.records
    // Upstream reports the name first when several values are taken.
    if (fields.name !== null && nodesByName.has(fields.name)) throw new Duplicate('name', fields.name)
    if (nodes.has(fields.uuid)) throw new Duplicate('uuid', fields.uuid)
    if (fields.instance_uuid !== null && nodesByInstance.has(fields.instance_uuid))
      throw new Duplicate('instance_uuid', fields.instance_uuid)
    this.#checkChassis(fields)
    const entry = NodeEntry.of({ ...fields, id: this.ids.node() }, 1)
    this.rows.insertNode(entry)
    this.records.putNode(entry)
    return { node: entry.copy(), revision: 1 }
  }

  removeNode(uuid: string, expect: Revision): void {
    const entry = this.#expected(uuid, expect)
    this.rows.deleteNode(entry)
    for (const port of this.records.portsOf(uuid)) this.rows.deletePort(port)
    for (const { kind, ...key } of this.records.resourcesOf(uuid)) this.rows.deleteResource(kind, key)
    this.#deleteEffects(uuid)
    this.records.dropNode(uuid)
  }

  commit(change: Commit): Revision {
    const { node: uuid } = change
    const entry = this.#expected(uuid, change.expect)
    const updated: NodeRecord = { ...entry.record, ...change.patch }
    if (updated.instance_uuid === null) updated.allocation_id = null
    const released = entry.record.allocation_id
    this.#checkKeys(updated)
    this.#checkChassis(updated)
    this.#checkAllPorts(change)
    this.resources.check(change.resources ?? [])

    const revision = change.expect + 1
    const next = NodeEntry.of(updated, revision)
    this.rows.updateNode(entry, next)
    this.records.putNode(next)

    this.#changeEffects(change, revision)
    for (const { kind, at } of change.deadlines ?? []) {
      const known = this.records.deadlines.get(uuid)?.get(kind)
      if (at === null && known === undefined) continue
      if (at === null) this.rows.deleteDeadline(uuid, kind)
      else this.rows.putDeadline(uuid, kind, at)
      this.records.setDeadline(uuid, kind, at)
    }
    for (const port of change.createPorts ?? []) this.#insertPort(port)
    for (const port of change.updatePorts ?? []) this.#replacePort(port)
    for (const port of change.removePorts ?? []) this.removePort(port)
    if (change.inventory) this.rows.putInventory(uuid, change.inventory)
    for (const [kind, list] of Object.entries(change.lists ?? {}))
      this.rows.putNodeList(uuid, kind as NodeListKind, list)
    for (const item of change.history ?? []) this.rows.addHistory(uuid, item)
    this.resources.apply(change.resources ?? [])
    if (released !== null && updated.allocation_id !== released) this.#removeAllocation(released)
    return revision
  }

  #removeAllocation(id: number): void {
    const allocation = this.records.resources('allocation').byId(id)
    if (allocation) this.resources.remove('allocation', allocation.uuid)
  }

  #deleteEffects(node: string): void {
    for (const { id } of this.records.effects.get(node) ?? []) this.rows.deleteEffect(id)
    this.records.effects.delete(node)
  }

  #changeEffects({ node, dropEffects, done, effects = [] }: Commit, revision: Revision): void {
    let replaced = dropEffects ? undefined : done
    if (dropEffects) this.#deleteEffects(node)
    else if (done !== undefined) this.records.removeEffect(node, done)
    for (const [place, { kind, payload }] of effects.entries()) {
      const effect = { id: this.ids.effect(revision, place), node, kind, payload }
      // The usual case: the next effect takes over the row of the finished one.
      if (replaced === undefined) this.rows.insertEffect(effect)
      else this.rows.replaceEffect(replaced, effect)
      replaced = undefined
      this.records.addEffect(effect)
    }
    if (replaced !== undefined) this.rows.deleteEffect(replaced)
  }

  createPort(port: Omit<PortRecord, 'id'>): PortRecord {
    this.#checkNewPort(port)
    return this.#insertPort(port)
  }

  updatePort(uuid: string, change: (port: PortRecord) => Partial<PortRecord>): PortRecord | undefined {
    const current = this.records.ports.get(uuid)
    if (!current) return undefined
    const port: PortRecord = { ...current, ...change(current) }
    this.#checkPort(port)
    this.#replacePort(port)
    return port
  }

  removePort(uuid: string): boolean {
    const port = this.records.ports.get(uuid)
    if (!port) return false
    this.rows.deletePort(port)
    this.records.dropPort(uuid)
    return true
  }

  #expected(uuid: string, expect: Revision): NodeEntry {
    const entry = this.records.nodes.get(uuid)
    if (!entry) throw new StaleRevision(`node ${uuid} is gone`)
    if (entry.revision !== expect)
      throw new StaleRevision(`node ${uuid} is at revision ${entry.revision}, the change was made for ${expect}`)
    return entry
  }

  #checkKeys({ uuid, name, instance_uuid }: NodeRecord): void {
    const { nodesByName, nodesByInstance } = this.records
    if (name !== null && (nodesByName.get(name) ?? uuid) !== uuid) throw new Duplicate('name', name)
    if (instance_uuid !== null && (nodesByInstance.get(instance_uuid) ?? uuid) !== uuid)
      throw new Duplicate('instance_uuid', instance_uuid)
  }

  #checkAllPorts(change: Commit): void {
    const fresh = new Set<string>()
    for (const port of change.createPorts ?? []) {
      this.#checkNewPort(port)
      if (fresh.has(port.address)) throw new Duplicate('address', port.address)
      fresh.add(port.address)
    }
    for (const port of change.updatePorts ?? []) {
      if (!this.records.ports.has(port.uuid)) throw new StaleRevision(`port ${port.uuid} is gone`)
      this.#checkPort(port)
    }
  }

  #checkNewPort(port: Omit<PortRecord, 'id'>): void {
    if (this.records.ports.has(port.uuid)) throw new Duplicate('uuid', port.uuid, 'port')
    this.#checkPort(port)
  }

  #checkPort({ uuid, address, name, node_uuid, portgroup_id }: Omit<PortRecord, 'id'>): void {
    if (name !== null && (this.records.portsByName.get(name) ?? uuid) !== uuid)
      throw new Duplicate('name', name, 'port')
    if ((this.records.portsByAddress.get(address) ?? uuid) !== uuid) throw new Duplicate('address', address)
    if (!this.records.nodes.has(node_uuid)) throw new DanglingReference('node', node_uuid)
    if (portgroup_id !== null && !this.records.resources('portgroup').byId(portgroup_id))
      throw new DanglingReference('portgroup', portgroup_id)
  }

  #checkChassis({ chassis_id }: Pick<NodeRecord, 'chassis_id'>): void {
    if (chassis_id !== null && !this.records.resources('chassis').byId(chassis_id))
      throw new DanglingReference('chassis', chassis_id)
  }

  #insertPort(fields: Omit<PortRecord, 'id'>): PortRecord {
    const port: PortRecord = { ...fields, id: this.ids.port() }
    this.rows.insertPort(port)
    this.records.putPort(port)
    return port
  }

  #replacePort(port: PortRecord): void {
    const known = this.records.ports.get(port.uuid)!
    const replacing = { ...port, id: known.id }
    this.rows.updatePort(replacing)
    this.records.putPort(replacing)
  }
}
