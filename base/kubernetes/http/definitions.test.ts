import { afterEach, describe, expect, test } from 'vitest'
import { Scope, systemClock } from '../../runtime/index.js'
import { HOSTS, host, servedKube } from '../../../test/kit/cluster/served-kube.js'
import type { Stored as StoredObject } from '../stored-object.js'
import { serveKube } from './kube-server.js'
import { conditionsOf, DEFINITIONS, gadgetDefinition, GADGETS } from '../../../test/kit/cluster/gadget-definition.js'

/** Kinds that clients define. */

let scope = new Scope()
afterEach(async () => {
  await scope[Symbol.asyncDispose]()
  scope = new Scope()
})

const MERGE = { 'content-type': 'application/merge-patch+json' }
const DEFINITION = `${DEFINITIONS}/gadgets.example.com`

interface SeenObject {
  metadata: { resourceVersion: string; generation: number }
  spec: Record<string, unknown>
  status?: object
  items: { metadata: { name: string } }[]
  message: string
}

async function withGadgets(more: object = {}) {
  const served = await servedKube(scope)
  const call = async (...args: Parameters<typeof served.call>) => {
    const { status, headers, body } = await served.call(...args)
    return { status, headers, body: body as SeenObject }
  }
  const made = await call('POST', DEFINITIONS, gadgetDefinition(more))
  const gadget = (name: string, spec: object = {}, metadata: object = {}) =>
    call('POST', GADGETS, {
      apiVersion: 'example.com/v1',
      kind: 'Gadget',
      metadata: { name, ...metadata },
      spec: { size: 1, ...spec },
    })
  return { ...served, call, made, gadget }
}

test('a definition makes a kind: discovery, paths, defaults, pruning, nulls, status, columns and OpenAPI follow it', async () => {
  const { call, made, gadget } = await withGadgets()
  expect(made.status).toBe(201)
  expect(conditionsOf(made.body)).toEqual({ NamesAccepted: 'NoConflicts', Established: 'InitialNamesAccepted' })
  expect(made.body.status).toMatchObject({
    storedVersions: ['v1'],
    acceptedNames: { kind: 'Gadget', listKind: 'GadgetList' },
  })

  expect(await call('GET', '/apis/example.com')).toMatchObject({ body: { preferredVersion: { version: 'v1' } } })
  expect(await call('GET', '/apis/example.com/v1')).toMatchObject({
    body: {
      resources: [
        { name: 'gadgets', singularName: 'gadget', shortNames: ['gd'], categories: ['all'], namespaced: true },
        { name: 'gadgets/status' },
        { name: 'gadgets/scale', group: 'autoscaling', kind: 'Scale' },
      ],
    },
  })

  const first = await gadget('one', { extra: 1, colour: null, port: '80%', free: { any: [1] } })
  expect(first).toMatchObject({
    status: 201,
    body: { metadata: { generation: 1 }, spec: { size: 1, colour: 'red', port: '80%', free: { any: [1] } } },
  })
  expect(first.body.spec).not.toHaveProperty('extra')
  expect(first.headers.get('warning')).toBe('299 - "unknown field \\"spec.extra\\""')

  const path = `${GADGETS}/one`
  const wrong = await call('PATCH', `${path}/status`, { status: { ready: 'yes' } }, MERGE)
  expect([wrong.status, wrong.body.message]).toEqual([
    422,
    'Gadget.example.com "one" is invalid: status.ready: Invalid value: "string": ready in body must be of type boolean: "string"',
  ])
  const reported = await call('PATCH', `${path}/status`, { spec: { size: 9 }, status: { ready: true } }, MERGE)
  expect(reported.body).toMatchObject({ metadata: { generation: 1 }, spec: { size: 1 }, status: { ready: true } })

  const table = await call('GET', GADGETS, undefined, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
  expect(table.body).toMatchObject({
    columnDefinitions: [{ name: 'Name' }, { name: 'Size', type: 'integer' }, { name: 'Owner' }, { name: 'Age' }],
    rows: [{ cells: ['one', 1, null, expect.any(String)] }],
  })
  const document = await call('GET', '/openapi/v3/apis/example.com/v1')
  expect(document.body).toMatchObject({
    components: {
      schemas: {
        'com.example.v1.Gadget': { properties: { spec: { properties: { size: { description: 'how large it is' } } } } },
      },
    },
  })
})

test.each([
  [{ size: 0 }, 'spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1'],
  [{ size: 'x' }, 'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"'],
  [{ size: null }, 'spec.size: Required value'],
  [{ port: true }, 'spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"'],
  [{ tags: ['a', 'b', 'a'] }, 'spec.tags[2]: Duplicate value: "a"'],
  [{ parts: [{ name: 'p' }, { name: 'p', count: 1 }] }, 'spec.parts[1]: Duplicate value: {"name":"p"}'],
  [{ colour: 'teal' }, 'spec.colour: Unsupported value: "teal": supported values: "red", "blue"'],
])('an object with %j is refused by the schema of its definition', async (spec, sentence) => {
  const { gadget } = await withGadgets()
  const { status, body } = await gadget('one', spec)
  expect([status, body.message]).toEqual([422, `Gadget.example.com "one" is invalid: ${sentence}`])
})

test('an object is shown in each version that is served, and kept in one', async () => {
  const { call, gadget, store } = await withGadgets()
  await gadget('one')
  const older = GADGETS.replace('/v1/', '/v1beta1/')
  expect(await call('GET', `${older}/one`)).toMatchObject({ body: { apiVersion: 'example.com/v1beta1' } })
  const changed = await call('PATCH', `${older}/one`, { spec: { size: 4 } }, MERGE)
  expect(changed.body).toMatchObject({
    apiVersion: 'example.com/v1beta1',
    spec: { size: 4 },
    metadata: { generation: 2 },
  })
  expect(await call('GET', older)).toMatchObject({ body: { apiVersion: 'example.com/v1beta1', kind: 'GadgetList' } })
  expect(store.find('gadgets.example.com', { name: 'one', namespace: 'metal3' })?.apiVersion).toBe('example.com/v1')
  const other = await call('POST', older, { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'two' } })
  expect(other).toMatchObject({ status: 400, body: { message: expect.stringContaining('does not match') as string } })
})

