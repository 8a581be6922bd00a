import type { NodeListKind } from '../../wire/index.js'
import { Records, type NodeEntry } from './records.js'
import type { StoredInventory, StoreRows } from './rows.js'
import type { HistoryEntry } from './store.js'

const nothing = (): void => {}

/** Rows of a store without a file: it keeps what {@link Records} does not have, as texts, and writes nothing else again. */
export class MemoryRows implements StoreRows {
  readonly #inventories = new Map<string, string>()
  readonly #lists = new Map<string, Map<NodeListKind, string>>()
  readonly #history = new Map<string, string[]>()

  load = (): Records => new Records()
  begin = nothing
  commit = nothing
  rollback = nothing

  insertNode = nothing
  updateNode = nothing
  insertPort = nothing
  updatePort = nothing
  deletePort = nothing
  insertResource = nothing
  updateResource = nothing
  deleteResource = nothing
  insertEffect = nothing
  replaceEffect = nothing
  deleteEffect = nothing
  putDeadline = nothing
  deleteDeadline = nothing
  close = nothing

  deleteNode({ columns: { uuid } }: NodeEntry): void {
    for (const texts of [this.#inventories, this.#lists, this.#history]) texts.delete(uuid)
  }

  putInventory(node: string, inventory: StoredInventory): void {
    this.#inventories.set(node, JSON.stringify(inventory))
  }

  inventory(node: string): StoredInventory | undefined {
    const text = this.#inventories.get(node)
    return text === undefined ? undefined : (JSON.parse(text) as StoredInventory)
  }

  putNodeList(node: string, kind: NodeListKind, list: readonly unknown[]): void {
    const lists = this.#lists.get(node) ?? new Map<NodeListKind, string>()
    this.#lists.set(node, lists.set(kind, JSON.stringify(list)))
  }

  nodeList(node: string, kind: NodeListKind): unknown[] {
    return JSON.parse(this.#lists.get(node)?.get(kind) ?? '[]') as unknown[]
  }

  addHistory(node: string, entry: HistoryEntry): void {
    const entries = this.#history.get(node) ?? []
    this.#history.set(node, entries)
    entries.push(JSON.stringify(entry))
  }

  history(node: string): HistoryEntry[] {
    return (this.#history.get(node) ?? []).map((text) => JSON.parse(text) as HistoryEntry)
  }
}
