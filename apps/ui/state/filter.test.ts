import { expect, test } from 'vitest'
import { fleetRow } from '../../../test/kit/fleet-row.js'
import { commonError, countsOf, EVERYTHING, filterRows, isEverything } from './filter.js'

const rows = [
  fleetRow('node-1', 'active'),
  fleetRow('node-10', 'deploy failed', { error: 'node-10 has no room', machine: 'machine-11' }),
  fleetRow('node-11', 'deploy failed', { error: 'node-11 has no room' }),
  fleetRow('node-2', 'clean wait', { step: 'deploy.erase_devices' }),
]
const struck = (id: string): readonly string[] => (id === 'id-node-10' ? ['fault-1'] : [])
const names = (filter: Partial<typeof EVERYTHING>) =>
  filterRows(rows, { ...EVERYTHING, ...filter }, struck).map(({ name }) => name)

test.each([
  [{}, ['node-1', 'node-10', 'node-11', 'node-2']],
  [{ states: ['active', 'clean wait'] }, ['node-1', 'node-2']],
  [{ text: 'ERASE' }, ['node-2']],
  [{ text: 'room machine-11' }, ['node-10']],
  [{ fault: 'fault-1' }, ['node-10']],
  [{ fault: 'any' }, ['node-10']],
  [{ fault: 'fault-2' }, []],
  [{ error: 'any' }, ['node-10', 'node-11']],
  [{ error: 'NODE has no room', text: 'node-11' }, ['node-11']],
])('%j selects %j', (filter, expected) => {
  expect(names(filter)).toEqual(expected)
})

test('a filter of nothing selects everything', () => {
  expect(isEverything(EVERYTHING)).toBe(true)
  expect(isEverything({ ...EVERYTHING, text: 'a' })).toBe(false)
})

test('the same error of two nodes is one sentence', () => {
  const of = (name: string, uuid: string) =>
    commonError({ name, machine: null, error: `${uuid} (${name}) failed at http://127.0.0.1:1/${name}` })
  expect(of('node-1', 'a3c843be-7a53-4a15-a70d-49d82611a9f8')).toBe(
    of('node-10', '24fb02ff-c8c4-4d6f-b9c7-9807109e1897'),
  )
})

test('states are counted, the most frequent first', () => {
  expect(countsOf(rows).map(({ state, count }) => [state, count])).toEqual([
    ['deploy failed', 2],
    ['active', 1],
    ['clean wait', 1],
  ])
})
