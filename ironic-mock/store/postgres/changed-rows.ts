import { shareText } from '../../../base/runtime/index.js'
import type { NodeListKind, PortRecord, ResourceKind, ResourceRecords } from '../../../base/wire/index.js'
import type { NodeEntry, NodeWork, Records } from '../record-store.js'
import { RESOURCE_KINDS } from '../store-resources.js'
import type { RowKey, RowWrites, StoredInventory } from '../store-rows.js'
import type { HistoryEntry } from '../store.js'

/** A record before and after some changes; undefined before it was made, and after it is removed. */
interface Change<T> {
  readonly before: T | undefined
  readonly after: T | undefined
}

export interface NodeImage {
  readonly entry: NodeEntry
  readonly work: NodeWork
}

export interface ResourceImage {
  readonly kind: ResourceKind
  readonly record: ResourceRecords[ResourceKind]
}

export interface ResourceChange extends Change<ResourceImage> {
  readonly kind: ResourceKind
  readonly uuid: string
}

/** A uuid is one record's of a kind. */
export const resourceKey = (kind: ResourceKind, uuid: string): string => `${kind} ${uuid}`

/** Lists of a node as JSON, a text for each element. */
export type NodeListTexts = ReadonlyMap<NodeListKind, readonly string[]>

/** All that some writes have changed; nodes and ports by uuid. */
export interface RecordChanges {
  readonly nodes: ReadonlyMap<string, Change<NodeImage>>
  readonly ports: ReadonlyMap<string, Change<PortRecord>>
  /** By {@link resourceKey}. */
  readonly resources: ReadonlyMap<string, ResourceChange>
  /** Lists that are replaced. */
  readonly lists: ReadonlyMap<string, NodeListTexts>
  /** As JSON. */
  readonly inventories: ReadonlyMap<string, string>
  /** As JSON, in the order of their entries. */
  readonly history: readonly { readonly node: string; readonly text: string }[]
}

/** The last ids of the records, which a change that is taken back must not leave behind. */
const lastIds = (records: Records) => ({
  node: records.lastNode,
  port: records.lastPort,
  effect: records.lastEffect,
  resources: RESOURCE_KINDS.map((kind) => records.resources(kind).lastId),
})

/**
 * Notes which records a writer changes, with what they were before. The writer changes the records in memory, to see
 * its own changes; {@link takeBack} undoes that, since readers must not see what the database has not acknowledged.
 */
export class ChangedRows implements RowWrites {
  readonly #records: Records
  readonly #lastIds: ReturnType<typeof lastIds>
  readonly #nodes = new Map<string, NodeImage | undefined>()
  readonly #ports = new Map<string, PortRecord | undefined>()
  readonly #resources = new Map<string, { kind: ResourceKind; uuid: string; before: ResourceImage | undefined }>()
  readonly #lists = new Map<string, Map<NodeListKind, readonly string[]>>()
  readonly #inventories = new Map<string, string>()
  #history: { node: string; text: string }[] = []

  constructor(records: Records) {
    this.#records = records
    this.#lastIds = lastIds(records)
  }

