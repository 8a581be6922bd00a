import { checkedSchema, METAL3_CRDS, OBJECT_META, type CrdSchema } from '../crds/crd-schemas.js'

/** Schemas of the Kubernetes objects that a file of manifests may have: metal3's kinds, and Secrets. */
const MANIFEST_TEXT_SCHEMA = { type: 'string' }
const MANIFEST_TEXTS_SCHEMA = { type: 'object', additionalProperties: MANIFEST_TEXT_SCHEMA }

const METADATA = {
  type: 'object',
  properties: {
    ...OBJECT_META.properties,
    name: { type: 'string', minLength: 1 },
    namespace: { type: 'string', minLength: 1 },
    uid: MANIFEST_TEXT_SCHEMA,
    annotations: MANIFEST_TEXTS_SCHEMA,
    labels: MANIFEST_TEXTS_SCHEMA,
  },
  required: ['name'],
}

/** A schema with what a file has to say beside it. */
const manifestSchema = (apiVersion: string, kind: string, schema: CrdSchema): CrdSchema => ({
  ...schema,
  properties: {
    ...schema.properties,
    apiVersion: { const: apiVersion },
    kind: { const: kind },
    metadata: METADATA,
  },
  required: ['apiVersion', 'kind', 'metadata', ...(schema.required ?? [])],
})

const SECRET = {
  type: 'object',
  properties: {
    type: MANIFEST_TEXT_SCHEMA,
    immutable: { type: 'boolean' },
    data: MANIFEST_TEXTS_SCHEMA,
    stringData: MANIFEST_TEXTS_SCHEMA,
  },
} as const

export type ManifestKind = keyof typeof METAL3_CRDS | 'Secret'

/** Schemas by `kind`. */
export const MANIFEST_SCHEMAS: Readonly<Record<ManifestKind, CrdSchema>> = {
  ...metal3Schemas(),
  Secret: manifestSchema('v1', 'Secret', SECRET),
}

function metal3Schemas(): Record<keyof typeof METAL3_CRDS, CrdSchema> {
  const schemas = Object.entries(METAL3_CRDS).map(([kind, { apiVersion, schema }]) => [
    kind,
    manifestSchema(apiVersion, kind, checkedSchema(schema)),
  ])
  return Object.fromEntries(schemas) as Record<keyof typeof METAL3_CRDS, CrdSchema>
}
