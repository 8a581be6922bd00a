import { describe, expect, test } from 'vitest'
import { host, openTestKube, refused, WORKER_0 } from '../../test/kit/cluster/test-kube.js'

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
      spec: { online: true, automatedCleaningMode: 'metadata' },
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
      apiVersion: 'config.openshift.io/v1',
      kind: 'ClusterOperator',
      metadata: { name: 'baremetal', namespace: 'metal3' },
      spec: {},
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

  test('that changes nothing has no effect: no new version, no event', async () => {
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
      kind: 'Status',
      status: 'Failure',
      reason: 'Conflict',
      code: 409,
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
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: at,
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
