import type { PortRecord, NodeRecord, ResourceKind, ResourceRecords } from '../../base/wire/index.js'
import { copyRecord, type NodeEntry, type Records } from './record-store.js'
import { selectNodes, selectPorts, selectResources } from './select.js'
import type { NodeQuery, NodeWithRevision, PortQuery, ResourceQuery, StoredEffect } from './store.js'

/** The reads of a store that are answered from {@link Records}. */
export abstract class RecordReads {
  abstract get records(): Records

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
}
