import type { NodeEntry } from '../../store/records.js'

/** Last rendered text of each node, with its view: the base URL, microversion and fields of the request. */
const texts = new WeakMap<NodeEntry, { view: string; text: string }>()

/**
 * Renders a node in one view as JSON, once: an entry is one revision and never changes, nor does the uuid of its
 * chassis or allocation. Only the last view is cached, since clients poll with the same one.
 */
export function nodeText(entry: NodeEntry, view: string, render: () => unknown): string {
  const known = texts.get(entry)
  if (known?.view === view) return known.text
  const text = JSON.stringify(render())
  texts.set(entry, { view, text })
  return text
}