test('its scale is read and written by itself', async () => {
  const { call, gadget } = await withGadgets()
  await gadget('one')
  const path = `${GADGETS}/one/scale`
  expect(await call('GET', path)).toMatchObject({
    body: { kind: 'Scale', spec: { replicas: 1 }, status: { replicas: 0 } },
  })
  expect(await call('PATCH', path, { spec: { replicas: 7 } }, MERGE)).toMatchObject({ body: { spec: { replicas: 7 } } })
  expect(await call('GET', `${GADGETS}/one`)).toMatchObject({
    body: { spec: { size: 7 }, metadata: { generation: 2 } },
  })
  expect(await call('PATCH', path, { spec: { replicas: -1 } }, MERGE)).toMatchObject({ status: 422 })
  expect(await call('POST', path, {})).toMatchObject({ status: 405 })
})

test('objects are selected by the fields that the definition names, and by no others', async () => {
  const { call, gadget } = await withGadgets()
  await gadget('one')
  await gadget('two', { colour: 'blue' })
  const { body } = await call('GET', `${GADGETS}?fieldSelector=spec.colour%3Dblue`)
  expect(body.items.map(({ metadata }) => metadata.name)).toEqual(['two'])
  expect(await call('GET', `${GADGETS}?fieldSelector=spec.size%3D1`)).toMatchObject({ status: 400 })
})

test('a changed definition is in force at once; scope and names stay, and a version that is stored', async () => {
  const { call, gadget } = await withGadgets()
  await gadget('one')
  const { spec } = gadgetDefinition()
  const wider = structuredClone(spec)
  wider.versions[0]!.schema.openAPIV3Schema.properties.spec.properties.colour.enum.push('teal')
  expect(await call('PATCH', DEFINITION, { spec: wider }, MERGE)).toMatchObject({ status: 200 })
  expect(await gadget('two', { colour: 'teal' })).toMatchObject({ status: 201 })

  const refusal = async (change: object) => {
    const { status, body } = await call('PATCH', DEFINITION, { spec: change }, MERGE)
    return [status, body.message]
  }
  const start = 'CustomResourceDefinition.apiextensions.k8s.io "gadgets.example.com" is invalid: '
  expect(await refusal({ scope: 'Cluster' })).toEqual([
    422,
    `${start}spec.scope: Invalid value: "Cluster": field is immutable`,
  ])
  expect(await refusal({ names: { kind: 'Thing' } })).toEqual([
    422,
    `${start}spec.names.kind: Invalid value: "Thing": field is immutable`,
  ])
  const second = { ...spec.versions[1]!, storage: true }
  expect(await refusal({ versions: [second] })).toEqual([
    422,
    expect.stringContaining('status.storedVersions[0]: Invalid value: "v1": missing from spec.versions;'),
  ])
  expect(await refusal({ versions: [{ ...spec.versions[0], served: false }, second] })).toEqual([
    422,
    `${start}spec.versions: Invalid value: ${JSON.stringify([{ ...spec.versions[0], served: false }, second]).slice(0, 2000)}...: must have exactly one version marked as storage version`,
  ])
  expect(await call('GET', `${GADGETS}/two`)).toMatchObject({ status: 200 })
})

