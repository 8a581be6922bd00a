import { afterEach, describe, expect, test } from 'vitest'
import { Scope, seededRandom, systemClock } from '../../runtime/index.js'
import { openKube } from '../open-kube.js'
import { HOSTS, host, servedKube } from '../../../test/kit/cluster/served-kube.js'

let scope = new Scope()
afterEach(async () => {
  await scope[Symbol.asyncDispose]()
  scope = new Scope()
})

const NAMESPACES = '/api/v1/namespaces'

test('a served API has the namespaces of every cluster, which stay', async () => {
  const { call } = await servedKube(scope)
  const { body } = await call('GET', NAMESPACES)
  const { items } = body as { items: { metadata: { name: string }; status: object }[] }

  expect(items.map(({ metadata }) => metadata.name)).toEqual([
    'default',
    'kube-node-lease',
    'kube-public',
    'kube-system',
    'metal3',
  ])
  expect(items[0]).toMatchObject({
    metadata: { labels: { 'kubernetes.io/metadata.name': 'default' } },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  })
  expect(await call('DELETE', `${NAMESPACES}/default`)).toMatchObject({
    status: 403,
    body: { message: 'namespaces "default" is forbidden: this namespace may not be deleted' },
  })
  expect(await call('POST', NAMESPACES, { metadata: { name: 'a.b' } })).toMatchObject({ status: 422 })
})

test('an object needs a namespace that is there, also where it is applied', async () => {
  const { call, store } = await servedKube(scope)
  const missing = { status: 404, body: { message: 'namespaces "other" not found', reason: 'NotFound' } }
  const others = HOSTS.replace('metal3/', 'other/')
  expect(await call('POST', others, host('worker-0'))).toMatchObject(missing)
  const apply = { 'content-type': 'application/apply-patch+yaml' }
  const applied = await call('PATCH', `${others}/worker-0?fieldManager=a`, host('worker-0'), apply)
  expect(applied).toMatchObject(missing)

  expect(await call('POST', NAMESPACES, { metadata: { name: 'other' } })).toMatchObject({ status: 201 })
  expect(await call('POST', others, host('worker-0'))).toMatchObject({ status: 201 })
  expect(store.list('BareMetalHost')).toHaveLength(1)
})

test('a namespace that is deleted ends with what is in it, takes nothing until then, and can be made again', async () => {
  const { call } = await servedKube(scope)
  await call('POST', HOSTS, host('worker-0', {}, { finalizers: ['example.com/a'] }))
  await call('POST', HOSTS, host('worker-1'))
  expect(await call('DELETE', `${NAMESPACES}/metal3`)).toMatchObject({
    status: 200,
    body: { kind: 'Namespace', status: { phase: 'Terminating' } },
  })
  expect(await call('GET', `${HOSTS}/worker-1`)).toMatchObject({ status: 404 })
  expect(await call('POST', HOSTS, host('worker-2'))).toMatchObject({
    status: 403,
    body: {
      message:
        'baremetalhosts.metal3.io "worker-2" is forbidden: unable to create new content in namespace metal3 because it is being terminated',
      details: { causes: [{ reason: 'NamespaceTerminating' }] },
    },
  })
  expect(await call('GET', `${NAMESPACES}/metal3`)).toMatchObject({ body: { status: { phase: 'Terminating' } } })

  const patch = { 'content-type': 'application/merge-patch+json' }
  await call('PATCH', `${HOSTS}/worker-0`, { metadata: { finalizers: null } }, patch)
  expect(await call('GET', `${NAMESPACES}/metal3`)).toMatchObject({ status: 404 })
  expect(await call('POST', NAMESPACES, { metadata: { name: 'metal3' } })).toMatchObject({ status: 201 })
  expect(await call('GET', HOSTS)).toMatchObject({ body: { items: [] } })
})

test('an object that a webhook keeps for another one goes after it, and then its namespace', () => {
  const clock = systemClock()
  const { store } = openKube({
    clock,
    random: seededRandom(1),
    webhooks: ({ kind, after }, read) =>
      kind === 'ConfigMap' && !after && read.list('Secret').length > 0 ? 'a Secret needs it' : undefined,
  })
  const at = { name: 'a', namespace: 'lab' }
  store.create('ConfigMap', { metadata: at })
  store.create('Secret', { metadata: { ...at, finalizers: ['example.com/a'] } })
  store.delete('Namespace', { name: 'lab' })
  expect(store.list('ConfigMap')).toHaveLength(1)

  store.change('Secret', at, (secret) => ({ ...secret, metadata: { ...secret.metadata, finalizers: [] } }))
  expect([store.list('ConfigMap'), store.list('Secret'), store.list('Namespace')]).toEqual([[], [], []])
})

