/** A kind of no use, by which definitions are tried. */

export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** Path of the gadgets of a namespace. */
export const GADGETS = '/apis/example.com/v1/namespaces/metal3/gadgets'

const gadgetSchema = () => ({
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1, description: 'how large it is' },
        colour: { type: 'string', enum: ['red', 'blue'], default: 'red' },
        port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        parts: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, count: { type: 'integer' } },
          },
        },
        tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
      },
    },
    status: { type: 'object', properties: { ready: { type: 'boolean' }, size: { type: 'integer' } } },
  },
})

const gadgetVersion = (name: string, storage: boolean) => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: gadgetSchema() },
  subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
  selectableFields: [{ jsonPath: '.spec.colour' }],
  additionalPrinterColumns: [
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    { name: 'Owner', type: 'string', jsonPath: String.raw`.metadata.labels.example\.com/owner` },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
})

/** The definition of gadgets. @param more members of its spec */
export const gadgetDefinition = (more: object = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Gadget', plural: 'gadgets', shortNames: ['gd'], categories: ['all'] },
    versions: [gadgetVersion('v1', true), gadgetVersion('v1beta1', false)],
    ...more,
  },
})

/** Reasons of a definition's conditions, by their type. */
export function conditionsOf({ status }: { status?: object }): Record<string, string> {
  const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; reason: string }[] }
  return Object.fromEntries(conditions.map(({ type, reason }) => [type, reason]))
}
