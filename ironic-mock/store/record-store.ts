import type {
  JsonObject,
  NodeRecord,
  PortRecord,
  ProvisionState,
  ResourceKind,
  ResourceRecords,
} from '../../base/wire/index.js'
import { forget } from './forget.js'
import { leanNode, leanPort } from './lean-records.js'
import { emptyTables, RESOURCE_KINDS, type ResourceTable } from './store-resources.js'
import type { Revision, StoredEffect } from './store.js'

/** Columns of a node that are read without decoding its record. */
export type NodeColumns = Pick<NodeRecord, 'id' | 'uuid' | 'name' | 'instance_uuid' | 'provision_state' | 'driver'>

/**
 * One revision of a node in memory. What came from the database is decoded on first access to more than the columns, so
 * that opening a store of ten thousand nodes decodes only the nodes that are used. It is kept as text or as record, never
 * as both.
 */
export class NodeEntry {
  #text: string | undefined
  #record: NodeRecord | undefined

  private constructor(
    readonly columns: NodeColumns,
    readonly revision: Revision,
    known: { text: string } | { record: NodeRecord },
  ) {
    if ('text' in known) this.#text = known.text
    else this.#record = known.record
  }

  /** From the database. */
  static stored(columns: NodeColumns, revision: Revision, text: string): NodeEntry {
    return new NodeEntry(columns, revision, { text })
  }

  /** @param values shared from now on: callers must not change them */
  static of(values: NodeRecord, revision: Revision): NodeEntry {
    const record = leanNode(values)
    return new NodeEntry(record, revision, { record })
  }

  /** Shared: callers must not change it. */
  get record(): NodeRecord {
    if (this.#record === undefined) {
      this.#record = leanNode(JSON.parse(this.text) as NodeRecord)
      this.#text = undefined
    }
    return this.#record
  }

  /** The record as JSON. */
  get text(): string {
    return this.#text ?? JSON.stringify(this.#record)
  }

  copy(): NodeRecord {
    return JSON.parse(this.text) as NodeRecord
  }
}

/** The queued effects of a node, and its time limits in milliseconds of the clock by kind. */
export interface NodeWork {
  readonly effects: readonly StoredEffect[]
  readonly deadlines: ReadonlyMap<string, number>
}

const NO_NODES: ReadonlySet<string> = new Set()

/**
 * The database in memory: every read is answered from here. It changes only inside a flush, together with the rows, so
 * readers always see it equal to the database.
 */
export class Records {
  readonly nodes: Map<string, NodeEntry>
  readonly nodesByName: Map<string, string>
  readonly nodesByInstance: Map<string, string>
  readonly ports: Map<string, PortRecord>
  readonly portsByAddress: Map<string, string>
  readonly portsByName: Map<string, string>
  readonly portsByNode: Map<string, readonly string[]>
  readonly effects = new Map<string, StoredEffect[]>()
  readonly deadlines = new Map<string, Map<string, number>>()
  lastNode: number
  lastPort: number
  lastEffect: number
  readonly #tables = emptyTables()
  readonly #nodesByState = new Map<ProvisionState, Set<string>>()
  /** True after a node came later than one with a larger id, as from another process. */
  #nodesAreOutOfOrder = false

  /** @param from shares the values of its records, which nothing changes */
  constructor(from?: Records) {
    this.nodes = new Map(from?.nodes)
    this.nodesByName = new Map(from?.nodesByName)
    this.nodesByInstance = new Map(from?.nodesByInstance)
    this.ports = new Map(from?.ports)
    this.portsByAddress = new Map(from?.portsByAddress)
    this.portsByName = new Map(from?.portsByName)
    this.portsByNode = new Map(from?.portsByNode)
    this.lastNode = from?.lastNode ?? 0
    this.lastPort = from?.lastPort ?? 0
    this.lastEffect = from?.lastEffect ?? 0
    if (!from) return
    for (const [state, uuids] of from.#nodesByState) this.#nodesByState.set(state, new Set(uuids))
    for (const [node, queue] of from.effects) this.effects.set(node, [...queue])
    for (const [node, limits] of from.deadlines) this.deadlines.set(node, new Map(limits))
    for (const kind of RESOURCE_KINDS) {
      for (const record of from.resources(kind).byUuid.values()) this.putResource(kind, record)
      this.resources(kind).lastId = from.resources(kind).lastId
    }
  }

  /** A copy whose time limits are so many milliseconds later. */
  later(by: number): Records {
    const copy = new Records(this)
    for (const limits of copy.deadlines.values()) for (const [kind, at] of limits) limits.set(kind, at + by)
    return copy
  }

  putNode(entry: NodeEntry): void {
    const { id, uuid, name, instance_uuid, provision_state } = entry.columns
    const before = this.nodes.get(uuid)
    if (before) this.#forgetKeys(before)
    this.#moveState(uuid, before?.columns.provision_state, provision_state)
    if (!before && id < this.lastNode) this.#nodesAreOutOfOrder = true
    this.nodes.set(uuid, entry)
    if (name !== null) this.nodesByName.set(name, uuid)
    if (instance_uuid !== null) this.nodesByInstance.set(instance_uuid, uuid)
    this.lastNode = Math.max(this.lastNode, id)
  }

  /** Uuids of the nodes in a state, which are few in most states. */
  nodesIn(state: ProvisionState): ReadonlySet<string> {
    return this.#nodesByState.get(state) ?? NO_NODES
  }

  #moveState(uuid: string, before: ProvisionState | undefined, after: ProvisionState | undefined): void {
    if (before === after) return
    if (before !== undefined) this.#nodesByState.get(before)?.delete(uuid)
    if (after === undefined) return
    const uuids = this.#nodesByState.get(after)
    if (uuids) uuids.add(uuid)
    else this.#nodesByState.set(after, new Set([uuid]))
  }

