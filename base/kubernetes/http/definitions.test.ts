import { afterEach, expect, test } from 'vitest'
import { Scope } from '../../runtime/index.js'
import { servedKube } from '../../../test/kit/cluster/served-kube.js'

let scope = new Scope()
afterEach(async () => {
  await scope[Symbol.asyncDispose]()
  scope = new Scope()
})

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

const definition = (plural: string, kind: string, more: object = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.metal3.io` },
  spec: {
    group: 'metal3.io',
    scope: 'Namespaced',
    names: { kind, plural, singular: kind.toLowerCase() },
    versions: [{ name: 'v1alpha1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    ...more,
  },
})

test('a definition of a kind that the API serves is established, with a warning that its schema has no effect', async () => {
  const { call } = await servedKube(scope)
  const made = await call('POST', DEFINITIONS, definition('baremetalhosts', 'BareMetalHost'))
  expect(made).toMatchObject({
    status: 201,
    body: {
      metadata: { generation: 1 },
      status: {
        acceptedNames: { kind: 'BareMetalHost', plural: 'baremetalhosts' },
        conditions: [
          { type: 'NamesAccepted', status: 'True' },
          { type: 'Established', status: 'True', reason: 'InitialNamesAccepted' },
        ],
        storedVersions: ['v1alpha1'],
      },
    },
  })
  expect(made.headers.get('warning')).toBe(
    '299 - "BareMetalHost is served by the definition that this API brings: the schema of this one has no effect"',
  )

  const path = `${DEFINITIONS}/baremetalhosts.metal3.io`
  const merge = { 'content-type': 'application/merge-patch+json' }
  const annotated = await call('PATCH', path, { metadata: { annotations: { a: 'b' } } }, merge)
  expect(annotated).toMatchObject({ status: 200, body: { metadata: { generation: 1, annotations: { a: 'b' } } } })
  const stored = { status: { storedVersions: ['v1alpha1', 'v1'] } }
  expect(await call('PATCH', `${path}/status`, stored, merge)).toMatchObject({ status: 200, body: stored })
  const partial = { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' }
  expect(await call('GET', DEFINITIONS, undefined, partial)).toMatchObject({
    body: { kind: 'PartialObjectMetadataList', items: [{ metadata: { name: 'baremetalhosts.metal3.io' } }] },
  })
})

test.each([
  ['clusters', 'Cluster', {}, 'this API serves the kinds that it brings, and Cluster of metal3.io (v1alpha1) is none'],
  ['baremetalhosts', 'BareMetalHost', { scope: 'Cluster' }, 'is none of them'],
  ['baremetalhosts', 'BareMetalHost', { versions: [] }, 'is none of them'],
  ['hasOwnProperty', 'toString', {}, 'metadata.name'],
  ['hosts', 'BareMetalHost', {}, 'is none of them'],
  ['baremetalhosts', 'BareMetalHost', { group: 'example.com' }, 'must be spec.names.plural+"."+spec.group'],
  ['baremetalhosts', 'BareMetalHost', { versions: 'all' }, 'must be of type array'],
  ['baremetalhosts', 'BareMetalHost', { scope: 'Everywhere' }, 'Unsupported value: "Everywhere"'],
])('a definition of %s for %s with %j is refused in one sentence', async (plural, kind, more, sentence) => {
  const { call } = await servedKube(scope)
  const { status, body } = await call('POST', DEFINITIONS, definition(plural, kind, more))
  expect([status, (body as { message: string }).message]).toEqual([422, expect.stringContaining(sentence)])
  expect(await call('GET', DEFINITIONS)).toMatchObject({ body: { items: [] } })
})
