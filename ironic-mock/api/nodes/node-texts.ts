import type { NodeEntry } from '../../store/records.js'

/** One view of a node: who asked from where, in which microversion, for which fields. */
const texts = new WeakMap<NodeEntry, { view: string; text: string }>()

/**
 * The JSON of a node in one view, rendered once: an entry is one revision and never changes, nor does the uuid of the
 * chassis or allocation whose id it has. Only the last view is kept, since clients poll with the same one.
 */
export function nodeText(entry: NodeEntry, view: string, render: () => unknown): string {
  const known = texts.get(entry)
  if (known?.view === view) return known.text
  const text = JSON.stringify(render())
  texts.set(entry, { view, text })
  return text
}