  /** All nodes in the order of their ids. */
  orderedNodes(): NodeEntry[] {
    const entries = [...this.nodes.values()]
    if (!this.#nodesAreOutOfOrder) return entries
    entries.sort((a, b) => a.columns.id - b.columns.id)
    this.nodes.clear()
    for (const entry of entries) this.nodes.set(entry.columns.uuid, entry)
    this.#nodesAreOutOfOrder = false
    return entries
  }

  dropNode(uuid: string): void {
    const entry = this.nodes.get(uuid)
    if (!entry) return
    this.#forgetKeys(entry)
    this.#moveState(uuid, entry.columns.provision_state, undefined)
    this.nodes.delete(uuid)
    this.effects.delete(uuid)
    this.deadlines.delete(uuid)
    for (const port of this.portsByNode.get(uuid) ?? []) this.dropPort(port)
    this.portsByNode.delete(uuid)
    for (const { kind, uuid: own } of this.resourcesOf(uuid)) this.resources(kind).drop(own)
  }

  /** A value that another node has got before this one lost it, as in any order of other processes' changes, stays. */
  #forgetKeys({ columns: { uuid, name, instance_uuid } }: NodeEntry): void {
    if (name !== null) forget(this.nodesByName, name, uuid)
    if (instance_uuid !== null) forget(this.nodesByInstance, instance_uuid, uuid)
  }

  putPort(port: PortRecord): void {
    this.dropPort(port.uuid)
    this.ports.set(port.uuid, leanPort(port))
    this.portsByAddress.set(port.address, port.uuid)
    if (port.name !== null) this.portsByName.set(port.name, port.uuid)
    this.portsByNode.set(port.node_uuid, [...(this.portsByNode.get(port.node_uuid) ?? []), port.uuid])
    this.lastPort = Math.max(this.lastPort, port.id)
  }

  dropPort(uuid: string): void {
    const port = this.ports.get(uuid)
    if (!port) return
    this.ports.delete(uuid)
    forget(this.portsByAddress, port.address, uuid)
    if (port.name !== null) forget(this.portsByName, port.name, uuid)
    const left = (this.portsByNode.get(port.node_uuid) ?? []).filter((other) => other !== uuid)
    this.portsByNode.set(port.node_uuid, left)
  }

  /** Records of a kind; they are shared. */
  resources<Kind extends ResourceKind>(kind: Kind): ResourceTable<Kind> {
    return this.#tables[kind] as unknown as ResourceTable<Kind>
  }

  putResource<Kind extends ResourceKind>(kind: Kind, record: ResourceRecords[Kind]): void {
    this.resources(kind).put(record)
  }

  /** All resources that belong to a node. */
  resourcesOf(node: string): { kind: ResourceKind; id: number; uuid: string }[] {
    return RESOURCE_KINDS.flatMap((kind) =>
      this.resources(kind)
        .of(node)
        .map(({ id, uuid }) => ({ kind, id, uuid })),
    )
  }

  /** Ports of a node in the order of their ids; shared records. */
  portsOf(node: string): PortRecord[] {
    const uuids = this.portsByNode.get(node)
    if (!uuids || uuids.length === 0) return []
    return uuids.map((uuid) => this.ports.get(uuid)!).sort((a, b) => a.id - b.id)
  }

  addEffect(effect: StoredEffect): void {
    const queue = this.effects.get(effect.node)
    if (queue) queue.push(effect)
    else this.effects.set(effect.node, [effect])
    this.lastEffect = Math.max(this.lastEffect, effect.id)
  }

  removeEffect(node: string, id: number): void {
    const left = (this.effects.get(node) ?? []).filter((effect) => effect.id !== id)
    if (left.length > 0) this.effects.set(node, left)
    else this.effects.delete(node)
  }

  /** Puts the work of a node in the place of the one that it had. */
  putWork(node: string, { effects, deadlines }: NodeWork): void {
    if (effects.length > 0) this.effects.set(node, [...effects])
    else this.effects.delete(node)
    if (deadlines.size > 0) this.deadlines.set(node, new Map(deadlines))
    else this.deadlines.delete(node)
  }

  /** The work of a node; it does not change with the node's. */
  workOf(node: string): NodeWork {
    return { effects: [...(this.effects.get(node) ?? [])], deadlines: new Map(this.deadlines.get(node)) }
  }

  setDeadline(node: string, kind: string, at: number | null): void {
    const of = this.deadlines.get(node) ?? new Map<string, number>()
    if (at === null) of.delete(kind)
    else of.set(kind, at)
    if (of.size > 0) this.deadlines.set(node, of)
    else this.deadlines.delete(node)
  }
}

export const copyRecord = <T extends object>(value: T): T => JSON.parse(JSON.stringify(value)) as T

export const parseObject = (text: string): JsonObject => JSON.parse(text) as JsonObject