test('a definition goes with its objects, waits for their finalizers, and frees its names', async () => {
  const { call, gadget, store, client } = await withGadgets()
  await gadget('one')
  await gadget('held', {}, { finalizers: ['example.com/held'] })
  const watch = store.watch('gadgets.example.com')
  const twin = gadgetDefinition({ names: { kind: 'Gadget', plural: 'gizmos' } })
  const waiting = await call('POST', DEFINITIONS, { ...twin, metadata: { name: 'gizmos.example.com' } })
  expect(conditionsOf(waiting.body)).toEqual({ NamesAccepted: 'ListKindConflict', Established: 'NotAccepted' })
  expect(await call('GET', GADGETS.replace('gadgets', 'gizmos'))).toMatchObject({ status: 404 })

  const ending = await call('DELETE', DEFINITION)
  expect(conditionsOf(ending.body)).toMatchObject({ Terminating: 'InstanceDeletionInProgress' })
  expect(await call('GET', GADGETS)).toMatchObject({ body: { items: [{ metadata: { name: 'held' } }] } })
  expect(await gadget('late')).toMatchObject({
    status: 403,
    body: { message: expect.stringContaining('custom resource definition is terminating') as string },
  })
  await call('PATCH', `${GADGETS}/held`, { metadata: { finalizers: null } }, MERGE)
  expect(await call('GET', DEFINITION)).toMatchObject({ status: 404 })
  expect(await call('GET', GADGETS)).toMatchObject({ status: 404 })
  expect(await call('GET', '/apis/example.com/v1')).toMatchObject({ body: { resources: [{ name: 'gizmos' }, {}, {}] } })
  while (watch.take());
  expect(watch.isOver).toBe(true)
  const { items } = await client.list('CustomResourceDefinition', { fieldSelector: 'metadata.name=gizmos.example.com' })
  expect(conditionsOf(items[0]!)).toEqual({ NamesAccepted: 'NoConflicts', Established: 'InitialNamesAccepted' })
})

test('a namespace and a kind that end together both end, whichever object is released last', async () => {
  const { call, gadget, store } = await withGadgets()
  await gadget('held', {}, { finalizers: ['example.com/held'] })
  await call('DELETE', '/api/v1/namespaces/metal3')
  await call('DELETE', DEFINITION)
  expect(await call('GET', DEFINITION)).toMatchObject({ status: 200 })
  await call('PATCH', `${GADGETS}/held`, { metadata: { finalizers: null } }, MERGE)
  expect(await call('GET', DEFINITION)).toMatchObject({ status: 404 })
  expect(store.find('Namespace', { name: 'metal3' })).toBeUndefined()
})

test('a namespace does not wait for objects whose definition was taken away by force', async () => {
  const { call, gadget, store } = await withGadgets()
  await gadget('held', {}, { finalizers: ['example.com/held'] })
  await call('DELETE', '/api/v1/namespaces/metal3')
  await call('DELETE', DEFINITION)
  await call('PATCH', DEFINITION, { metadata: { finalizers: null } }, MERGE)
  expect(await call('GET', DEFINITION)).toMatchObject({ status: 404 })
  expect(store.find('Namespace', { name: 'metal3' })).toBeUndefined()
})

test('fields that a definition does not have are refused or dropped, as those of any kind', async () => {
  const { call } = await servedKube(scope)
  const whole = gadgetDefinition({ kebab: 1 })
  const refused = await call('POST', `${DEFINITIONS}?fieldValidation=Strict`, whole)
  expect((refused.body as SeenObject).message).toContain('strict decoding error: unknown field "spec.kebab"')
  const made = await call('POST', DEFINITIONS, whole)
  expect(made.headers.get('warning')).toBe('299 - "unknown field \\"spec.kebab\\""')
  expect(made.body).not.toHaveProperty('spec.kebab')
  expect(made.body).toHaveProperty('spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.size')
})

