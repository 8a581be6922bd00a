import type { NodeListKind } from '../../../base/wire/index.js'
import { Records } from '../record-store.js'
import { joinJsonList } from '../store-state.js'
import {
  putNodeImage,
  putPortImage,
  putResourceImage,
  resourceKey,
  type NodeListTexts,
  type RecordChanges,
} from './changed-rows.js'
import {
  listElements,
  nodeImageOf,
  portOf,
  resourceImageOf,
  type ListRow,
  type NodeRow,
  type PortRow,
  type ResourceRow,
} from './read-rows.js'
import { RowVersions, type ChangedKeys } from './row-statements.js'

/** Rows of the database as they are; for each key without a row the record is gone. */
export interface FetchedRows {
  readonly nodes: readonly NodeRow[]
  readonly ports: readonly PortRow[]
  readonly resources: readonly ResourceRow[]
  readonly lists: readonly ListRow[]
}

/** The database in the memory of one of its processes, changed by what this process and others have committed. */
export class SharedRecords {
  readonly records = new Records()
  readonly versions = new RowVersions()
  readonly #lists = new Map<string, NodeListTexts>()

  /** A list of a node; empty when none is stored. */
  list(node: string, kind: NodeListKind): unknown[] {
    return JSON.parse(joinJsonList(this.#lists.get(node)?.get(kind) ?? [])) as unknown[]
  }

  /** Takes over what this process has committed. */
  applyOwn(changes: RecordChanges): void {
    const { records, versions } = this
    for (const [uuid, { before, after }] of changes.nodes) {
      putNodeImage(records, uuid, after)
      if (before?.entry.columns.id !== after?.entry.columns.id) this.#lists.delete(uuid)
    }
    for (const [uuid, { before, after }] of changes.ports) {
      putPortImage(records, uuid, after)
      versions.set(uuid, before && before.id === after?.id ? versions.of(uuid) + 1 : 1)
    }
    for (const [key, { kind, uuid, before, after }] of changes.resources) {
      putResourceImage(records, kind, uuid, after)
      versions.set(key, before && before.record.id === after?.record.id ? versions.of(key) + 1 : 1)
    }
    for (const [node, lists] of changes.lists)
      this.#lists.set(node, new Map([...(this.#lists.get(node) ?? []), ...lists]))
  }

  /** Takes over the rows of records that another process has changed, which were read in the order of own commits. */
  applyFetched(keys: ChangedKeys, rows: FetchedRows): void {
    const { records, versions } = this
    const nodes = new Map(rows.nodes.map((row) => [row.uuid, row]))
    for (const uuid of keys.nodes) {
      const row = nodes.get(uuid)
      const known = records.nodes.get(uuid)
      if (row && known?.revision === Number(row.revision) && known.columns.id === Number(row.id)) continue
      putNodeImage(records, uuid, row && nodeImageOf(row))
      if (!row || known?.columns.id !== Number(row.id)) this.#lists.delete(uuid)
    }
    const ports = new Map(rows.ports.map((row) => [row.uuid, row]))
    for (const uuid of keys.ports) {
      const row = ports.get(uuid)
      putPortImage(records, uuid, row && portOf(row))
      versions.set(uuid, row?.version ?? 1)
    }
    const resources = new Map(rows.resources.map((row) => [resourceKey(row.kind, row.uuid), row]))
    for (const [kind, uuid] of keys.resources) {
      const key = resourceKey(kind, uuid)
      const row = resources.get(key)
      putResourceImage(records, kind, uuid, row && resourceImageOf(row))
      versions.set(key, row?.version ?? 1)
    }
    for (const node of keys.lists) this.#lists.delete(node)
    this.putLists(rows.lists)
  }

  /** Adds the rows of a page of nodes. */
  putNodes(rows: readonly NodeRow[]): void {
    for (const row of rows) putNodeImage(this.records, row.uuid, nodeImageOf(row))
  }

  putPorts(rows: readonly PortRow[]): void {
    for (const row of rows) {
      this.records.putPort(portOf(row))
      this.versions.set(row.uuid, row.version)
    }
  }

  putResources(rows: readonly ResourceRow[]): void {
    for (const row of rows) {
      const { kind, record } = resourceImageOf(row)
      this.records.putResource(kind, record)
      this.versions.set(resourceKey(kind, row.uuid), row.version)
    }
  }

  putLists(rows: readonly ListRow[]): void {
    for (const row of rows)
      this.#lists.set(row.node, new Map(this.#lists.get(row.node)).set(row.kind, listElements(row)))
  }
}
