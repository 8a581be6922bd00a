import type { FleetRow } from './fleet-rows.js'

/** Selects rows; a part that is empty selects all. */
export interface Filter {
  /** Provision states. */
  readonly states: readonly string[]
  /** Words, all of which a row has somewhere. */
  readonly text: string
  /** Id of a fault that struck it; `any` for any. */
  readonly fault: string
  /** Beginning of its error without names, as problems are grouped by; `any` for any. */
  readonly error: string
}

export const EVERYTHING: Filter = { states: [], text: '', fault: '', error: '' }

export function isEverything({ states, text, fault, error }: Filter): boolean {
  return states.length === 0 && text === '' && fault === '' && error === ''
}

export function filterRows(
  rows: readonly FleetRow[],
  filter: Filter,
  struckBy: (id: string) => readonly string[],
): FleetRow[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean)
  const states = new Set(filter.states)
  return rows.filter((row) => {
    if (states.size > 0 && !states.has(row.state)) return false
    if (filter.error !== '' && !(filter.error === 'any' ? row.error : row.error && commonError(row) === filter.error))
      return false
    if (filter.fault !== '') {
      const faults = struckBy(row.id)
      if (!(filter.fault === 'any' ? faults.length > 0 : faults.includes(filter.fault))) return false
    }
    if (words.length === 0) return true
    const text = [row.name, row.id, row.machine, row.state, row.step, row.error, row.power, row.waitsFor]
      .join('\n')
      .toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

const FILTER_UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi

/** A row's error as it would be of any node: one sentence for all that fail alike. */
export function commonError({ error, name, machine }: Pick<FleetRow, 'error' | 'name' | 'machine'>): string {
  let text = error ?? ''
  // Longer names first: node-1 is the beginning of node-10.
  for (const own of [name, machine]) if (own !== null && own.length > 2) text = text.replaceAll(own, 'NODE')
  return text
    .replace(FILTER_UUIDS, 'NODE')
    .replace(/\bhttps?:\/\/\S+/g, 'URL')
    .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z?\b/g, 'TIME')
    .replace(/\b(?:req-NODE|0x[0-9a-f]+)\b/gi, 'ID')
}

/** How many rows there are of each state, the most frequent first. */
export function countsOf(rows: readonly FleetRow[]): { state: string; count: number; look: FleetRow['look'] }[] {
  const counts = new Map<string, { state: string; count: number; look: FleetRow['look'] }>()
  for (const { state, look } of rows) {
    const known = counts.get(state)
    if (known) known.count++
    else counts.set(state, { state, look, count: 1 })
  }
  return [...counts.values()].sort((a, b) => b.count - a.count || a.state.localeCompare(b.state))
}
