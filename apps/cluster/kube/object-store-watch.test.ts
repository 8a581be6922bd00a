import { describe, expect, test } from 'vitest'
import { host, openTestKube, refused, WORKER_0, WORKER_1 } from '../../../test/kit/cluster/test-kube.js'
import { seededRandom, VirtualClock } from '../../../base/runtime/index.js'
import type { BareMetalHost } from './kinds/metal3-kinds.js'
import { openKube } from './open-kube.js'
import { isRefusal } from './kube-refusal.js'

describe('a deletion', () => {
  test('of an object with finalizers marks it, and the last finalizer takes it away', async () => {
    const { client } = openTestKube()
    await client.create(host('worker-0', { finalizers: ['baremetalhost.metal3.io', 'example.com/other'] }))

    await client.delete('BareMetalHost', WORKER_0)
    await client.delete('BareMetalHost', WORKER_0)
    const marked = await client.get('BareMetalHost', WORKER_0)
    expect(marked.metadata).toMatchObject({ deletionTimestamp: '2026-01-01T00:00:00Z', generation: 2 })

    marked.metadata.finalizers = ['baremetalhost.metal3.io']
    const nearly = await client.update(marked)
    const more = {
      ...nearly,
      metadata: { ...nearly.metadata, finalizers: ['baremetalhost.metal3.io', 'new.example.com/a'] },
    }
    expect((await refused(client.update(more))).message).toContain(
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"new.example.com/a"}',
    )
    const { finalizers: _, ...metadata } = nearly.metadata
    await client.update({ ...nearly, metadata })
    expect(await client.find('BareMetalHost', WORKER_0)).toBeUndefined()
  })

  test('of a missing object is refused', async () => {
    const { client } = openTestKube()

    expect(await refused(client.delete('BareMetalHost', WORKER_0))).toMatchObject({
      message: 'baremetalhosts.metal3.io "worker-0" not found',
      code: 404,
    })
  })

  test('takes what the object owns with it, in the background, but not what another owns too', async () => {
    const { client } = openTestKube()
    const owner = await client.create(host('worker-0'))
    const other = await client.create(host('worker-1'))
    const reference = ({ apiVersion, kind, metadata: { name, uid } }: BareMetalHost) => ({
      apiVersion,
      kind,
      name,
      uid,
    })
    const image = (name: string, ...owners: BareMetalHost[]) =>
      client.create({
        apiVersion: 'metal3.io/v1alpha1',
        kind: 'PreprovisioningImage',
        spec: {},
        metadata: { name, namespace: 'metal3', ownerReferences: owners.map(reference) },
      })
    await image('of-one', owner)
    await image('of-both', owner, other)

    await client.delete('BareMetalHost', WORKER_0)
    await Promise.resolve()

    const { items } = await client.list('PreprovisioningImage')
    expect(items.map(({ metadata }) => [metadata.name, metadata.ownerReferences?.map(({ name }) => name)])).toEqual([
      ['of-both', ['worker-1']],
    ])
    // An owner that was gone before owns nothing for long.
    await image('late', owner)
    await Promise.resolve()
    expect(await client.find('PreprovisioningImage', { name: 'late', namespace: 'metal3' })).toBeUndefined()
  })

  test('leaves what the object owns when it is asked to', () => {
    const { store } = openTestKube()
    const { metadata: owner } = store.create('BareMetalHost', host('worker-0'))
    const ownerReferences = [
      { apiVersion: 'metal3.io/v1alpha1', kind: 'BareMetalHost', name: owner.name, uid: owner.uid },
    ]
    store.create('ConfigMap', { metadata: { name: 'a', namespace: 'metal3', ownerReferences } })

    store.delete('BareMetalHost', WORKER_0, { orphansDependents: true })

    expect(store.get('ConfigMap', { name: 'a', namespace: 'metal3' }).metadata).not.toHaveProperty('ownerReferences')
  })
})

