import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defined } from '../../base/runtime/index.js'
import { IRONIC_OPERATIONS } from '../../base/wire/index.js'
import { BASE } from './replay.js'
import { openStage } from './stage.js'

const nasty = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  ' ',
  '%',
  '..',
  '‮',
  'a'.repeat(300),
  '-1',
  'null',
]
const word = fc.oneof(fc.constantFrom(...nasty, 'node-b', 'uuid', 'name', 'true'), fc.string({ maxLength: 8 }))
const body = fc.oneof(
  fc.constant(undefined),
  fc.json({ maxDepth: 4 }),
  fc.string({ maxLength: 20 }),
  fc
    .record(
      {
        target: word,
        driver: fc.constantFrom('fake-hardware', 'constructor'),
        name: word,
        address: word,
        node_uuid: word,
      },
      { requiredKeys: [] },
    )
    .map((fields) => JSON.stringify(fields)),
  fc
    .array(
      fc.record({
        op: fc.constantFrom('add', 'remove', 'replace'),
        path: word.map((key) => `/extra/${key}`),
        value: fc.jsonValue(),
      }),
    )
    .map((patch) => JSON.stringify(patch)),
)

test('whatever is sent, to whichever call, in whichever version: it is answered, and never with 500', async () => {
  await using stage = await openStage()
  await stage.client.createNode({ driver: 'fake-hardware', name: 'node-b' })
  const names = IRONIC_OPERATIONS.flatMap((row) => ('query' in row ? Object.keys(row.query) : []))
  const request = fc.record({
    row: fc.constantFrom(...IRONIC_OPERATIONS),
    ident: word,
    query: fc.array(fc.tuple(fc.oneof(fc.constantFrom(...names), word), word), { maxLength: 2 }),
    version: fc.oneof(
      fc.integer({ min: 1, max: 115 }).map((minor) => `1.${minor}`),
      word,
    ),
    body,
  })
  await fc.assert(
    fc.asyncProperty(request, async ({ row, ident, query, version, body: text }) => {
      const path = row.path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(ident))
      const search = query.length > 0 ? `?${new URLSearchParams(query).toString()}` : ''
      const response = await stage.api({
        method: row.method,
        target: path + search,
        headers: { 'x-openstack-ironic-api-version': version },
        ...defined({ body: text }),
        base: BASE,
      })
      expect(response.status, `${row.method} ${path}${search} ${text}: ${response.body}`).toBeLessThan(500)
      expect(response.headers['x-openstack-request-id']).toMatch(/^req-[0-9a-f-]{36}$/)
      if (response.body !== undefined) JSON.parse(response.body)
    }),
    { numRuns: 400 },
  )
})

test.each<[string, string, unknown]>([
  ['PUT', '/v1/nodes/node-b/states/secure_boot', { target: { toString: 1 } }],
  ['PUT', '/v1/nodes/node-b/states/console', { enabled: { toString: null, valueOf: {} } }],
  ['PATCH', '/v1/nodes/node-b', [{ op: 'add', path: '/maintenance', value: { toString: 1 } }]],
  ['POST', '/v1/ports', { node_uuid: { toString: 1 }, address: '52:54:00:00:00:01' }],
  ['POST', '/v1/allocations', { name: { toString: 1 }, resource_class: 'x' }],
])('an object with a member where others have a method is refused as any other: %s %s %j', async (...call) => {
  await using stage = await openStage()
  await stage.client.createNode({ driver: 'fake-hardware', name: 'node-b' })
  const [method, target, body] = call
  const headers = { 'x-openstack-ironic-api-version': '1.115' }
  expect(await stage.api({ method, target, headers, body: JSON.stringify(body), base: BASE })).toMatchObject({
    status: 400,
  })
})
