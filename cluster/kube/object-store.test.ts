import { describe, expect, test } from 'vitest'
import { seededRandom, VirtualClock } from '../../runtime/index.js'
import type { BareMetalHost } from './kinds/metal3.js'
import type { NewObject } from './object.js'
import { openKube } from './open-kube.js'
import { isRefusal, KubeRefusal } from './refusal.js'

const openTestKube = () => openKube({ clock: new VirtualClock(Date.UTC(2026, 0, 1)), random: seededRandom(7) })

const host = (
  name: string,
  more: Partial<NewObject<BareMetalHost>['metadata']> = {},
): NewObject<BareMetalHost> & { kind: 'BareMetalHost' } => ({
  ...{ apiVersion: 'metal3.io/v1alpha1', kind: 'BareMetalHost', spec: { online: true } },
  metadata: { name, namespace: 'metal3', ...more },
})
const [WORKER_0, WORKER_1] = [
  { name: 'worker-0', namespace: 'metal3' },
  { name: 'worker-1', namespace: 'metal3' },
]

const refused = async (work: Promise<unknown>): Promise<KubeRefusal['status']> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof KubeRefusal)) throw new Error('it was not refused', { cause: error })
  return error.status
}

describe('an object', () => {
  test('gets what the API gives it when it is created, and is the same when it is read', async () => {
    const { client } = openTestKube()

    const created = await client.create(host('worker-0'))

    expect(created).toEqual({
      apiVersion: 'metal3.io/v1alpha1',
      kind: 'BareMetalHost',
      metadata: {
        ...WORKER_0,
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        resourceVersion: '3',
        generation: 1,
        creationTimestamp: '2026-01-01T00:00:00Z',
      },
      spec: { online: true },
    })
    expect(await client.get('BareMetalHost', WORKER_0)).toEqual(created)
  })

  test('is a value: a change of what was read or sent changes nothing in the API', async () => {
    const { client } = openTestKube()
    const sent = host('worker-0', { labels: { rack: 'a' } })
    const created = await client.create(sent)
    created.spec.online = false
    sent.metadata.labels!['rack'] = 'b'
    const read = await client.get('BareMetalHost', WORKER_0)
    read.metadata.labels!['rack'] = 'c'

    expect(await client.get('BareMetalHost', WORKER_0)).toMatchObject({
      spec: { online: true },
      metadata: { labels: { rack: 'a' } },
    })
  })

  test('is in the namespace default without one, and in none where its kind has none', async () => {
    const { client } = openTestKube()
    await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { key: 'value' } })
    await client.create({
      ...{ apiVersion: 'config.openshift.io/v1', kind: 'ClusterOperator' },
      metadata: { name: 'baremetal', namespace: 'metal3' },
    })

    expect((await client.get('ConfigMap', { name: 'a', namespace: 'default' })).metadata.namespace).toBe('default')
    expect((await client.get('ConfigMap', { name: 'a' })).data).toEqual({ key: 'value' })
    expect((await client.get('ClusterOperator', { name: 'baremetal' })).metadata).not.toHaveProperty('namespace')
  })

  test('is named by the API when a beginning is sent', () => {
    const { store } = openTestKube()
    const { metadata } = store.create('ConfigMap', { metadata: { generateName: 'report-' } })

    expect(metadata).toMatchObject({
      generateName: 'report-',
      name: expect.stringMatching(/^report-[a-z0-9]{5}$/) as string,
    })
  })
})

