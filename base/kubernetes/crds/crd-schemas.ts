import type { SchemaCompilerOptions } from '../../schemas/index.js'
import { isMembers } from '../kube-json.js'
import baremetalOperator from './baremetal-operator-02aa505.json' with { type: 'json' }
import { goPattern } from './go-pattern.js'
import ironicOperator from './ironic-standalone-operator-c75aa29.json' with { type: 'json' }
import openshift from './openshift-2a3d739.json' with { type: 'json' }

/** A schema of a CustomResourceDefinition: JSONSchemaProps of apiextensions-apiserver, as far as it is read here. */
export interface CrdSchema {
  type?: string | string[]
  format?: string
  description?: string
  enum?: unknown[]
  const?: unknown
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  exclusiveMinimum?: boolean
  exclusiveMaximum?: boolean
  minItems?: number
  maxItems?: number
  minProperties?: number
  maxProperties?: number
  multipleOf?: number
  pattern?: string
  default?: unknown
  /** True if null is a value of its own; elsewhere it says that the field is not there. */
  nullable?: boolean
  properties?: Record<string, CrdSchema>
  additionalProperties?: CrdSchema | boolean
  required?: readonly string[]
  items?: CrdSchema
  anyOf?: CrdSchema[]
  allOf?: CrdSchema[]
  oneOf?: CrdSchema[]
  not?: CrdSchema
  /** True if an object keeps fields that the schema does not name. */
  'x-kubernetes-preserve-unknown-fields'?: boolean
  /** True for an object with apiVersion, kind and metadata of its own. */
  'x-kubernetes-embedded-resource'?: boolean
  'x-kubernetes-int-or-string'?: boolean
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  'x-kubernetes-list-map-keys'?: readonly string[]
  'x-kubernetes-map-type'?: 'granular' | 'atomic'
  'x-kubernetes-validations'?: readonly { rule?: string }[]
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
  categories?: string[]
  isNamespaced: boolean
  hasStatus: boolean
  columns?: readonly CrdColumn[]
  schema: CrdSchema
}

type CrdKindName = keyof typeof baremetalOperator.kinds | keyof typeof ironicOperator.kinds

/**
 * Fields of designs that are in no release: hosts that are written so are taken too. `image.format: coreos` and
 * `image.diskFormat` of the original design, which a host has in its status too; `preprovisioningExtraKernelParams` of
 * metal3-docs design/baremetal-operator/node-specific-kernel-args.md, which is pull request 2576 of baremetal-operator.
 */
