import { expect, test } from 'vitest'
import { recordingOf, type ShortExchange } from '../../../test/kit/recordings.js'
import { callsOf } from './compared-calls.js'
import { compareDocuments } from './compare-documents.js'
import { diffRecordings } from './diff-recordings.js'
import { groupDifferences, sentenceOf } from './difference.js'
import { IdMap } from './ids.js'
import { KnownDifferences } from './known-differences.js'
import { callName } from './call-routes.js'

const A = 'aaaaaaaa-0000-4000-8000-00000000000'
const B = 'bbbbbbbb-0000-4000-8000-00000000000'

const compared = (was: unknown, is: unknown, ids = new IdMap()) =>
  compareDocuments(was, is, 'body', { ids }).map((found) => sentenceOf({ call: '', ...found }))

test.each<[string, unknown, unknown, string[]]>([
  ['equal documents', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
  ['another value', { driver: 'ipmi' }, { driver: 'redfish' }, ['body.driver was "ipmi", is "redfish"']],
  ['a key that is gone, and a new one', { a: 1 }, { b: 2 }, ['body.a is missing, was 1', 'body.b is new: 2']],
  ['another type', { n: '1' }, { n: 1 }, ['body.n was "1", is 1, of another type']],
  ['a value in place of null', { fault: null }, { fault: 'x' }, ['body.fault was null, is "x"']],
  ['other times', { created_at: '2026-01-01T00:00:00', x_at: 5 }, { created_at: '2027-02-02T00:00:00', x_at: 6 }, []],
  ['a time that is not there', { created_at: null }, { created_at: '2027' }, ['body.created_at was null, is "2027"']],
  ['other ids', { uuid: `${A}1` }, { uuid: `${B}1` }, []],
  ['names in place of ids', { uuid: 'node-1' }, { uuid: 'node-2' }, ['body.uuid was "node-1", is "node-2"']],
  [
    'two ids that have become one',
    [{ uuid: `${A}1` }, { uuid: `${A}2` }],
    [{ uuid: `${B}1` }, { uuid: `${B}1` }],
    [`body[1].uuid was "${A}2", is "${B}1"`],
  ],
  ['ids in texts', { uuid: `${A}1`, error: `node ${A}1 failed` }, { uuid: `${B}1`, error: `node ${B}1 failed` }, []],
  [
    'another id in a text',
    { uuid: `${A}1`, error: `node ${A}1` },
    { uuid: `${B}1`, error: `node ${B}2` },
    [`body.error was "node ${A}1", is "node ${B}2"`],
  ],
  ['links to other hosts', { href: 'http://a:1/v1/x' }, { href: 'https://b/v1/x' }, []],
  [
    'links to another path',
    { href: 'http://a/v1/x' },
    { href: 'http://a/v1/y' },
    ['body.href was "http://a/v1/x", is "http://a/v1/y"'],
  ],
  ['a lock of that moment', { reservation: null }, { reservation: 'host' }, []],
  ['secrets', { password: '***1' }, { password: '***7' }, []],
  [
    'a secret that is shown now',
    { password: '******' },
    { password: '***1' },
    ['body.password was "******", is "***1"'],
  ],
  [
    'lists in another order, by name',
    [
      { name: 'a', v: 1 },
      { name: 'b', v: 2 },
    ],
    [
      { name: 'b', v: 3 },
      { name: 'a', v: 1 },
    ],
    ['body[b].v was 2, is 3'],
  ],
  [
    'steps',
    [{ interface: 'deploy', step: 'x' }],
    [],
    ['body[deploy.x] is missing, was {"interface":"deploy","step":"x"}'],
  ],
  ['longer lists', [1], [1, 2], ['body[1] is new: 2']],
  [
    'documents in texts',
    { error_message: '{"faultstring":"a"}' },
    { error_message: '{"faultstring":"b"}' },
    ['body.error_message.faultstring was "a", is "b"'],
  ],
  ['a key of another kind, __proto__', JSON.parse('{"__proto__":1}'), {}, ['body.__proto__ is missing, was 1']],
])('documents are compared: %s', (_, was, is, sentences) => {
  expect(compared(was, is)).toEqual(sentences)
})

test('GETs of one target between two changes are one call, and so is a change that is repeated after a refusal', () => {
  const { exchanges } = recordingOf(
    { target: '/v1/nodes/a' },
    { target: '/v1/nodes/b' },
    { target: '/v1/nodes/a' },
    { method: 'PUT', target: '/v1/nodes/a/states/power', asks: { target: 'power on' }, status: 409 },
    { method: 'PUT', target: '/v1/nodes/a/states/power', asks: { target: 'power on' }, status: 202 },
    { method: 'PUT', target: '/v1/nodes/a/states/power', asks: { target: 'power on' }, status: 202 },
    { target: '/v1/nodes/a' },
  )
  expect(callsOf(exchanges).map((call) => call.exchanges.map(({ seq }) => seq))).toEqual([
    [1, 3],
    [2],
    [4, 5],
    [6],
    [7],
  ])
})

test('a call is named by its route, a command by its name', () => {
  const name = (more: ShortExchange) => callName(recordingOf(more).exchanges[0]!)
  expect(name({ target: '/v1/nodes/x?fields=a' })).toBe('GET /v1/nodes/{node_ident}')
  expect(name({ target: '/v1/nodes/detail' })).toBe('GET /v1/nodes/detail')
  expect(name({ target: '/v1/nodes/' })).toBe('GET /v1/nodes')
  expect(name({ target: '/elsewhere' })).toBe('GET /elsewhere')
  expect(
    name({
      from: 'ironic',
      to: 'agent',
      method: 'POST',
      target: '/v1/commands/?wait=true',
      asks: { name: 'standby.sync' },
    }),
  ).toBe('POST /v1/commands/ standby.sync')
})

const created = (id: string): ShortExchange => ({
  method: 'POST',
  asks: { driver: 'x' },
  answers: { uuid: id, name: 'n' },
  status: 201,
})
const node = (id: string, state: string, more = {}): ShortExchange => ({
  target: `/v1/nodes/${id}`,
  answers: { uuid: id, provision_state: state, ...more },
})
const provision = (id: string, target: string, more: ShortExchange = {}): ShortExchange => ({
  method: 'PUT',
  target: `/v1/nodes/${id}/states/provision`,
  asks: { target },
  status: 202,
  ...more,
})
const sentences = (was: ShortExchange[], is: ShortExchange[]) =>
  groupDifferences(diffRecordings(recordingOf(...was), recordingOf(...is)).differences).map(
    ({ first, seqs }) => `${seqs.join()} ${first.call}: ${sentenceOf(first)}`,
  )

test('recordings of two runs with other ids and other polls do not differ', () => {
  const run = (id: string, ...states: string[]) => [
    created(id),
    provision(id, 'active'),
    ...states.map((state) => node(id, state)),
  ]
  expect(
    sentences(run(`${A}1`, 'available', 'deploying', 'wait call-back', 'active'), run(`${B}1`, 'deploying', 'active')),
  ).toEqual([])
})

test('recordings that differ in status, states and calls', () => {
  const was = [
    created(`${A}1`),
    provision(`${A}1`, 'active'),
    node(`${A}1`, 'deploying'),
    node(`${A}1`, 'active', { fault: null }),
  ]
  const is = [
    created(`${B}1`),
    { target: '/v1/drivers' },
    provision(`${B}1`, 'active', { status: 200 }),
    node(`${B}1`, 'deploying'),
    node(`${B}1`, 'deploy failed', { fault: 'x' }),
  ]
  expect(sentences(was, is)).toEqual([
    '2 GET /v1/drivers: is made in addition',
    '2 PUT /v1/nodes/{node_ident}/states/provision: status was 202, is 200',
    '4 GET /v1/nodes/{node_ident}: states was ["active"], is ["deploy failed"]',
  ])
})

test('a failure on the way is seen, though the end is the same', () => {
  const run = (...states: string[]) => [created(`${A}1`), ...states.map((state) => node(`${A}1`, state))]
  expect(
    sentences(
      run('available', 'deploying', 'active'),
      run('available', 'deploying', 'deploy failed', 'deploying', 'active'),
    ),
  ).toEqual(['4 GET /v1/nodes/{node_ident}: states was ["active"], is ["deploy failed","active"]'])
})

test('the calls of Ironic to an agent are compared with what they ask for', () => {
  const command = (id: string, steps: string[]): ShortExchange => ({
    from: 'ironic',
    to: 'agent',
    node: id,
    method: 'POST',
    target: '/v1/commands/?agent_token=***1',
    asks: { name: 'clean.get_clean_steps', params: { node: { uuid: id }, steps } },
    answers: { id: 'x' },
  })
  expect(sentences([created(`${A}1`), command(`${A}1`, ['a'])], [created(`${B}1`), command(`${B}1`, ['b'])])).toEqual([
    '2 POST /v1/commands/ clean.get_clean_steps: request.params.steps[0] was "a", is "b"',
  ])
})

test('equal differences of many calls are one', () => {
  const run = (value: string) =>
    [1, 2, 3].map((count) => ({ target: `/v1/nodes/${count}`, answers: { driver: value } }))
  expect(sentences(run('a'), run('b'))).toEqual(['1,2,3 GET /v1/nodes/{node_ident}: body.driver was "a", is "b"'])
})

test('known differences are found by call, place and values; those that were not seen are named', () => {
  const known = new KnownDifferences([
    { where: 'GET /v1/nodes/* body.extra.**', why: 'a' },
    { where: 'status', was: 202, is: 200, why: 'b' },
    { where: 'PUT ** header.location', why: 'c' },
    { where: '* /v1/ports body.ports[].uuid', why: 'd' },
  ])
  const find = (call: string, place: string, more = {}) => known.find({ call, place, kind: 'value', ...more })?.why
  expect(find('GET /v1/nodes/{node_ident}', 'body.extra.a.b')).toBe('a')
  expect(find('GET /v1/nodes', 'body.extra.a')).toBeUndefined()
  expect(find('PUT /x', 'status', { was: 202, is: 200 })).toBe('b')
  expect(find('PUT /x', 'status', { was: 202, is: 409 })).toBeUndefined()
  expect(find('GET /v1/ports', 'body.ports[3].uuid')).toBe('d')
  expect(known.unused.map(({ why }) => why)).toEqual(['c'])
})

test('ten thousand calls are compared in seconds', () => {
  const run = (state: string) =>
    Array.from({ length: 10_000 }, (_, index) => ({ ...provision(String(index), 'manage'), answers: { state } }))
  expect(sentences(run('a'), run('b').slice(100))).toHaveLength(101)
})
