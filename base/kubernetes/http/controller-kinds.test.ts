import { readFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { Scope } from '../../runtime/index.js'
import { HOSTS, host, servedKube } from '../../../test/kit/cluster/served-kube.js'

/** Kinds that controllers of client-go use besides their own. */

let scope = new Scope()
afterEach(async () => {
  await scope[Symbol.asyncDispose]()
  scope = new Scope()
})

const CORE = '/api/v1/namespaces/metal3'
const EVENTS = `${CORE}/events`
const NEW_EVENTS = '/apis/events.k8s.io/v1/namespaces/metal3/events'
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/metal3/leases'

const FIXTURE = new URL('../../../test/fixtures/kube-api/protobuf-bodies.json', import.meta.url)
const { bodies } = JSON.parse(readFileSync(FIXTURE, 'utf8')) as {
  bodies: { body: string; object: { kind: string; metadata?: { name?: string } } }[]
}

async function withController() {
  const served = await servedKube(scope)
  const send = async (method: string, path: string, kind: string, name?: string) => {
    const { body } = bodies.find(({ object }) => object.kind === kind && (!name || object.metadata?.name === name))!
    const answer = await fetch(`${served.server.url}${path}`, {
      method,
      headers: {
        'content-type': 'application/vnd.kubernetes.protobuf',
        accept: 'application/vnd.kubernetes.protobuf,application/json',
      },
      body: Buffer.from(body, 'base64'),
    })
    return { status: answer.status, body: (await answer.json()) as never }
  }
  return { ...served, send }
}

const event = (name: string, about: object, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name },
  involvedObject: { namespace: 'metal3', kind: 'BareMetalHost', name: 'worker-0', ...about },
  reason: 'Registered',
  type: 'Normal',
  ...more,
})

test('protobuf of client-go is stored as the JSON that it stands for, and answered with JSON', async () => {
  const { send, call } = await withController()

  expect(await send('POST', `${CORE}/secrets`, 'Secret')).toMatchObject({
    status: 201,
    body: { kind: 'Secret', data: { username: 'YWRtaW4=', raw: 'AP+A' }, type: 'Opaque' },
  })
  // It has an empty key, which no ConfigMap may have.
  expect(await send('POST', `${CORE}/configmaps`, 'ConfigMap')).toMatchObject({ status: 422 })
  expect(await send('POST', '/api/v1/nodes', 'Node')).toMatchObject({
    status: 201,
    body: { spec: { unschedulable: true } },
  })
  expect(await send('POST', LEASES, 'Lease', 'leader')).toMatchObject({ status: 201 })
  expect(await call('GET', `${LEASES}/leader`)).toMatchObject({
    body: { spec: { holderIdentity: 'host_1', leaseTransitions: 0, renewTime: '2026-11-27T10:13:33.123456Z' } },
  })
  expect(await send('PUT', `${CORE}/secrets/bmc`, 'Secret')).toMatchObject({ status: 200 })
  // The options of the fixture ask for a dry run of another object.
  expect(await send('DELETE', `${CORE}/secrets/bmc`, 'DeleteOptions')).toMatchObject({ status: 409 })
})

