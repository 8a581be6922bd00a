import { expect, test } from 'vitest'
import type { ShownExchange } from './exchanges.js'
import {
  callKey,
  curlOfCall,
  cutText,
  isBefore,
  selectedCalls,
  sequenceOf,
  sequencePlaces,
  shortText,
  withMore,
} from './exchanges.js'

const call = (id: number, more: object = {}): ShownExchange =>
  ({
    id,
    kind: 'exchange',
    node: 'uuid-1',
    name: 'node-1',
    machine: 'm1',
    fault: null,
    labTime: '',
    wallTime: '',
    from: 'client',
    to: 'ironic',
    method: 'GET',
    target: '/v1/nodes/node-1',
    status: 200,
    error: null,
    duration: 1,
    ...more,
  }) as ShownExchange

const NO_FILTER = { node: '', party: '', route: '', status: '', isWithoutReads: false }
const CALLS = [
  call(1),
  call(2, { method: 'PUT', target: '/v1/nodes/node-1/states/provision', status: 202 }),
  call(3, { from: 'ironic', to: 'agent', method: 'POST', target: '/v1/commands/', status: null, error: 'refused' }),
  call(4, { kind: 'bmc', call: 'set power', method: null, target: null, status: null, name: 'node-2', node: 'uuid-2' }),
  call(5, { status: 404, target: '/v1/node' }),
]
const ids = (filter: object) => selectedCalls(CALLS, { ...NO_FILTER, ...filter }).map(({ id }) => id)

test('calls are selected by node, party, route, status and whether they are reads', () => {
  expect(ids({})).toEqual([1, 2, 3, 4, 5])
  expect(ids({ node: 'node-2' })).toEqual([4])
  expect(ids({ node: 'uuid-2' })).toEqual([4])
  expect(ids({ party: 'agent' })).toEqual([3])
  expect(ids({ party: 'bmc' })).toEqual([4])
  expect(ids({ route: 'put provision' })).toEqual([2])
  expect(ids({ status: '4' })).toEqual([5])
  expect(ids({ status: 'failed' })).toEqual([3, 5])
  expect(ids({ isWithoutReads: true })).toEqual([2, 3, 4, 5])
})

test('calls of several processes have keys of their own, and stand in the order of time', () => {
  const first = call(7, { process: 'api-1', labTime: '2026-01-01T00:00:01.000Z' })
  const other = call(7, { process: 'api-2', labTime: '2026-01-01T00:00:02.000Z' })
  expect([call(7), first, other].map(callKey)).toEqual(['7', 'api-1 7', 'api-2 7'])
  expect([isBefore(first, other), isBefore(other, first)]).toEqual([true, false])
  expect([isBefore(call(6), call(7)), isBefore(call(7), call(7))]).toEqual([true, false])
})

test('a diagram has a column for each party that takes part', () => {
  const { parties, arrows } = sequenceOf(CALLS)
  expect(parties).toEqual(['client', 'ironic', 'agent', 'bmc'])
  expect(arrows.map(({ from, to, answer, isBad }) => [from, to, answer, isBad])).toEqual([
    [0, 1, '200', false],
    [0, 1, '202', false],
    [1, 2, 'refused', true],
    [1, 3, 'ok', false],
    [0, 1, '404', true],
  ])
})

test('only the last calls stay', () => {
  const many = Array.from({ length: 3000 }, (_, id) => call(id))
  expect(withMore(many.slice(0, 1500), many.slice(1500)).map(({ id }) => id)).toEqual(
    Array.from({ length: 2000 }, (_, at) => at + 1000),
  )
})

test('long paths and ids are cut', () => {
  expect(shortText('GET /v1/nodes/01234567-89ab-cdef-0123-456789abcdef')).toBe('GET /v1/nodes/01234567…')
  expect(cutText('x'.repeat(100), 10)).toBe('xxxxxxxxx…')
  expect(cutText('short', 10)).toBe('short')
})

test('the diagram fits a phone, and spreads on a screen', () => {
  expect(sequencePlaces(340, 4)).toMatchObject({ width: 340, isNarrow: true })
  expect(sequencePlaces(1240, 4)).toMatchObject({ width: 1240, column: 230, isNarrow: false })
  // More columns than there is room for are scrolled to.
  expect(sequencePlaces(340, 6).width).toBeGreaterThan(340)
})

test('a call is shown for a shell as it was made; its server is a variable where the page does not know it', () => {
  const request = { headers: { 'x-openstack-ironic-api-version': '1.81' }, body: { target: "it's" }, size: 9 }
  const put = call(6, { method: 'PUT', target: '/v1/nodes/n/states/provision', request })
  expect(curlOfCall(put, 'http://lab')).toBe(
    `curl -sS -X PUT -H 'X-OpenStack-Ironic-API-Version: 1.81' -H 'Content-Type: application/json' ` +
      String.raw`-d '{"target":"it'\''s"}' 'http://lab/v1/nodes/n/states/provision'`,
  )
  const agent = call(7, {
    from: 'ironic',
    to: 'agent',
    method: 'GET',
    target: '/v1/commands/$(x)',
    request: { headers: {} },
  })
  expect(curlOfCall(agent, 'http://lab')).toBe(`curl -sS "$AGENT_URL"'/v1/commands/$(x)'`)
  const bmc = { kind: 'bmc', call: 'set power', status: 204 }
  expect(curlOfCall(call(8, { ...bmc, method: 'POST', target: '/redfish/v1/x' }), '')).toContain('"$BMC_URL"')
  expect(curlOfCall(call(9, { ...bmc, method: 'IPMI', target: 'Chassis Control' }), '')).toBe(null)
  expect(curlOfCall(call(10, { ...bmc, method: null, target: null }), '')).toBe(null)
})