  /** Puts the records in memory back to what they were, and returns the changes. */
  takeBack(): RecordChanges {
    const changes = this.#changes()
    const records = this.#records
    for (const [uuid, { before }] of changes.nodes) putNodeImage(records, uuid, before)
    for (const [uuid, { before }] of changes.ports) putPortImage(records, uuid, before)
    for (const { kind, uuid, before } of this.#resources.values()) putResourceImage(records, kind, uuid, before)
    records.lastNode = this.#lastIds.node
    records.lastPort = this.#lastIds.port
    records.lastEffect = this.#lastIds.effect
    for (const [place, kind] of RESOURCE_KINDS.entries())
      records.resources(kind).lastId = this.#lastIds.resources[place]!
    return changes
  }

  #changes(): RecordChanges {
    const records = this.#records
    const changed = <Before, After>(
      before: ReadonlyMap<string, Before>,
      after: (uuid: string, before: Before) => After | undefined,
    ) => new Map([...before].map(([uuid, was]) => [uuid, { before: was, after: after(uuid, was) }]))
    const resources = new Map<string, ResourceChange>()
    for (const [key, { kind, uuid, before }] of this.#resources)
      resources.set(key, { kind, uuid, before, after: resourceImage(records, kind, uuid) })
    return {
      nodes: changed(this.#nodes, (uuid) => nodeImage(records, uuid)),
      ports: changed(this.#ports, (uuid) => records.ports.get(uuid)),
      resources,
      lists: this.#lists,
      inventories: this.#inventories,
      history: this.#history,
    }
  }

  insertNode({ columns }: NodeEntry): void {
    this.#touchNode(columns.uuid)
  }

  updateNode({ columns }: NodeEntry): void {
    this.#touchNode(columns.uuid)
  }

  deleteNode({ columns: { uuid } }: NodeEntry): void {
    this.#touchNode(uuid)
    this.#lists.delete(uuid)
    this.#inventories.delete(uuid)
    this.#history = this.#history.filter(({ node }) => node !== uuid)
  }

  insertPort({ uuid }: PortRecord): void {
    this.#touchPort(uuid)
  }

  updatePort({ uuid }: PortRecord): void {
    this.#touchPort(uuid)
  }

  deletePort({ uuid }: RowKey): void {
    this.#touchPort(uuid)
  }

  insertResource(kind: ResourceKind, { uuid }: RowKey): void {
    this.#touchResource(kind, uuid)
  }

  updateResource(kind: ResourceKind, { uuid }: RowKey): void {
    this.#touchResource(kind, uuid)
  }

  deleteResource(kind: ResourceKind, { uuid }: RowKey): void {
    this.#touchResource(kind, uuid)
  }

  // The work of a node is in its row, and changes only with it.
  insertEffect(): void {}
  replaceEffect(): void {}
  deleteEffect(): void {}
  putDeadline(): void {}
  deleteDeadline(): void {}

  putInventory(node: string, inventory: StoredInventory): void {
    this.#inventories.set(node, JSON.stringify(inventory))
  }

  putNodeList(node: string, kind: NodeListKind, list: readonly unknown[]): void {
    const texts = list.map((element) => shareText(JSON.stringify(element)))
    this.#lists.set(node, new Map(this.#lists.get(node)).set(kind, texts))
  }

  addHistory(node: string, entry: HistoryEntry): void {
    this.#history.push({ node, text: JSON.stringify(entry) })
  }

  #touchNode(uuid: string): void {
    if (!this.#nodes.has(uuid)) this.#nodes.set(uuid, nodeImage(this.#records, uuid))
  }

  #touchPort(uuid: string): void {
    if (!this.#ports.has(uuid)) this.#ports.set(uuid, this.#records.ports.get(uuid))
  }

  #touchResource(kind: ResourceKind, uuid: string): void {
    const key = resourceKey(kind, uuid)
    if (!this.#resources.has(key))
      this.#resources.set(key, { kind, uuid, before: resourceImage(this.#records, kind, uuid) })
  }
}

function nodeImage(records: Records, uuid: string): NodeImage | undefined {
  const entry = records.nodes.get(uuid)
  return entry && { entry, work: records.workOf(uuid) }
}

function resourceImage(records: Records, kind: ResourceKind, uuid: string): ResourceImage | undefined {
  const record = records.resources(kind).byUuid.get(uuid)
  return record && { kind, record }
}

/** Makes a node in memory what it is in an image: also none. */
export function putNodeImage(records: Records, uuid: string, image: NodeImage | undefined): void {
  if (!image) return records.dropNode(uuid)
  records.putNode(image.entry)
  records.putWork(uuid, image.work)
}

export function putPortImage(records: Records, uuid: string, port: PortRecord | undefined): void {
  if (port) records.putPort(port)
  else records.dropPort(uuid)
}

export function putResourceImage(
  records: Records,
  kind: ResourceKind,
  uuid: string,
  image: ResourceImage | undefined,
): void {
  if (image) records.putResource(image.kind, image.record)
  else records.resources(kind).drop(uuid)
}