describe('a write', () => {
  test('of the spec counts a generation and leaves the status; one of the status leaves the spec', async () => {
    const { client } = openTestKube()
    const created = await client.create(host('worker-0'))
    const status = { errorMessage: '', errorCount: 0, operationalStatus: 'OK', poweredOn: true } as const
    const provisioning = { ID: '', state: 'available' } as const

    const reported = await client.updateStatus({
      ...created,
      spec: { online: false },
      status: { ...status, provisioning },
    })
    expect(reported).toMatchObject({ spec: { online: true }, status: { ...status, provisioning } })
    expect(reported.metadata).toMatchObject({ generation: 1, resourceVersion: '4' })

    const edited = await client.update({
      ...reported,
      spec: { online: false },
      status: { ...status, provisioning: { ID: '', state: 'unmanaged' } },
    })
    expect(edited).toMatchObject({ spec: { online: false }, status: { provisioning: { state: 'available' } } })
    expect(edited.metadata).toMatchObject({ generation: 2, resourceVersion: '5' })

    const { status: _, ...bare } = edited
    expect((await client.update(bare)).status).toMatchObject({ operationalStatus: 'OK' })
    expect((await client.patch('BareMetalHost', WORKER_0, { status: null })).status).toMatchObject({ poweredOn: true })
  })

  test('of metadata counts no generation', async () => {
    const { client } = openTestKube()
    await client.create(host('worker-0'))

    const { metadata } = await client.patch('BareMetalHost', WORKER_0, {
      metadata: { annotations: { 'reboot.metal3.io': '' } },
    })

    expect(metadata).toMatchObject({ generation: 1, resourceVersion: '4', annotations: { 'reboot.metal3.io': '' } })
  })

  test('that changes nothing is none: no version, no event', async () => {
    const { client, store } = openTestKube()
    const created = await client.create(host('worker-0', { labels: { rack: 'a' } }))
    const watch = store.watch('BareMetalHost', { resourceVersion: created.metadata.resourceVersion })

    expect(await client.update(created)).toEqual(created)
    expect(await client.patch('BareMetalHost', WORKER_0, { spec: { online: true } })).toEqual(created)
    expect(watch.take()).toBeUndefined()
  })

  test('of an object that another has changed meanwhile is refused, of the spec as of the status', async () => {
    const { client } = openTestKube()
    const created = await client.create(host('worker-0'))
    await client.update({ ...created, spec: { online: false } })

    const status = await refused(client.update({ ...created, spec: { online: true, architecture: 'aarch64' } }))

    expect(status).toMatchObject({
      ...{ kind: 'Status', status: 'Failure', reason: 'Conflict', code: 409 },
      message:
        'Operation cannot be fulfilled on baremetalhosts.metal3.io "worker-0": the object has been modified; please apply your changes to the latest version and try again',
      details: { name: 'worker-0', group: 'metal3.io', kind: 'baremetalhosts' },
    })
    expect(await refused(client.updateStatus(created))).toMatchObject({ code: 409 })
    const versioned = { metadata: { resourceVersion: created.metadata.resourceVersion }, spec: { online: true } }
    expect(await refused(client.patch('BareMetalHost', WORKER_0, versioned))).toMatchObject({ code: 409 })
  })

  test('of one that was deleted and created again is refused by its uid', async () => {
    const { client } = openTestKube()
    const first = await client.create(host('worker-0'))
    await client.delete('BareMetalHost', WORKER_0)
    const { metadata } = await client.create(host('worker-0'))

    const { message } = await refused(client.update(first))

    expect(message).toBe(
      `Operation cannot be fulfilled on baremetalhosts.metal3.io "worker-0": Precondition failed: UID in precondition: ${first.metadata.uid}, UID in object meta: ${metadata.uid}`,
    )
  })

  test.each([
    ['a name in capitals', { name: 'Worker_0' }, 'metadata.name', /a lowercase RFC 1123 subdomain/],
    ['no name', { name: '' }, 'metadata.name', /Required value: name or generateName is required/],
    ['a label with a space', { name: 'a', labels: { rack: 'a b' } }, 'metadata.labels', /a valid label must be/],
    [
      'a label that is a number',
      { name: 'a', labels: { rack: 7 as never } },
      'metadata.labels.rack',
      /must be a string/,
    ],
    [
      'annotations that are a list',
      { name: 'a', annotations: [1] as never },
      'metadata.annotations',
      /must be an object/,
    ],
    [
      'an owner without uid',
      { name: 'a', ownerReferences: [{ name: 'b' }] as never },
      'metadata.ownerReferences[0].uid',
      /must not be empty/,
    ],
    ['a namespace with a dot', { name: 'a', namespace: 'b.c' }, 'metadata.namespace', /RFC 1123 label/],
  ])('of %s is refused, with its field', async (_, metadata, field, message) => {
    const { client } = openTestKube()

    const status = await refused(client.create({ ...host('a'), metadata }))

    expect(status).toMatchObject({ reason: 'Invalid', code: 422 })
    const cause = status.details?.causes?.find((each) => each.field === field)
    expect(cause?.message ?? JSON.stringify(status)).toMatch(message)
  })

  test('of a kind that the object is not is refused', async () => {
    const { client } = openTestKube()

    const status = await refused(client.create({ ...host('a'), apiVersion: 'metal3.io/v1' }))

    expect(status).toMatchObject({ reason: 'BadRequest', code: 400 })
  })

  test('tried dry leaves everything as it is', () => {
    const { store } = openTestKube()
    store.create('BareMetalHost', host('worker-0'))

    store.create('BareMetalHost', host('worker-1'), { isDryRun: true })
    store.change('BareMetalHost', WORKER_0, (current) => ({ ...current, spec: { online: false } }), { isDryRun: true })
    store.delete('BareMetalHost', WORKER_0, { isDryRun: true })

    expect(store.list('BareMetalHost')).toMatchObject([{ metadata: { name: 'worker-0' }, spec: { online: true } }])
    expect(store.resourceVersion).toBe(3)
  })

  test('nested deeper than any object is refused, and a member named __proto__ is kept as data', async () => {
    const { client, store } = openTestKube()
    let deep: object = {}
    for (let level = 0; level < 100_000; level++) deep = { deep }

    expect(await refused(client.create({ ...host('a'), spec: { online: true, deep } }))).toMatchObject({ code: 400 })

    const made = store.create('ConfigMap', JSON.parse('{"metadata":{"name":"a"},"data":{"__proto__":"x"}}'))
    expect(JSON.stringify(made['data'])).toBe('{"__proto__":"x"}')
  })
})

describe('a Secret', () => {
  const at = { name: 'bmc', namespace: 'metal3' }

  test('has what was sent as text in base64, and nothing of the text', async () => {
    const { client } = openTestKube()
    const created = await client.create({
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: at },
      data: { username: 'YQ==', password: 'Yg==' },
      stringData: { password: 'geheim' },
    })

    expect(created).toMatchObject({ type: 'Opaque', data: { username: 'YQ==', password: 'Z2VoZWlt' } })
    expect(created).not.toHaveProperty('stringData')

    const patched = await client.patch('Secret', at, { stringData: { username: 'admin' } })
    expect(patched.data).toEqual({ username: 'YWRtaW4=', password: 'Z2VoZWlt' })
  })

  test('is refused with data that is no base64, or keys that no file could have', async () => {
    const { client } = openTestKube()
    const create = (data: Record<string, string>) =>
      client.create({ apiVersion: 'v1', kind: 'Secret', metadata: at, data })

    expect((await refused(create({ a: 'no base64' }))).details?.causes).toMatchObject([{ field: 'data[a]' }])
    expect((await refused(create({ 'a/b': 'YQ==' }))).details?.causes).toMatchObject([{ field: 'data[a/b]' }])
  })
})

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

  test('of what is not there is refused', async () => {
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
        ...{ apiVersion: 'metal3.io/v1alpha1', kind: 'PreprovisioningImage', spec: {} },
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

  test('that falls behind what is remembered is told so, and so is one that asks for an old version', async () => {
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