describe('a list', () => {
  test.each([
    ['rack=a', ['worker-0', 'worker-1']],
    ['rack==a,zone!=2', ['worker-0']],
    ['zone', ['worker-1', 'worker-2']],
    ['!zone', ['worker-0']],
    ['rack in (a, b),zone in (2)', ['worker-1', 'worker-2']],
    ['rack notin (a)', ['worker-2']],
    ['zone>1', ['worker-1', 'worker-2']],
    ['zone<2', []],
    ['', ['worker-0', 'worker-1', 'worker-2']],
  ])('selects by the labels %s', async (labelSelector, names) => {
    const { client } = openTestKube()
    await client.create(host('worker-2', { labels: { rack: 'b', zone: '2' } }))
    await client.create(host('worker-0', { labels: { rack: 'a' } }))
    await client.create(host('worker-1', { labels: { rack: 'a', zone: '2' } }))

    const { items, resourceVersion } = await client.list('BareMetalHost', { labelSelector })

    expect(items.map(({ metadata }) => metadata.name)).toEqual(names)
    expect(resourceVersion).toBe('5')
  })

  test('selects by namespace, and by the fields that each kind has', async () => {
    const { client } = openTestKube()
    await client.create(host('worker-0'))
    await client.create(host('worker-0', { namespace: 'other' }))
    const names = async (options: object) =>
      (await client.list('BareMetalHost', options)).items.map(({ metadata }) => metadata.namespace)

    expect(await names({})).toEqual(['metal3', 'other'])
    expect(await names({ namespace: 'other' })).toEqual(['other'])
    expect(await names({ fieldSelector: 'metadata.name=worker-0,metadata.namespace!=other' })).toEqual(['metal3'])
  })

  test.each([
    [{ labelSelector: 'rack in a' }, /unable to parse requirement/],
    [{ fieldSelector: 'spec.online=true' }, /field label not supported: spec.online/],
    [{ fieldSelector: 'name' }, /invalid selector/],
  ])('refuses a selector that it does not know: %o', async (options, message) => {
    const { client } = openTestKube()
    const status = await refused(client.list('BareMetalHost', options))

    expect(status).toMatchObject({ reason: 'BadRequest', code: 400 })
    expect(status.message).toMatch(message)
  })
})

describe('a watch', () => {
  const events = async (watching: AsyncIterable<{ type: string; object: BareMetalHost }>, count: number) => {
    const seen: string[] = []
    for await (const { type, object } of watching) {
      seen.push(`${type} ${object.metadata.name}`)
      if (seen.length === count) break
    }
    return seen
  }

  test('begins with what is there, and goes on with every change', async () => {
    const { client } = openTestKube()
    await client.create(host('worker-0'))
    const watching = client.watch('BareMetalHost', { signal: new AbortController().signal })
    await client.create(host('worker-1'))
    await client.patch('BareMetalHost', WORKER_0, { spec: { online: false } })
    await client.delete('BareMetalHost', WORKER_1)

    expect(await events(watching, 4)).toEqual([
      'ADDED worker-0',
      'ADDED worker-1',
      'MODIFIED worker-0',
      'DELETED worker-1',
    ])
  })

  test('goes on after a version', async () => {
    const { client } = openTestKube()
    const { metadata } = await client.create(host('worker-0'))
    await client.create(host('worker-1'))
    const { signal } = new AbortController()
    const watching = client.watch('BareMetalHost', { signal, resourceVersion: metadata.resourceVersion })

    expect(await events(watching, 1)).toEqual(['ADDED worker-1'])
  })

  test('says that an object has come or gone when it begins or ceases to be selected', async () => {
    const { client } = openTestKube()
    const watching = client.watch('BareMetalHost', { labelSelector: 'rack=a', signal: new AbortController().signal })
    await client.create(host('worker-0'))
    for (const rack of ['a', 'b', 'a'])
      await client.patch('BareMetalHost', WORKER_0, { metadata: { labels: { rack } } })

    expect(await events(watching, 3)).toEqual(['ADDED worker-0', 'DELETED worker-0', 'ADDED worker-0'])
  })

  test('hears of a change at the same instant of a virtual clock, and ends with its signal', async () => {
    const clock = new VirtualClock()
    const { client } = openKube({ clock, random: seededRandom(1) })
    const ending = new AbortController()
    const seen: [string, number][] = []
    const watched = (async () => {
      for await (const { object } of client.watch('BareMetalHost', { signal: ending.signal }))
        seen.push([object.metadata.name, clock.elapsed()])
    })()
    void clock.sleep(1000).then(() => client.create(host('worker-0')))
    void clock.sleep(2000).then(() => client.create(host('worker-1')))

    await clock.advance(5000)
    expect(seen).toEqual([
      ['worker-0', 1000],
      ['worker-1', 2000],
    ])
    ending.abort()
    await watched
  })

  test('that falls behind the stored changes is refused, and so is one that asks for an old version', async () => {
    const { client, store } = openTestKube()
    const { metadata } = await client.create(host('worker-0'))
    const { signal } = new AbortController()
    const watching = client.watch('BareMetalHost', { signal, resourceVersion: metadata.resourceVersion })
    for (let round = 0; round < 5000; round++)
      store.change('BareMetalHost', WORKER_0, (current) => ({ ...current, spec: { online: round % 2 === 0 } }))

    await expect(events(watching, 1)).rejects.toSatisfy((error) => isRefusal(error, 410))
    expect(() => store.watch('BareMetalHost', { resourceVersion: '2' })).toThrow(/too old resource version: 2 \(\d+\)/)
  })
})
