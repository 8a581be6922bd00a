import { expect, test } from 'vitest'
import { fleetOrderIn, orderRows } from './fleet-order.js'
import type { FleetRow } from './fleet-rows.js'

const row = (name: string, more: Partial<FleetRow>): FleetRow =>
  ({ name, machine: null, error: null, since: null, ...more }) as FleetRow

const ROWS = [
  row('node-0', { state: 'manageable', since: 30 }),
  row('node-1', { state: 'active', since: null, error: 'node-1 has no disk' }),
  row('node-2', { state: 'manageable', since: 10, error: 'another' }),
  row('node-3', { state: 'active', since: 20, error: 'node-3 has no disk' }),
]

const namesBy = (order: string | undefined): string[] =>
  orderRows(ROWS, fleetOrderIn(order)).map(({ name }) => name.replace('node-', ''))

test.each([
  [undefined, '0123'],
  ['name', '0123'],
  ['constructor', '0123'],
  ['state', '1302'],
  ['error', '1320'],
  ['since', '2301'],
])('order %s', (order, names) => {
  expect(namesBy(order).join('')).toBe(names)
})