test('a leader is followed by another, and a lease without a term is refused', async () => {
  const { call } = await withController()
  const lease = (spec: object, metadata: object = {}) => ({ metadata: { name: 'leader', ...metadata }, spec })
  const made = await call('POST', LEASES, lease({ holderIdentity: 'a', leaseDurationSeconds: 15 }))
  expect(made.body).not.toHaveProperty('metadata.generation')
  const { resourceVersion } = (made.body as { metadata: { resourceVersion: string } }).metadata

  const taken = lease({ holderIdentity: 'b', leaseDurationSeconds: 15, leaseTransitions: 1 }, { resourceVersion })
  expect(await call('PUT', `${LEASES}/leader`, taken)).toMatchObject({ status: 200 })
  expect(await call('PUT', `${LEASES}/leader`, taken)).toMatchObject({ status: 409 })
  expect(await call('POST', LEASES, { metadata: { name: 'x' }, spec: { leaseDurationSeconds: 0 } })).toMatchObject({
    status: 422,
    body: {
      message:
        'Lease.coordination.k8s.io "x" is invalid: spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
    },
  })
  const table = await call('GET', LEASES, undefined, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
  expect(table.body).toMatchObject({ rows: [{ cells: ['leader', 'b', expect.any(String)] }] })
})

test('events have names in upper case, and are selected by what they are about', async () => {
  const { send, call } = await withController()
  expect(await send('POST', EVENTS, 'Event')).toMatchObject({
    status: 201,
    body: { metadata: { name: expect.stringMatching(/^ProvisioningStarted-\w{5}$/) as string } },
  })
  await call('POST', EVENTS, event('other', { name: 'worker-1', uid: 'u1' }, { type: 'Warning' }))
  const found = async (selector: string) => {
    const { status, body } = await call('GET', `${EVENTS}?fieldSelector=${encodeURIComponent(selector)}`)
    return status === 200
      ? (body as { items: { involvedObject: { name: string } }[] }).items.map((each) => each.involvedObject.name)
      : (body as { message: string }).message
  }

  expect(await found('involvedObject.name=worker-1,involvedObject.uid=u1')).toEqual(['worker-1'])
  expect(await found('involvedObject.name!=worker-1')).toEqual(['worker-0'])
  expect(await found('type=Warning,reason=Registered')).toEqual(['worker-1'])
  expect(await found('source=metal3-baremetal-controller')).toEqual(['worker-0'])
  expect(await found('message=x')).toBe('field label not supported: message')
})

test('an event is refused outside of the namespace that it is about, and with a name that no path can have', async () => {
  const { call } = await withController()
  expect(await call('POST', EVENTS, event('a', { namespace: 'elsewhere' }))).toMatchObject({
    status: 422,
    body: {
      message:
        'Event "a" is invalid: involvedObject.namespace: Invalid value: "elsewhere": does not match event.namespace',
    },
  })
  expect(await call('POST', EVENTS, event('a/b', {}))).toMatchObject({
    status: 422,
    body: { message: `Event "a/b" is invalid: metadata.name: Invalid value: "a/b": may not contain '/'` },
  })
})

test('events of the newer group are the same objects, with its names of fields', async () => {
  const { send, call } = await withController()
  expect(await send('POST', NEW_EVENTS, 'Event', 'worker-0.17f3')).toMatchObject({
    status: 201,
    body: { apiVersion: 'events.k8s.io/v1', note: 'done', regarding: { name: 'worker-0' } },
  })
  expect(await call('GET', `${EVENTS}/worker-0.17f3`)).toMatchObject({
    body: { apiVersion: 'v1', message: 'done', reportingComponent: 'example.com/controller', series: { count: 2 } },
  })
  const selected = await call('GET', `${NEW_EVENTS}?fieldSelector=regarding.name%3Dworker-0`)
  expect(selected).toMatchObject({ body: { kind: 'EventList', items: [{ note: 'done' }] } })
  const patch = { note: 'done again', series: { count: 3 } }
  const patched = await call('PATCH', `${NEW_EVENTS}/worker-0.17f3`, patch, {
    'content-type': 'application/strategic-merge-patch+json',
  })
  expect(patched).toMatchObject({ status: 200, body: { note: 'done again', series: { count: 3 } } })
  expect(await call('GET', '/apis/events.k8s.io/v1')).toMatchObject({ body: { resources: [{ name: 'events' }] } })
  expect(
    await call('POST', NEW_EVENTS, { metadata: { name: 'x' }, eventTime: '2026-01-01T00:00:00.000000Z' }),
  ).toMatchObject({ status: 422 })
})

test('kubectl prints the columns of events, the name last', async () => {
  const { call } = await withController()
  const times = { firstTimestamp: '2026-01-01T00:00:00Z', lastTimestamp: '2026-01-01T00:00:00Z', count: 3 }
  await call('POST', EVENTS, event('a', {}, { message: ' Registered new host\n', ...times }))
  const { body } = await call('GET', EVENTS, undefined, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
  const { columnDefinitions, rows } = body as { columnDefinitions: { name: string }[]; rows: { cells: unknown[] }[] }

  expect(columnDefinitions.map(({ name }) => name).join(' ')).toBe(
    'Last Seen Type Reason Object Subobject Source Message First Seen Count Name',
  )
  expect(rows[0]!.cells.slice(1)).toEqual([
    'Normal',
    'Registered',
    'baremetalhost/worker-0',
    null,
    '',
    'Registered new host',
    expect.stringMatching(/^\d+[dhy]/),
    3,
    'a',
  ])
})

test('the oldest events go when there are ten thousand', async () => {
  const { store } = await withController()
  const add = (name: string) => store.create('Event', { ...event(name, {}), metadata: { name, namespace: 'metal3' } })
  for (let count = 0; count < 10_001; count++) add(`event-${count}`)

  const names = store.list('Event').map(({ metadata }) => metadata.name)
  expect([names.length, names.includes('event-0'), names.includes('event-1')]).toEqual([10_000, false, true])
})

test('secrets are selected by their type, other kinds by their name alone', async () => {
  const { call } = await withController()
  await call('POST', `${CORE}/secrets`, { metadata: { name: 'a' }, type: 'example.com/a' })
  await call('POST', `${CORE}/secrets`, { metadata: { name: 'b' } })
  await call('POST', HOSTS, host('worker-0'))

  expect(await call('GET', `${CORE}/secrets?fieldSelector=type%3Dexample.com/a`)).toMatchObject({
    body: { items: [{ metadata: { name: 'a' } }] },
  })
  expect(await call('GET', `${LEASES}?fieldSelector=spec.holderIdentity%3Da`)).toMatchObject({
    status: 400,
    body: {
      message: '"spec.holderIdentity" is not a known field selector: only "metadata.name", "metadata.namespace"',
    },
  })
  expect(await call('GET', `${HOSTS}?fieldSelector=spec.online%3Dtrue`)).toMatchObject({
    status: 400,
    body: { message: 'field label not supported: spec.online' },
  })
})