function withDesignedFields(kinds: Record<CrdKindName, CrdKind>): Record<CrdKindName, CrdKind> {
  const designed = structuredClone(kinds)
  const { schema } = designed.BareMetalHost
  allowDesignedImage(schema)
  schema.properties!['spec']!.properties!['preprovisioningExtraKernelParams'] = { type: 'string' }
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

const METAL3_KINDS = { ...baremetalOperator.kinds, ...ironicOperator.kinds } as Record<CrdKindName, CrdKind>

/** The kinds of metal3, by name: of BareMetal Operator, and of the operator of standalone Ironics. */
export const METAL3_CRDS: Readonly<Record<CrdKindName, CrdKind>> = withDesignedFields(METAL3_KINDS)

/** The kinds of OpenShift (openshift/api, cluster-baremetal-operator), by name. */
export const OPENSHIFT_CRDS = openshift.kinds as Readonly<Record<keyof typeof openshift.kinds, CrdKind>>

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

/** Members of an object that is part of another. */
export const EMBEDDED_MEMBERS: Readonly<Record<string, CrdSchema>> = {
  ...fieldsNamed('apiVersion', 'kind'),
  metadata: OBJECT_META,
}

/** Fields with any value. */
export function fieldsNamed(...names: readonly string[]): Record<string, CrdSchema> {
  return Object.fromEntries(names.map((name) => [name, { 'x-kubernetes-preserve-unknown-fields': true }]))
}

type SchemaPart = 'one' | 'list' | 'map'

/** Keywords with which ajv checks a value, and where the schemas in them are. */
const CHECKED_KEYWORDS: Readonly<Record<string, 'value' | SchemaPart>> = {
  ...keywords('value', 'enum', 'const', 'required', 'nullable', 'multipleOf', 'pattern', 'default'),
  ...keywords('value', 'x-kubernetes-preserve-unknown-fields'),
  ...keywords('value', 'minimum', 'maximum', 'minLength', 'maxLength'),
  ...keywords('value', 'minItems', 'maxItems', 'minProperties', 'maxProperties'),
  ...keywords('one', 'items', 'additionalProperties', 'not'),
  ...keywords('list', 'anyOf', 'allOf', 'oneOf'),
  ...keywords('map', 'properties'),
}

function keywords(part: 'value' | SchemaPart, ...names: readonly string[]): Record<string, 'value' | SchemaPart> {
  return Object.fromEntries(names.map((name) => [name, part]))
}

/**
 * A schema as ajv checks it: without what it does not know, and with an integer or a text as a list of types, which its
 * messages name. Limits that are not part of what they limit are the draft's own keywords.
 */
export function checkedSchema(schema: CrdSchema): CrdSchema {
  const checked: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(schema)) {
    const part = Object.hasOwn(CHECKED_KEYWORDS, name) ? CHECKED_KEYWORDS[name] : undefined
    if (part === 'value') checked[name] = value
    else if (part !== undefined) checked[name] = checkedPart(part, value)
  }
  if (schema.type !== undefined) checked['type'] = schema.type
  if (schema.format !== undefined && Object.hasOwn(CRD_FORMATS, schema.format)) checked['format'] = schema.format
  if (isIntOrString(schema)) {
    checked['type'] = ['integer', 'string']
    delete checked['anyOf']
  }
  excludeLimit(checked, 'minimum', 'exclusiveMinimum', schema)
  excludeLimit(checked, 'maximum', 'exclusiveMaximum', schema)
  return checked as CrdSchema
}

function checkedPart(part: SchemaPart, value: unknown): unknown {
  if (part === 'list') return (value as CrdSchema[]).map(checkedSchema)
  if (!isMembers(value)) return value
  if (part === 'one') return checkedSchema(value as CrdSchema)
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, checkedSchema(each as CrdSchema)]))
}

/** OpenAPI says by a flag that a limit is no value itself, JSON Schema by a keyword with the limit. */
function excludeLimit(
  checked: Record<string, unknown>,
  limit: 'minimum' | 'maximum',
  exclusive: 'exclusiveMinimum' | 'exclusiveMaximum',
  schema: CrdSchema,
): void {
  if (schema[exclusive] !== true || checked[limit] === undefined) return
  checked[exclusive] = checked[limit]
  delete checked[limit]
}

/** The two forms of an integer or a text: the extension, and the alternative that older definitions have alone. */
function isIntOrString({ anyOf, ...schema }: CrdSchema): boolean {
  if (schema['x-kubernetes-int-or-string'] === true) return true
  const types = anyOf?.map((each) => (Object.keys(each).length === 1 ? each.type : undefined))
  return types?.length === 2 && types[0] === 'integer' && types[1] === 'string'
}

/** Formats of strings and numbers; those of numbers say no more than their type. */
const CRD_FORMATS = {
  int32: true,
  int64: true,
  float: true,
  double: true,
  byte: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
  date: /^\d{4}-\d\d-\d\d$/,
  'date-time': /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/i,
  duration: /^[-+]?(\d+(\.\d+)?\s*(ns|us|µs|μs|ms|s|m|h|d|w)\s*)+$|^0$/,
  email: /^[^@\s]+@[^@\s]+$/,
  ipv4: /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/,
  mac: /^(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i,
  uri: /^[a-z][a-z0-9+.-]*:\S+$/i,
  uuid: /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i,
} as const

/** How these schemas are compiled. */
export const CRD_COMPILER_OPTIONS: SchemaCompilerOptions = {
  formats: CRD_FORMATS,
  pattern: goPattern,
  notes: ['x-kubernetes-preserve-unknown-fields'],
}
