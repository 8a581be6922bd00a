import { maskValue } from '../../control/index.js'

const MAX_SHOWN_VALUE = 300

/** A value in a line, without secrets; null for one that is not there. Keys are in one order, so that equal values are equal. */
export function shownValue(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null
  const masked = maskValue(value)
  const text = typeof masked === 'string' ? masked : JSON.stringify(inOrder(masked))
  return text.length > MAX_SHOWN_VALUE ? `${text.slice(0, MAX_SHOWN_VALUE)}...` : text
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, inOrder(inner)]))
}
