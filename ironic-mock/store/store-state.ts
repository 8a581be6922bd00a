import type { NodeListKind } from '../../base/wire/index.js'
import { Records } from './record-store.js'
import { RESOURCE_KINDS } from './store-resources.js'
import type { StoreRows } from './store-rows.js'

/** Rows that are not in {@link Records}, as JSON texts by node. */
export interface NodeTexts {
  readonly inventories: ReadonlyMap<string, string>
  /** A text for each element, which nodes of a kind of hardware have in common. */
  readonly lists: ReadonlyMap<string, ReadonlyMap<NodeListKind, readonly string[]>>
  readonly history: ReadonlyMap<string, readonly string[]>
}

/** JSON of a list by that of its elements. */
export const joinJsonList = (elements: readonly string[]): string => `[${elements.join(',')}]`

/** A whole database at one moment. Nothing changes it; a database without a file shares its records. */
export interface StoreState {
  readonly records: Records
  readonly texts: NodeTexts
}

/** A database with nothing in it. */
export const emptyState = (): StoreState => ({
  records: new Records(),
  texts: { inventories: new Map(), lists: new Map(), history: new Map() },
})

/** Puts a whole database in the place of the rows, in one transaction. */
export function writeState(rows: StoreRows, { records, texts }: StoreState): void {
  rows.begin()
  rows.clear()
  for (const entry of records.nodes.values()) rows.insertNode(entry)
  for (const port of records.ports.values()) rows.insertPort(port)
  for (const kind of RESOURCE_KINDS)
    for (const record of records.resources(kind).byUuid.values()) rows.insertResource(kind, record)
  for (const queue of records.effects.values()) for (const effect of queue) rows.insertEffect(effect)
  for (const [node, limits] of records.deadlines) for (const [kind, at] of limits) rows.putDeadline(node, kind, at)
  rows.putTexts(texts)
  rows.commit()
}