test('kinds of the same name in two groups are two kinds', async () => {
  const { call } = await servedKube(scope)
  const definition = gadgetDefinition({ group: 'cluster.x-k8s.io', names: { kind: 'Machine', plural: 'machines' } })
  const named = { ...definition, metadata: { name: 'machines.cluster.x-k8s.io' } }
  expect(await call('POST', DEFINITIONS, named)).toMatchObject({ status: 201 })
  const ofGroup = (group: string, version: string) => `/apis/${group}/${version}/namespaces/metal3/machines`
  const machine = { metadata: { name: 'one' }, spec: { size: 2 } }
  expect(await call('POST', ofGroup('cluster.x-k8s.io', 'v1'), machine)).toMatchObject({ status: 201 })
  expect(await call('GET', ofGroup('machine.openshift.io', 'v1beta1'))).toMatchObject({ body: { items: [] } })
  expect(await call('DELETE', '/api/v1/namespaces/metal3')).toMatchObject({ status: 200 })
  expect(await call('GET', ofGroup('cluster.x-k8s.io', 'v1'))).toMatchObject({ body: { items: [] } })
})

test('a definition with a webhook for conversion is refused in a sentence', async () => {
  const { made, call } = await withGadgets({ conversion: { strategy: 'Webhook' } })
  expect([made.status, made.body.message]).toEqual([
    422,
    'CustomResourceDefinition.apiextensions.k8s.io "gadgets.example.com" is invalid: spec.conversion.strategy: Invalid value: ' +
      '"Webhook": this API converts between versions without a webhook: use None, or apply the definition without spec.conversion',
  ])
  expect(await call('GET', GADGETS)).toMatchObject({ status: 404 })
})

test('rules in CEL are kept without effect, with a warning', async () => {
  const { spec } = gadgetDefinition()
  const [version] = structuredClone(spec.versions)
  const rule = { rule: 'self.size < 1', message: 'never' }
  Object.assign(version!.schema.openAPIV3Schema.properties.spec, { 'x-kubernetes-validations': [rule] })
  const { made, gadget } = await withGadgets({ versions: [version] })
  expect(made.headers.get('warning')).toBe(
    '299 - "x-kubernetes-validations: this API evaluates no rules in CEL; the definition has 1"',
  )
  expect(JSON.stringify(made.body)).toContain('self.size < 1')
  expect(await gadget('one')).toMatchObject({ status: 201 })
})

