import type { JsonObject, NodeListKind, PortRecord, ResourceKind, ResourceRecords } from '../../base/wire/index.js'
import type { NodeEntry, Records } from './record-store.js'
import type { HistoryEntry, StoredEffect } from './store.js'
import type { NodeTexts } from './store-state.js'

/** An inventory as inspection left it. */
export interface StoredInventory {
  inventory: JsonObject
  plugin_data: JsonObject
}

/** Where a {@link Writer} puts rows, while it changes {@link Records} in the same way. */
export interface RowWrites {
  insertNode(entry: NodeEntry): void
  updateNode(before: NodeEntry, after: NodeEntry): void
  /** Deletes the node with its deadlines, inventory, history and lists. */
  deleteNode(entry: NodeEntry): void
  insertPort(port: PortRecord): void
  updatePort(port: PortRecord): void
  deletePort(port: RowKey): void
  insertResource(kind: ResourceKind, record: ResourceRecords[ResourceKind]): void
  updateResource(kind: ResourceKind, record: ResourceRecords[ResourceKind]): void
  deleteResource(kind: ResourceKind, record: RowKey): void
  insertEffect(effect: StoredEffect): void
  /** The next effect takes over the row of one that is done. */
  replaceEffect(done: number, effect: StoredEffect): void
  deleteEffect(id: number): void
  putDeadline(node: string, kind: string, at: number): void
  deleteDeadline(node: string, kind: string): void
  putInventory(node: string, inventory: StoredInventory): void
  putNodeList(node: string, kind: NodeListKind, list: readonly unknown[]): void
  addHistory(node: string, entry: HistoryEntry): void
}

/** Both names of a record: tables are keyed by either. */
export interface RowKey {
  readonly id: number
  readonly uuid: string
}

/**
 * Rows that the store writes behind {@link Records}, and reads back when it opens. Inventories, lists and history of a
 * node are here alone, since they are read on demand.
 */
export interface StoreRows extends RowWrites {
  /** Reads all that was written before. */
  load(): Records
  /** Begins a transaction. */
  begin(): void
  commit(): void
  /** Ends the transaction without its changes, if it has not ended by itself. */
  rollback(): void
  /** Deletes all rows; ids begin again. */
  clear(): void

  inventory(node: string): StoredInventory | undefined
  nodeList(node: string, kind: NodeListKind): unknown[]
  history(node: string): HistoryEntry[]

  /** Inventories, lists and history of all nodes. */
  texts(): NodeTexts
  /** Adds those of a snapshot. */
  putTexts(texts: NodeTexts): void

  /** Closes, with nothing left in files but the database; `abandoned` leaves them as a killed process would. */
  close(abandoned?: boolean): void
}
