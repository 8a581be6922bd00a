import { defined } from '../../runtime/index.js'
import type { SchemaCompilerOptions } from '../../schemas/index.js'
import baremetalOperator from './baremetal-operator-02aa505.json' with { type: 'json' }

/** A schema of a CustomResourceDefinition: what `scripts/reduce-crds.js` keeps of it. */
export interface CrdSchema {
  type?: string | string[]
  format?: string
  enum?: unknown[]
  const?: unknown
  minLength?: number
  pattern?: string
  default?: unknown
  /** True if null is a value of its own; elsewhere it says that the field is not there. */
  nullable?: boolean
  properties?: Record<string, CrdSchema>
  additionalProperties?: CrdSchema | boolean
  /** True if an object keeps fields that the schema does not name. */
  'x-kubernetes-preserve-unknown-fields'?: boolean
  required?: readonly string[]
  items?: CrdSchema
  anyOf?: CrdSchema[]
}

/** A column of `kubectl get`: one of a definition's `additionalPrinterColumns`. */
export interface CrdColumn {
  name: string
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  /** `.status.conditions[?(@.type=="Ready")].status` */
  jsonPath: string
  description?: string
  format?: string
  priority?: number
}

/** A kind as its CustomResourceDefinition has it. */
export interface CrdKind {
  apiVersion: string
  plural: string
  shortNames: string[]
  isNamespaced: boolean
  hasStatus: boolean
  columns?: readonly CrdColumn[]
  schema: CrdSchema
}

type CrdKindName = keyof typeof baremetalOperator.kinds

/**
 * The original design's `image.format: coreos` and `image.diskFormat`, which are in no release: hosts that are written so
 * are taken too, and have such an image in their status.
 */
function withDesignedImage(kinds: Record<CrdKindName, CrdKind>): Record<CrdKindName, CrdKind> {
  const designed = structuredClone(kinds)
  allowDesignedImage(designed.BareMetalHost.schema)
  return designed
}

function allowDesignedImage({ properties = {} }: CrdSchema): void {
  const { format, checksumType } = properties
  if (format?.enum && checksumType) {
    format.enum.push('coreos')
    properties['diskFormat'] = { type: 'string', enum: ['coreos'] }
  }
  for (const each of Object.values(properties)) allowDesignedImage(each)
}

/** The kinds of metal3, by name. */
export const METAL3_CRDS: Readonly<Record<CrdKindName, CrdKind>> = withDesignedImage(
  baremetalOperator.kinds as Record<CrdKindName, CrdKind>,
)

/** Members of `metadata`: apimachinery pkg/apis/meta/v1 ObjectMeta. What they may be is checked elsewhere. */
export const OBJECT_META: CrdSchema = {
  type: 'object',
  properties: {
    ...fieldsNamed('name', 'generateName', 'namespace', 'selfLink', 'uid', 'resourceVersion', 'generation'),
    ...fieldsNamed('creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'finalizers'),
    labels: { additionalProperties: true },
    annotations: { additionalProperties: true },
    managedFields: { items: { 'x-kubernetes-preserve-unknown-fields': true } },
    ownerReferences: {
      items: { properties: fieldsNamed('apiVersion', 'kind', 'name', 'uid', 'controller', 'blockOwnerDeletion') },
    },
  },
}

/** Fields with any value. */
export function fieldsNamed(...names: readonly string[]): Record<string, CrdSchema> {
  return Object.fromEntries(names.map((name) => [name, { 'x-kubernetes-preserve-unknown-fields': true }]))
}

/** A schema whose `anyOf`, for an integer or a text, is a list of types: ajv's messages name those. */
export function withTypeLists(schema: CrdSchema): CrdSchema {
  const { anyOf, properties, additionalProperties, items, ...rest } = schema
  const types = anyOf?.map(({ type }) => type as string)
  return {
    ...rest,
    ...defined({
      type: types ?? rest.type,
      properties:
        properties && Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, withTypeLists(each)])),
      additionalProperties:
        typeof additionalProperties === 'object' ? withTypeLists(additionalProperties) : additionalProperties,
      items: items && withTypeLists(items),
    }),
  }
}

/** Formats of strings and numbers; those of numbers say no more than their type. */
const CRD_FORMATS = {
  int32: true,
  int64: true,
  double: true,
  'date-time': /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/i,
} as const

/** How these schemas are compiled. */
export const CRD_COMPILER_OPTIONS: SchemaCompilerOptions = {
  formats: CRD_FORMATS,
  notes: ['x-kubernetes-preserve-unknown-fields'],
}
