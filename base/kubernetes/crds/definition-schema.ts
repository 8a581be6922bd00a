import type { CrdSchema } from './crd-schemas.js'

const text: CrdSchema = { type: 'string' }
const flag: CrdSchema = { type: 'boolean' }
const texts: CrdSchema = { type: 'array', items: text }
const object = (properties: Record<string, CrdSchema>, ...required: readonly string[]): CrdSchema => ({
  type: 'object',
  required,
  properties,
})
/** An object that its reader knows better. */
const any: CrdSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const list = (items: CrdSchema): CrdSchema => ({ type: 'array', items })

const names = object(
  { kind: text, listKind: text, plural: text, singular: text, shortNames: texts, categories: texts },
  'kind',
  'plural',
)

const column = object(
  {
    name: text,
    type: text,
    jsonPath: text,
    description: text,
    format: text,
    priority: { type: 'integer' },
  },
  'name',
  'type',
  'jsonPath',
)

const scale = object(
  { specReplicasPath: text, statusReplicasPath: text, labelSelectorPath: text },
  'specReplicasPath',
  'statusReplicasPath',
)

const version = object(
  {
    name: text,
    served: flag,
    storage: flag,
    deprecated: flag,
    deprecationWarning: text,
    schema: object({ openAPIV3Schema: any }),
    subresources: object({ status: any, scale }),
    additionalPrinterColumns: list(column),
    selectableFields: list(object({ jsonPath: text }, 'jsonPath')),
  },
  'name',
  'served',
  'storage',
)

/** The form of a definition: apiextensions-apiserver pkg/apis/apiextensions/v1. Its rules are in `definition-rules.ts`. */
export const DEFINITION_SCHEMA: CrdSchema = object(
  {
    spec: object(
      {
        group: text,
        scope: { type: 'string', enum: ['Cluster', 'Namespaced'] },
        names,
        versions: list(version),
        preserveUnknownFields: flag,
        conversion: object({ strategy: text, webhook: any }),
      },
      'group',
      'names',
      'scope',
      'versions',
    ),
    status: object({ storedVersions: texts, acceptedNames: any, conditions: list(any) }),
  },
  'spec',
)
