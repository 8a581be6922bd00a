import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { Scope, seededRandom, systemClock } from '../../runtime/index.js'
import { HOSTS, host, servedKube } from '../../../test/kit/cluster/served-kube.js'
import { openKube } from '../open-kube.js'

/** Limits of a Kubernetes API server 1.31, and what it answers beyond them. */

let scope = new Scope()
afterEach(async () => {
  await scope[Symbol.asyncDispose]()
  scope = new Scope()
})

const KIB = 1024
const NODES = '/api/v1/nodes'
const JSON_PATCH = { 'content-type': 'application/json-patch+json' }
const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' }
const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' }
const YAML = { 'content-type': 'application/yaml' }

const node = (name: string, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, ...metadata },
})

/** Operations that double a list so many times. */
const bomb = (times: number) => [
  { op: 'add', path: '/spec/list', value: ['x'.repeat(50)] },
  ...Array.from({ length: times }, () => ({ op: 'copy', from: '/spec/list', path: '/spec/list/-' })),
]

async function servedHost() {
  const served = await servedKube(scope)
  await served.call('POST', HOSTS, host('a'))
  return served
}

describe('a JSON patch', () => {
  test.each([20, 28, 9_999])('whose %i copies double a list is refused, and nothing is written', async (times) => {
    const { call, store } = await servedHost()
    const before = store.resourceVersion

    expect(await call('PATCH', `${HOSTS}/a`, bomb(times), JSON_PATCH)).toMatchObject({
      status: 422,
      body: {
        kind: 'Status',
        reason: 'Invalid',
        details: {
          causes: [
            {
              message: expect.stringMatching(
                /^Unable to complete the copy, the accumulated size increase of copy is \d+, exceeding the limit 3145728$/,
              ) as string,
            },
          ],
        },
      },
    })
    expect(store.resourceVersion).toBe(before)
  })

  test('that copies the whole object into itself is refused', async () => {
    const { call } = await servedHost()
    const copies = Array.from({ length: 40 }, (_, index) => ({ op: 'copy', from: '', path: `/spec/copy${index}` }))

    expect(await call('PATCH', `${HOSTS}/a`, copies, JSON_PATCH)).toMatchObject({ status: 422 })
  })

  test('copies what is small enough', async () => {
    const { call } = await servedHost()

    expect(await call('PATCH', `${HOSTS}/a`, bomb(3), JSON_PATCH)).toMatchObject({ status: 200 })
  })

  test.each([
    [10_000, 200],
    [10_001, 413],
  ])('of %i operations is answered with %i', async (count, status) => {
    const { call } = await servedHost()
    const operations = Array.from({ length: count }, () => ({ op: 'add', path: '/spec/x', value: 1 }))

    const answer = await call('PATCH', `${HOSTS}/a`, operations, JSON_PATCH)

    expect(answer.status).toBe(status)
    if (status === 413)
      expect(answer.body).toMatchObject({
        reason: 'RequestEntityTooLarge',
        message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
      })
  })
})

describe('an object of more than 1.5 MiB', () => {
  const tooLarge = {
    status: 413,
    body: { kind: 'Status', reason: 'RequestEntityTooLarge', message: 'etcdserver: request is too large' },
  }
  const part = 'x'.repeat(1024 * KIB)

  test.each([
    ['merge patch', HOSTS, MERGE_PATCH, { spec: { description: part } }],
    ['JSON patch', HOSTS, JSON_PATCH, [{ op: 'add', path: '/spec/description', value: part }]],
    [
      'JSON patch that copies',
      HOSTS,
      JSON_PATCH,
      [{ op: 'copy', from: '/spec/architecture', path: '/spec/description' }],
    ],
    ['strategic merge patch', NODES, STRATEGIC, { spec: { description: part } }],
  ])('is not made by a %s', async (_, path, headers, patch) => {
    const { call } = await servedHost()
    await call('POST', NODES, node('a'))
    expect(await call('PATCH', `${path}/a`, { spec: { architecture: part } }, MERGE_PATCH)).toMatchObject({
      status: 200,
    })

    expect(await call('PATCH', `${path}/a`, patch, headers)).toMatchObject(tooLarge)
    expect(await call('PATCH', `${path}/a?dryRun=All`, patch, headers)).toMatchObject(tooLarge)
    expect(await call('PATCH', `${path}/a`, { spec: { architecture: null } }, MERGE_PATCH)).toMatchObject({
      status: 200,
    })
  })

  test('is not created', async () => {
    const { call } = await servedKube(scope)

    expect(await call('POST', HOSTS, host('b', { description: 'x'.repeat(1600 * KIB) }))).toMatchObject(tooLarge)
  })
})

test('annotations of 256 KiB together, in bytes, are the most', async () => {
  const { call } = await servedHost()
  const annotate = (value: string) =>
    call('PATCH', `${HOSTS}/a`, { metadata: { annotations: { a: value } } }, MERGE_PATCH)

  expect(await annotate('x'.repeat(256 * KIB - 1))).toMatchObject({ status: 200 })
  const refused = {
    status: 422,
    body: { details: { causes: [{ reason: 'FieldValueTooLong', field: 'metadata.annotations' }] } },
  }
  expect(await annotate('x'.repeat(256 * KIB))).toMatchObject(refused)
  expect(await annotate('ü'.repeat(130 * KIB))).toMatchObject(refused)
})