test('the definitions that ironstage brings are there, and a client may replace or delete them', async () => {
  const { call } = await servedKube(scope)
  const path = `${DEFINITIONS}/baremetalhosts.metal3.io`
  expect(conditionsOf((await call('GET', path)).body as SeenObject)).toMatchObject({
    Established: 'InitialNamesAccepted',
  })
  const partial = { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' }
  const { body } = await call('GET', DEFINITIONS, undefined, partial)
  expect(body).toMatchObject({ kind: 'PartialObjectMetadataList' })
  const listed = (body as SeenObject).items.map(({ metadata }) => metadata.name)
  expect(listed).toContain('machineconfigpools.machineconfiguration.openshift.io')
  expect(await call('POST', HOSTS, host('one'))).toMatchObject({ status: 201 })
  const migrated = { status: { storedVersions: ['v1alpha1', 'v1'] } }
  expect(await call('PATCH', `${path}/status`, migrated, MERGE)).toMatchObject({ status: 200, body: migrated })
  expect(await call('DELETE', path)).toMatchObject({ status: 200 })
  expect(await call('GET', HOSTS)).toMatchObject({ status: 404 })
})

test('a definition that ironstage brings follows its version, unless a client has written it', async () => {
  const { call, store, server } = await servedKube(scope)
  const at = { name: 'hostclaims.metal3.io' }
  const other = { name: 'dataimages.metal3.io' }
  const asBefore = (name: string) => (current: StoredObject) => {
    const spec = structuredClone(current['spec']) as unknown as { names: { shortNames?: string[] } }
    spec.names.shortNames = [name]
    return { ...current, spec }
  }
  store.change('CustomResourceDefinition', at, asBefore('a'))
  await call('PATCH', `${DEFINITIONS}/${other.name}`, { metadata: { labels: { mine: '1' } } }, MERGE)
  store.change('CustomResourceDefinition', other, asBefore('b'))
  await server[Symbol.asyncDispose]()
  scope.use(await serveKube({ store, port: 0, clock: systemClock() }))
  expect(store.kinds.get('HostClaim').shortNames).toEqual([])
  expect(store.kinds.get('DataImage').shortNames).toEqual(['b'])
})

describe('a definition is refused', () => {
  const names = { kind: 'Gadget', plural: 'gadgets' }
  const versionWith = (schema: unknown) => [
    { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } },
  ]
  const root = 'spec.versions[0].schema.openAPIV3Schema'
  test.each([
    [
      'without a type',
      { versions: versionWith({ properties: { spec: { type: 'object' } } }) },
      `${root}.type: Required value: must not be empty at the root`,
    ],
    [
      'with a field without a type',
      { versions: versionWith({ type: 'object', properties: { spec: { properties: {} } } }) },
      `${root}.properties[spec].type: Required value: must not be empty for specified object fields`,
    ],
    [
      'with a list of anything',
      { versions: versionWith({ type: 'object', properties: { list: { type: 'array' } } }) },
      `${root}.properties[list].items: Required value: must be specified`,
    ],
    [
      'with a default in a validation',
      {
        versions: versionWith({
          type: 'object',
          properties: { a: { type: 'string' } },
          anyOf: [{ properties: { a: { default: 'x' } } }],
        }),
      },
      `${root}.anyOf[0].properties[a].default: Forbidden: must be undefined to be structural`,
    ],
    [
      'with a validation of a field that is not there',
      { versions: versionWith({ type: 'object', oneOf: [{ properties: { b: { minimum: 1 } } }] }) },
      `${root}.properties[b]: Required value: because it is defined in ${root}.oneOf[0].properties[b]`,
    ],
    [
      'with a reference',
      { versions: versionWith({ type: 'object', properties: { a: { $ref: '#/x' } } }) },
      `${root}.properties[a].$ref: Forbidden: $ref is not supported`,
    ],
    ['with no schema', { versions: [{ name: 'v1', served: true, storage: true }] }, `${root}: Required value`],
    [
      'with a wrong pattern',
      { versions: versionWith({ type: 'object', properties: { a: { type: 'string', pattern: '(' } } }) },
      'must be a valid regular expression',
    ],
    [
      'with a schema that is none',
      { versions: versionWith({ type: 'object', properties: { a: 5 } }) },
      `${root}.properties[a]: Invalid value: 5: must be a schema object`,
    ],
    [
      'with properties that are none',
      { versions: versionWith({ type: 'object', properties: [] }) },
      'must be an object of schemas',
    ],
    [
      'of a wrong scope',
      { scope: 'Everywhere' },
      'spec.scope: Unsupported value: "Everywhere": supported values: "Cluster", "Namespaced"',
    ],
    ['of no version', { versions: [] }, 'must have exactly one version marked as storage version'],
    ['with versions that are none', { versions: 'all' }, 'spec.versions in body must be of type array'],
    [
      'of a group without a dot',
      { group: 'example' },
      'spec.group: Invalid value: "example": should be a domain with at least one dot',
    ],
    [
      'of another name',
      { names: { ...names, plural: 'gizmos' } },
      'metadata.name: Invalid value: "gadgets.example.com": must be spec.names.plural+"."+spec.group',
    ],
    ['with a wrong plural', { names: { ...names, plural: 'Gadgets' } }, 'a DNS-1035 label must consist of lower case'],
    [
      'with a list kind of its own name',
      { names: { ...names, listKind: 'Gadget' } },
      'kind and listKind may not be the same',
    ],
    [
      'that preserves all',
      { preserveUnknownFields: true },
      'spec.preserveUnknownFields: Invalid value: true: cannot set to true',
    ],
    ['without a spec', undefined, 'spec: Required value'],
  ])('%s, and nothing of it stays', async (_what, more, sentence) => {
    const { call } = await servedKube(scope)
    const whole = gadgetDefinition(more)
    const { status, body } = await call('POST', DEFINITIONS, more === undefined ? { ...whole, spec: undefined } : whole)
    expect([status, (body as SeenObject).message]).toEqual([422, expect.stringContaining(sentence)])
    expect(await call('GET', DEFINITION)).toMatchObject({ status: 404 })
    expect(await call('GET', GADGETS)).toMatchObject({ status: 404 })
  })

  test('of a group of Kubernetes without an approval', async () => {
    const { call } = await servedKube(scope)
    const wanted = gadgetDefinition({ group: 'gadgets.k8s.io' })
    const { body } = await call('POST', DEFINITIONS, { ...wanted, metadata: { name: 'gadgets.gadgets.k8s.io' } })
    expect((body as SeenObject).message).toContain('protected groups must have approval annotation')
  })

  test('where its names are another kind’s of the group: it is kept, and not served', async () => {
    const { call } = await servedKube(scope)
    const twin = gadgetDefinition({
      group: 'metal3.io',
      names: { kind: 'Gadget', plural: 'gadgets', shortNames: ['bmh'] },
    })
    const { status, body } = await call('POST', DEFINITIONS, { ...twin, metadata: { name: 'gadgets.metal3.io' } })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      status: {
        conditions: [
          { status: 'False', reason: 'ShortNamesConflict', message: '"bmh" is already in use' },
          { status: 'False' },
        ],
      },
    })
    expect(await call('GET', '/apis/metal3.io/v1/gadgets')).toMatchObject({ status: 404 })
  })
})
