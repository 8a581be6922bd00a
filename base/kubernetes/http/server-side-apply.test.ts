import { afterEach, expect, test } from 'vitest'
import { Scope } from '../../runtime/index.js'
import { HOSTS, host, servedKube } from '../../../test/kit/cluster/served-kube.js'
import { DEFINITIONS, gadgetDefinition, GADGETS } from '../../../test/kit/cluster/gadget-definition.js'

let scope = new Scope()
afterEach(async () => {
  await scope[Symbol.asyncDispose]()
  scope = new Scope()
})

interface AppliedAnswer {
  status: number
  body: {
    message: string
    metadata: { resourceVersion: string; managedFields?: { manager: string; operation: string; fieldsV1: object }[] }
    spec: Record<string, unknown>
    details?: { causes: object[] }
  }
}

const GADGET = `${GADGETS}/one`

async function withGadgets() {
  const { call, ...served } = await servedKube(scope)
  await call('POST', DEFINITIONS, gadgetDefinition())
  const apply = async (
    manager: string,
    spec: object,
    options: { path?: string; query?: string; more?: object } = {},
  ) => {
    const { path = GADGET, query = '', more = {} } = options
    const body = { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'one' }, spec, ...more }
    const { status, body: answer } = await call('PATCH', `${path}?fieldManager=${manager}${query}`, body, {
      'content-type': 'application/apply-patch+yaml',
    })
    return { status, body: answer } as AppliedAnswer
  }
  return { ...served, call, apply }
}

const managersOf = ({ body }: AppliedAnswer) =>
  Object.fromEntries((body.metadata.managedFields ?? []).map(({ manager, fieldsV1 }) => [manager, fieldsV1]))

test('fields have managers: a conflict names them, force takes them over, and what the last gives up goes', async () => {
  const { apply } = await withGadgets()
  const made = await apply('a', { size: 1, tags: ['x'], parts: [{ name: 'p', count: 1 }] })
  expect(made.status).toBe(201)
  expect(managersOf(made)).toEqual({
    a: {
      'f:spec': {
        'f:size': {},
        'f:tags': { 'v:"x"': {} },
        'f:parts': { 'k:{"name":"p"}': { '.': {}, 'f:count': {}, 'f:name': {} } },
      },
    },
  })

  const refused = await apply('b', { size: 2, parts: [{ name: 'p', count: 2 }, { name: 'q' }] })
  expect(refused).toMatchObject({
    status: 409,
    body: {
      message: 'Apply failed with 2 conflicts: conflicts with "a":\n- .spec.parts[name="p"].count\n- .spec.size',
      details: {
        causes: [
          { reason: 'FieldManagerConflict', message: 'conflict with "a"', field: '.spec.parts[name="p"].count' },
          { field: '.spec.size' },
        ],
      },
    },
  })
  const shared = await apply('b', { size: 1, parts: [{ name: 'q' }], tags: ['y'] })
  expect(shared.body.spec).toMatchObject({ tags: ['x', 'y'], parts: [{ name: 'p', count: 1 }, { name: 'q' }] })

  const left = await apply('a', {})
  expect(left.body.spec).toMatchObject({ size: 1, tags: ['y'], parts: [{ name: 'q' }] })
  const forced = await apply('c', { size: 3 }, { query: '&force=true' })
  expect(forced.body.spec).toMatchObject({ size: 3 })
  expect(managersOf(forced)['b']).not.toHaveProperty('f:spec.f:size')
  expect((await apply('c', { size: 3 }, { query: '&force=true' })).body.metadata.resourceVersion).toBe(
    forced.body.metadata.resourceVersion,
  )
})

test('updates are recorded by client and version, and the status by itself', async () => {
  const { call, apply } = await withGadgets()
  const agent = { 'user-agent': 'editor/1.2 (linux)', 'content-type': 'application/merge-patch+json' }
  await apply('a', { size: 1 })
  const edited = (await call('PATCH', GADGET, { spec: { size: 2 } }, agent)) as unknown as AppliedAnswer
  // The only field that it had applied.
  expect(edited.body.metadata.managedFields).toMatchObject([
    { manager: 'editor', operation: 'Update', fieldsV1: { 'f:spec': { 'f:size': {} } } },
  ])
  const status = (await call(
    'PATCH',
    `${GADGET}/status`,
    { status: { ready: true } },
    agent,
  )) as unknown as AppliedAnswer
  expect(status.body.metadata.managedFields).toMatchObject([
    { manager: 'editor', fieldsV1: { 'f:spec': {} } },
    { manager: 'editor', subresource: 'status', fieldsV1: { 'f:status': { '.': {}, 'f:ready': {} } } },
  ])
  expect((await apply('a', { size: 3 })).body.message).toBe(
    'Apply failed with 1 conflict: conflict with "editor" using example.com/v1: .spec.size',
  )
  const reset = (await call('PATCH', GADGET, { metadata: { managedFields: [{}] } }, agent)) as unknown as AppliedAnswer
  expect(reset.body.metadata.managedFields).toBeUndefined()
  expect((await apply('a', { size: 3 })).body.message).toContain('"before-first-apply"')
})

