import type { PortRecord, NodeRecord, ResourceKind, ResourceRecords } from '../../base/wire/index.js'
import { copyRecord, type NodeEntry, type Records } from './record-store.js'
import { selectNodes, selectPorts, selectResources } from './select.js'
import type {
  Commit,
  NewResource,
  NodeQuery,
  NodeWithRevision,
  PortQuery,
  ResourcePatch,
  ResourceQuery,
  Revision,
  StoredEffect,
} from './store.js'
import type { Writer } from './write.js'

/** The part of every store: reads are answered from {@link Records}, and writes are those of a {@link Writer}. */
export abstract class RecordAccess {
  abstract get records(): Records

  /** @param soon true for a write that continues finished work, and waits for no others */
  protected abstract write<T>(apply: (writer: Writer) => T, soon?: boolean): Promise<T>

  node(ident: string): Promise<NodeWithRevision | undefined> {
    const entry = this.nodeNow(ident)
    return Promise.resolve(entry && { node: entry.copy(), revision: entry.revision })
  }

  nodeNow(ident: string): NodeEntry | undefined {
    const { nodes, nodesByName } = this.records
    return nodes.get(ident) ?? nodes.get(nodesByName.get(ident) ?? '')
  }

  nodes(query: NodeQuery): Promise<NodeRecord[]> {
    return Promise.resolve(selectNodes(this.records, query).map((entry) => entry.copy()))
  }

  port(ident: string): Promise<PortRecord | undefined> {
    const port = this.records.ports.get(ident) ?? this.records.ports.get(this.records.portsByAddress.get(ident) ?? '')
    return Promise.resolve(port && copyRecord(port))
  }

  ports(query: PortQuery): Promise<PortRecord[]> {
    return Promise.resolve(selectPorts(this.records, query).map(copyRecord))
  }

  resource<Kind extends ResourceKind>(kind: Kind, ident: string): Promise<ResourceRecords[Kind] | undefined> {
    const record = this.records.resources(kind).find(ident)
    return Promise.resolve(record && copyRecord(record))
  }

  resources<Kind extends ResourceKind>(kind: Kind, query: ResourceQuery<Kind>): Promise<ResourceRecords[Kind][]> {
    return Promise.resolve(selectResources(this.records.resources(kind), query).map(copyRecord))
  }

  resourcesNow<Kind extends ResourceKind>(kind: Kind, query: ResourceQuery<Kind>): ResourceRecords[Kind][] {
    return selectResources(this.records.resources(kind), query)
  }

  portsNow(query: PortQuery): PortRecord[] {
    return selectPorts(this.records, query)
  }

  nodesNow(query: NodeQuery): NodeEntry[] {
    return selectNodes(this.records, query)
  }

  effects(node?: string): Promise<StoredEffect[]> {
    const queues = node === undefined ? [...this.records.effects.values()] : [this.records.effects.get(node) ?? []]
    return Promise.resolve(
      queues
        .flat()
        .sort((a, b) => a.id - b.id)
        .map(copyRecord),
    )
  }

  deadlines(): Promise<{ node: string; kind: string; at: number }[]> {
    return Promise.resolve(
      [...this.records.deadlines].flatMap(([node, limits]) => [...limits].map(([kind, at]) => ({ node, kind, at }))),
    )
  }

  createNode(node: Omit<NodeRecord, 'id'>): Promise<NodeWithRevision> {
    return this.write((writer) => writer.createNode(node))
  }

  removeNode(uuid: string, expect: Revision): Promise<void> {
    return this.write((writer) => writer.removeNode(uuid, expect))
  }

  commit(change: Commit): Promise<Revision> {
    return this.write((writer) => writer.commit(change), change.done !== undefined)
  }

  createPort(port: Omit<PortRecord, 'id'>): Promise<PortRecord> {
    return this.write((writer) => copyRecord(writer.createPort(port)))
  }

  updatePort(uuid: string, change: (port: PortRecord) => Partial<PortRecord>): Promise<PortRecord | undefined> {
    return this.write((writer) => {
      const port = writer.updatePort(uuid, (current) => change(copyRecord(current)))
      return port && copyRecord(port)
    })
  }

  removePort(uuid: string): Promise<boolean> {
    return this.write((writer) => writer.removePort(uuid))
  }

  createResource<Kind extends ResourceKind>(kind: Kind, record: NewResource<Kind>): Promise<ResourceRecords[Kind]> {
    return this.write((writer) => copyRecord(writer.resources.create(kind, record)))
  }

  updateResource<Kind extends ResourceKind>(
    kind: Kind,
    uuid: string,
    change: (record: ResourceRecords[Kind]) => ResourcePatch<Kind>,
  ): Promise<ResourceRecords[Kind] | undefined> {
    return this.write((writer) => {
      const record = writer.resources.update(kind, uuid, (current) => change(copyRecord(current)))
      return record && copyRecord(record)
    })
  }

  removeResource(kind: ResourceKind, uuid: string, check?: () => void): Promise<boolean> {
    return this.write((writer) => {
      check?.()
      return writer.resources.remove(kind, uuid)
    })
  }
}
