import type { NodeEntry } from '../../store/record-store.js'
import { itemText, type ItemText } from '../json-text.js'

/** Last rendered text of each node, with its view: the base URL, microversion, conductors and fields of the request. */
const lastNodeTexts = new WeakMap<NodeEntry, { view: string; item: ItemText }>()

/**
 * Renders nodes in one view as JSON, each once: an entry is one revision and never changes, nor does the uuid of its
 * chassis or allocation. Only the last view is cached, since clients poll with the same one.
 */
export function nodeTexts(
  entries: readonly NodeEntry[],
  view: string,
  render: (entry: NodeEntry) => unknown,
): ItemText[] {
  return entries.map((entry) => {
    const known = lastNodeTexts.get(entry)
    if (known?.view === view) return known.item
    const item = itemText(render(entry))
    lastNodeTexts.set(entry, { view, item })
    return item
  })
}