test('a client hands its fields to another manager, as kubectl does, and a list without entries changes nothing', async () => {
  const { call, apply } = await withGadgets()
  const made = await apply('old', { size: 1, colour: 'blue' })
  const [entry] = made.body.metadata.managedFields!
  const replace = (value: object[]) =>
    call('PATCH', GADGET, [{ op: 'replace', path: '/metadata/managedFields', value }], {
      'content-type': 'application/json-patch+json',
    }) as unknown as Promise<AppliedAnswer>
  expect(managersOf(await replace([]))).toHaveProperty('old')
  expect(managersOf(await replace([{ manager: 'half' }]))).toHaveProperty('old')
  expect(Object.keys(managersOf(await replace([{ ...entry!, manager: 'new' }])))).toEqual(['new'])
  // The field is given up by its only owner; its default comes back.
  expect((await apply('new', { size: 1 })).body.spec).toEqual({ size: 1, colour: 'red' })
})

test('what only this process has written has no managers; what it changes later is its own', async () => {
  const { call, apply, store } = await withGadgets()
  const at = { name: 'inner', namespace: 'metal3' }
  store.create('gadgets.example.com', { metadata: at, spec: { size: 1 } })
  expect(store.get('gadgets.example.com', at).metadata.managedFields).toBeUndefined()
  await apply('a', { size: 1 })
  store.change('gadgets.example.com', { ...at, name: 'one' }, (current) => ({ ...current, spec: { size: 5 } }))
  expect((await apply('a', { size: 1 })).body.message).toContain('conflict with "ironstage" using example.com/v1')
  const { body } = await call('GET', `${GADGETS}/inner`)
  expect(body).not.toHaveProperty('metadata.managedFields')
})

test('a dry run tells of conflicts and changes nothing', async () => {
  const { call, apply } = await withGadgets()
  expect(await apply('a', { size: 1 }, { query: '&dryRun=All' })).toMatchObject({ status: 201 })
  expect(await call('GET', GADGET)).toMatchObject({ status: 404 })
  const before = await apply('a', { size: 1 })
  expect(await apply('b', { size: 2 }, { query: '&dryRun=All' })).toMatchObject({ status: 409 })
  expect(await apply('b', { size: 2 }, { query: '&dryRun=All&force=true' })).toMatchObject({
    body: { spec: { size: 2 } },
  })
  expect(await call('GET', GADGET)).toMatchObject({ body: { metadata: before.body.metadata, spec: { size: 1 } } })
})

test('lists of kinds of Kubernetes itself are merged by their keys', async () => {
  const { call } = await withGadgets()
  const path = '/apis/apps/v1/namespaces/metal3/deployments/web'
  const containers = (...list: object[]) => ({ spec: { template: { spec: { containers: list } } } })
  const apply = (manager: string, more: object) =>
    call(
      'PATCH',
      `${path}?fieldManager=${manager}`,
      { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, ...more },
      { 'content-type': 'application/apply-patch+yaml' },
    )
  await apply('a', containers({ name: 'one', image: 'i', ports: [{ containerPort: 80 }] }))
  const both = await apply('b', containers({ name: 'two', image: 'j' }))
  expect(both.body).toMatchObject(containers({ name: 'one', ports: [{ containerPort: 80 }] }, { name: 'two' }))
  expect((await apply('b', containers({ name: 'one', image: 'k' }))) as AppliedAnswer).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining('.spec.template.spec.containers[name="one"].image') as string },
  })
})

test.each([
  ['without a manager', '', {}, 'fieldManager: Required value: is required for apply patch'],
  ['with a long manager', 'm'.repeat(129), {}, 'fieldManager: Too long: may not be more than 128 bytes'],
  ['with managed fields', 'a', { metadata: { name: 'one', managedFields: [] } }, 'metadata.managedFields must be nil'],
  ['with an item without its key', 'a', { spec: { parts: [{ count: 1 }] } }, 'omits key field "name"'],
  [
    'with an item twice',
    'a',
    { spec: { parts: [{ name: 'p' }, { name: 'p' }] } },
    'duplicate entries for key {"name":"p"}',
  ],
])('applying %s is refused', async (_what, manager, more, sentence) => {
  const { apply, call } = await withGadgets()
  const { status, body } = await apply(manager, { size: 1 }, { more })
  expect(status).toBeGreaterThanOrEqual(400)
  expect(body.message).toContain(sentence)
  expect(await call('GET', GADGET)).toMatchObject({ status: 404 })
})

test('a definition that ironstage brings is taken over without a conflict, and then owned', async () => {
  const { call } = await servedKube(scope)
  const path = `${DEFINITIONS}/hostclaims.metal3.io`
  const apply = async (manager: string, kind: string, versions: object[]) => {
    const spec = { group: 'metal3.io', scope: 'Namespaced', names: { kind, plural: 'hostclaims' }, versions }
    const body = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', spec }
    return call('PATCH', `${path}?fieldManager=${manager}`, body, { 'content-type': 'application/apply-patch+yaml' })
  }
  const version = { name: 'v1alpha1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }
  expect(await apply('a', 'HostClaim', [version])).toMatchObject({ status: 200 })
  expect(await apply('b', 'HostClaim', [{ ...version, deprecated: true }])).toMatchObject({ status: 409 })
})

test('only what is applied may be forced', async () => {
  const { call } = await servedKube(scope)
  await call('POST', HOSTS, host('a'))
  const merge = { 'content-type': 'application/merge-patch+json' }
  expect(await call('PATCH', `${HOSTS}/a?force=true`, {}, merge)).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining('force: Forbidden: may not be specified for non-apply patch') as string },
  })
})