describe('all objects together', () => {
  test('have a limit, within which objects may still shrink and be deleted', () => {
    const { store } = openKube({ clock: systemClock(), random: seededRandom(1), capacity: 9 * KIB })
    const description = 'x'.repeat(3 * KIB)
    for (const name of ['a', 'b']) store.create('BareMetalHost', host(name, { description }))
    const status: unknown = expect.objectContaining({
      code: 507,
      message: 'etcdserver: mvcc: database space exceeded',
    })
    const full = expect.objectContaining({ status }) as unknown as Error

    expect(() => store.create('BareMetalHost', host('c', { description }))).toThrow(full)
    expect(() => store.create('BareMetalHost', host('c', { description }), { isDryRun: true })).toThrow(full)
    store.change('BareMetalHost', { name: 'a' }, (current) => ({ ...current, spec: { online: false } }))
    store.create('BareMetalHost', host('c', { description }))
    store.delete('BareMetalHost', { name: 'c' })
    store.create('BareMetalHost', host('d', { description }))
    expect(() => store.create('BareMetalHost', host('e', { description }))).toThrow(full)
  })
})

/** Each of these took minutes, in which nothing else was answered. */
describe('a body that costs much to work through is answered within seconds', { timeout: 60_000 }, () => {
  const many = Array.from({ length: 60_000 }, (_, index) => `example.com/${index}`)

  test.each([
    ['finalizers to merge', STRATEGIC, { metadata: { finalizers: many } }],
    ['members to remove', MERGE_PATCH, { metadata: Object.fromEntries(many.map((name) => [name, null])) }],
    ['members to remove, strategic', STRATEGIC, { spec: Object.fromEntries(many.map((name) => [name, null])) }],
    ['items to take out', STRATEGIC, { metadata: { '$deleteFromPrimitiveList/finalizers': many } }],
    ['taints to merge', STRATEGIC, { spec: { taints: many.slice(0, 30_000).map((key) => ({ key })) } }],
  ])('when a patch has many %s', async (_, headers, patch) => {
    const { call } = await servedKube(scope)
    await call('POST', NODES, node('a', { finalizers: many.slice(0, 20_000) }))
    await call(
      'PATCH',
      `${NODES}/a`,
      { spec: Object.fromEntries(many.slice(0, 20_000).map((k) => [k, 1])) },
      MERGE_PATCH,
    )

    const { status } = await call('PATCH', `${NODES}/a`, patch, headers)

    expect([200, 413, 422]).toContain(status)
  })

  test('labels that are all wrong are refused with the first hundred', async () => {
    const { call } = await servedKube(scope)
    const labels = Object.fromEntries(many.map((name) => [`-${name}`, 'a']))

    const answer = await call('POST', NODES, node('a', { labels }))

    expect(answer).toMatchObject({ status: 422 })
    const { details, message } = answer.body as { message: string; details: { causes: unknown[] } }
    expect(details.causes).toHaveLength(100)
    expect(message).toContain('and 59900 more errors')
  })

  test.each([
    ['items', `a: [${'x,'.repeat(1_500_000)}x]`, 413],
    ['lines', '- x\n'.repeat(750_000), 413],
    ['keys', Array.from({ length: 60_000 }, (_, index) => `k${index}: 1`).join('\n'), 413],
    ['fewer keys', Array.from({ length: 19_000 }, (_, index) => `k${index}: 1`).join('\n'), 422],
    ['explicit keys', '? '.repeat(600_000), 413],
    ['aliases', aliasBomb(), 400],
    ['levels', 'a: '.concat('['.repeat(10_000)), 400],
  ])('YAML of many %s', async (_, text, status) => {
    const { call } = await servedKube(scope)

    expect(await call('POST', HOSTS, text, YAML)).toMatchObject({ status, body: { kind: 'Status' } })
  })

  test('a selector of commas', async () => {
    const { call } = await servedKube(scope)

    expect(await call('GET', `${HOSTS}?labelSelector=${'a,'.repeat(7_000)}a`)).toMatchObject({ status: 200 })
  })
})

test('YAML with a large text, and large JSON that is sent as YAML, are taken', async () => {
  const { call } = await servedKube(scope)
  const text = 'x y '.repeat(250_000)

  expect(await call('POST', HOSTS, `metadata: {name: a}\nspec: {online: true, text: "${text}"}\n`, YAML)).toMatchObject(
    {
      status: 201,
    },
  )
  const list = Array.from({ length: 100_000 }, () => 1)
  expect(await call('POST', HOSTS, host('b', { list }), YAML)).toMatchObject({ status: 201 })
})

test('lists that nobody reads do not fill the memory', async () => {
  const { call, server } = await servedKube(scope)
  for (let index = 0; index < 12; index++)
    await call('POST', HOSTS, host(`h${index}`, { text: `${index}`.padEnd(1024 * KIB, 'x') }))
  global.gc?.()
  const before = process.memoryUsage().rss

  const sockets = Array.from({ length: 60 }, () => connect(server.port, '127.0.0.1'))
  for (const socket of sockets) {
    socket.pause()
    socket.write(`GET ${HOSTS} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  }
  const list = await call('GET', HOSTS)
  const grown = process.memoryUsage().rss - before
  for (const socket of sockets) socket.destroy()

  expect((list.body as { items: unknown[] }).items).toHaveLength(12)
  // Each answer has 12 MiB.
  expect(grown).toBeLessThan(300 * KIB * KIB)
})

/** Ten levels of aliases, each of nine of the level below. */
function aliasBomb(): string {
  const names = [...'abcdefghij']
  const lines = names
    .slice(1)
    .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${names[index]}`).join(',')}]`)
  return ['a: &a [x,x,x,x,x,x,x,x,x]', ...lines].join('\n')
}
