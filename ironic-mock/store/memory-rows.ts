import { jsonInOnePiece, shareText } from '../../base/runtime/index.js'
import type { NodeListKind } from '../../base/wire/index.js'
import { Records, type NodeEntry } from './record-store.js'
import type { StoredInventory, StoreRows } from './store-rows.js'
import type { HistoryEntry } from './store.js'
import { joinJsonList, type NodeTexts } from './store-state.js'

const nothing = (): void => {}

/** Rows of a store without a file: it keeps what {@link Records} does not have, as texts, and writes nothing else again. */
export class MemoryRows implements StoreRows {
  readonly #inventories = new Map<string, string>()
  // The values are replaced and never changed, so that snapshots share them.
  readonly #lists = new Map<string, ReadonlyMap<NodeListKind, readonly string[]>>()
  readonly #history = new Map<string, readonly string[]>()

  load = (): Records => new Records()
  begin = nothing
  commit = nothing
  rollback = nothing

  clear(): void {
    for (const texts of [this.#inventories, this.#lists, this.#history]) texts.clear()
  }

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
    this.#inventories.set(node, jsonInOnePiece(inventory))
  }

  inventory(node: string): StoredInventory | undefined {
    const text = this.#inventories.get(node)
    return text === undefined ? undefined : (JSON.parse(text) as StoredInventory)
  }

  putNodeList(node: string, kind: NodeListKind, list: readonly unknown[]): void {
    const texts = list.map((element) => shareText(JSON.stringify(element)))
    this.#lists.set(node, new Map(this.#lists.get(node)).set(kind, texts))
  }

  nodeList(node: string, kind: NodeListKind): unknown[] {
    return JSON.parse(joinJsonList(this.#lists.get(node)?.get(kind) ?? [])) as unknown[]
  }

  addHistory(node: string, entry: HistoryEntry): void {
    this.#history.set(node, [...(this.#history.get(node) ?? []), jsonInOnePiece(entry)])
  }

  history(node: string): HistoryEntry[] {
    return (this.#history.get(node) ?? []).map((text) => JSON.parse(text) as HistoryEntry)
  }

  texts(): NodeTexts {
    return { inventories: new Map(this.#inventories), lists: new Map(this.#lists), history: new Map(this.#history) }
  }

  putTexts({ inventories, lists, history }: NodeTexts): void {
    for (const [node, text] of inventories) this.#inventories.set(node, text)
    for (const [node, of] of lists) this.#lists.set(node, of)
    for (const [node, of] of history) this.#history.set(node, of)
  }
}
