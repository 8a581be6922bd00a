import { commonError } from './filter.js'
import type { FleetRow } from './fleet-rows.js'

/** How the machines of a fleet are put in order: those that are alike stand together. */
export const FLEET_ORDERS = {
  name: 'by name',
  state: 'grouped by state',
  error: 'grouped by error',
  since: 'longest in their state first',
} as const

export type FleetOrder = keyof typeof FLEET_ORDERS

/** The order that an address names; by name for any other text. */
export const fleetOrderIn = (text: string | undefined): FleetOrder =>
  text !== undefined && Object.hasOwn(FLEET_ORDERS, text) ? (text as FleetOrder) : 'name'

/** @param rows in the order of their names, in which those that are alike stay */
export function orderRows(rows: readonly FleetRow[], order: FleetOrder): readonly FleetRow[] {
  switch (order) {
    case 'name':
      return rows
    case 'state':
      return sortedBy(rows, ({ state }) => state)
    case 'error':
      // Machines without an error come last.
      return sortedBy(rows, (row) => (row.error === null ? '\uffff' : commonError(row)))
    case 'since':
      return sortedBy(rows, ({ since }) => since ?? Infinity)
  }
}

function sortedBy<Key extends string | number>(rows: readonly FleetRow[], keyOf: (row: FleetRow) => Key): FleetRow[] {
  const keys = new Map(rows.map((row) => [row, keyOf(row)]))
  return [...rows].sort((a, b) => compareKeys(keys.get(a)!, keys.get(b)!))
}

const compareKeys = <Key extends string | number>(a: Key, b: Key): number => (a < b ? -1 : a > b ? 1 : 0)