test('a namespace waits for its own finalizers and for its objects, in any order', () => {
  const clock = systemClock()
  const { store } = openKube({ clock, random: seededRandom(1) })
  const finalizers = ['example.com/a']
  for (const isNamespaceFirst of [true, false]) {
    const lab = { name: 'lab' }
    const at = { name: 'a', namespace: 'lab' }
    store.create('Namespace', { metadata: { ...lab, finalizers } })
    store.create('Secret', { metadata: { ...at, finalizers } })
    store.delete('Namespace', lab)
    const releaseNamespace = () =>
      store.change('Namespace', lab, (each) => ({ ...each, metadata: { ...each.metadata, finalizers: [] } }))
    const releaseSecret = () =>
      store.change('Secret', at, (each) => ({ ...each, metadata: { ...each.metadata, finalizers: [] } }))

    if (isNamespaceFirst) releaseNamespace()
    else releaseSecret()
    expect(store.list('Namespace')).toMatchObject([{ status: { phase: 'Terminating' } }])
    if (isNamespaceFirst) releaseSecret()
    else releaseNamespace()
    expect([store.list('Namespace'), store.list('Secret')]).toEqual([[], []])
  }
})

test('a namespace that ended as the process did is gone when its objects are read again', () => {
  const clock = systemClock()
  const { store } = openKube({ clock, random: seededRandom(1) })
  store.create('Secret', { metadata: { name: 'a', namespace: 'lab', finalizers: ['example.com/a'] } })
  store.delete('Namespace', { name: 'lab' })
  const objects = store.list('Namespace')
  expect(objects).toMatchObject([{ status: { phase: 'Terminating' } }])

  const writes: string[] = []
  const file = { objects, resourceVersion: store.resourceVersion, keep: () => void writes.push('write') }
  const restored = openKube({ clock, random: seededRandom(1), file })
  expect([restored.store.list('Namespace'), writes]).toEqual([[], ['write']])
})

test('an empty namespace goes at once, and a dry deletion leaves all as it is', async () => {
  const { call } = await servedKube(scope)
  await call('POST', HOSTS, host('worker-0'))
  expect(await call('DELETE', `${NAMESPACES}/metal3?dryRun=All`)).toMatchObject({ status: 200 })
  expect(await call('GET', `${HOSTS}/worker-0`)).toMatchObject({ status: 200 })
  await call('DELETE', `${NAMESPACES}/metal3`)
  expect(await call('GET', `${NAMESPACES}/metal3`)).toMatchObject({ status: 404 })
})

describe('lists of a version', () => {
  test('show the state of then, also after deletions', async () => {
    const { call } = await servedKube(scope)
    await call('POST', HOSTS, host('worker-0'))
    const { body } = await call('POST', HOSTS, host('worker-1'))
    const { resourceVersion } = (body as { metadata: { resourceVersion: string } }).metadata
    await call('DELETE', `${HOSTS}/worker-0`)
    await call('POST', HOSTS, host('worker-2'))
    const names = async (query: string) => {
      const list = await call('GET', `${HOSTS}?${query}`)
      const { items, message } = list.body as { items?: { metadata: { name: string } }[]; message?: string }
      return items?.map(({ metadata }) => metadata.name) ?? [list.status, message]
    }
    const then = `resourceVersion=${resourceVersion}`
    expect(await names(`${then}&resourceVersionMatch=Exact`)).toEqual(['worker-0', 'worker-1'])
    expect(await names(`${then}&resourceVersionMatch=NotOlderThan`)).toEqual(['worker-1', 'worker-2'])
    expect(await names(`${then}&limit=1`)).toEqual(['worker-0'])
    expect(await names('resourceVersion=0&limit=1')).toEqual(['worker-1', 'worker-2'])
    expect(await names('resourceVersion=99999')).toEqual([504, expect.stringContaining('Too large resource version')])
    expect(await names('resourceVersionMatch=Exact')).toEqual([422, expect.stringContaining('is forbidden unless')])
    expect(await names('resourceVersion=0&resourceVersionMatch=Exact')).toEqual([
      422,
      expect.stringContaining('resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
    ])
    expect(await names('resourceVersion=1&resourceVersionMatch=Some')).toEqual([422, expect.any(String)])
    expect(await names('resourceVersion=x')).toEqual([400, expect.any(String)])
  })
})

test('finalizers without a domain are warned of when they are new, and refused on kinds of Kubernetes itself', async () => {
  const { call } = await servedKube(scope)
  const made = await call('POST', HOSTS, host('worker-0', {}, { finalizers: ['b', 'example.com/a'] }))
  expect(made.headers.get('warning')).toMatch(/^299 - "metadata\.finalizers: \\"b\\": prefer a domain-qualified/)
  const patch = { 'content-type': 'application/merge-patch+json' }
  const again = await call('PATCH', `${HOSTS}/worker-0`, { spec: { online: false } }, patch)
  expect(again.headers.get('warning')).toBeNull()
  const secret = { metadata: { name: 's', finalizers: ['b'] } }
  expect(await call('POST', '/api/v1/namespaces/metal3/secrets', secret)).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining('name is neither a standard finalizer name nor is it fully') as string },
  })
})

test('a refusal shows at most two thousand characters of a refused value', async () => {
  const { call } = await servedKube(scope)
  const { body } = await call('POST', HOSTS, host('x'.repeat(5000)))
  const [cause] = (body as { details: { causes: { message: string }[] } }).details.causes
  expect(cause!.message).toMatch(/^Invalid value: "x{1999}\.\.\.: must be no more than 253 characters$/)
})
