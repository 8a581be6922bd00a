import type { ErrorObject } from 'ajv'
import { defined, pointerParts } from '../runtime/index.js'
import { SchemaCompiler } from '../schemas/index.js'
import { completeValue } from './crds/complete-value.js'
import {
  CRD_COMPILER_OPTIONS,
  fieldsNamed,
  METAL3_CRDS,
  OBJECT_META,
  withTypeLists,
  type CrdSchema,
} from './crds/crd-schemas.js'
import { DEFINITION_SCHEMA } from './crds/definitions.js'
import { fieldPathText, pruneValue, type PrunedValue } from './crds/prune-value.js'
import type { JsonMembers } from './kube-json.js'
import type { KubeKind } from './kinds.js'
import { EVENT_SCHEMA, LEASE_SCHEMA } from './kinds/core-schemas.js'
import type { FieldError } from './refusals.js'

const KUBE_TEXT_SCHEMA = { type: 'string' } as const
const KUBE_TEXTS_SCHEMA = { type: 'object', additionalProperties: KUBE_TEXT_SCHEMA } as const
const kubeObjectSchema = (properties: Record<string, object>, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required: [...required],
})
const withSpec = (spec: object, isRequired = true) => kubeObjectSchema({ spec }, isRequired ? ['spec'] : [])
const COUNT = { type: 'integer', minimum: 0 } as const
const SELECTOR = kubeObjectSchema({ matchLabels: KUBE_TEXTS_SCHEMA })
const MACHINE_SPEC = kubeObjectSchema({
  providerSpec: kubeObjectSchema({ value: { type: 'object' } }),
  providerID: KUBE_TEXT_SCHEMA,
})

/** As much of each kind as keeps actors from objects that they cannot read; metal3's are whole, from its definitions. */
const KUBE_SCHEMAS: Readonly<Partial<Record<KubeKind, CrdSchema>>> = {
  ...crdSchemas(),
  ClusterVersion: withSpec(
    kubeObjectSchema({
      channel: KUBE_TEXT_SCHEMA,
      desiredUpdate: kubeObjectSchema({
        version: KUBE_TEXT_SCHEMA,
        image: KUBE_TEXT_SCHEMA,
        force: { type: 'boolean' },
      }),
    }),
  ),
  CustomResourceDefinition: DEFINITION_SCHEMA,
  Event: EVENT_SCHEMA,
  Lease: LEASE_SCHEMA,
  Machine: withSpec(MACHINE_SPEC),
  MachineSet: withSpec(
    kubeObjectSchema({ replicas: COUNT, selector: SELECTOR, template: kubeObjectSchema({ spec: MACHINE_SPEC }) }, [
      'selector',
      'template',
    ]),
  ),
  MachineConfig: withSpec(
    kubeObjectSchema({
      config: { type: 'object' },
      osImageURL: KUBE_TEXT_SCHEMA,
      kernelArguments: { type: 'array', items: KUBE_TEXT_SCHEMA },
    }),
  ),
  MachineConfigPool: withSpec(
    kubeObjectSchema({
      configuration: kubeObjectSchema({ name: KUBE_TEXT_SCHEMA }),
      machineConfigSelector: SELECTOR,
      nodeSelector: SELECTOR,
      maxUnavailable: { type: ['integer', 'string'] },
      paused: { type: 'boolean' },
    }),
  ),
  Provisioning: withSpec(
    kubeObjectSchema({
      provisioningNetwork: { type: 'string', enum: ['Managed', 'Unmanaged', 'Disabled'] },
      provisioningOSDownloadURL: KUBE_TEXT_SCHEMA,
      preProvisioningOSDownloadURLs: KUBE_TEXTS_SCHEMA,
      watchAllNamespaces: { type: 'boolean' },
    }),
    false,
  ),
}

function crdSchemas(): Partial<Record<KubeKind, CrdSchema>> {
  return Object.fromEntries(Object.entries(METAL3_CRDS).map(([kind, { schema }]) => [kind, withTypeLists(schema)]))
}

const kubeSchemas = new SchemaCompiler(CRD_COMPILER_OPTIONS)

function errorsOf(kind: KubeKind, value: JsonMembers): readonly ErrorObject[] {
  const schema = KUBE_SCHEMAS[kind]
  if (!schema) return []
  const check = kubeSchemas.check(schema)
  return check.accepts(value) ? [] : check.errors()
}

/** Members that all objects have. */
const OBJECT_MEMBERS = {
  ...fieldsNamed('apiVersion', 'kind'),
  metadata: OBJECT_META,
}

/** Schemas that name all fields of their kinds; of the other kinds those of the metadata alone are known. */
const WHOLE_SCHEMAS: Readonly<Partial<Record<KubeKind, CrdSchema>>> = {
  ...Object.fromEntries(Object.entries(METAL3_CRDS).map(([kind, { schema }]) => [kind, wholeSchema(schema)])),
  Event: wholeSchema(EVENT_SCHEMA),
  Lease: wholeSchema(LEASE_SCHEMA),
  ConfigMap: wholeSchema({ properties: fieldsNamed('data', 'binaryData', 'immutable') }),
  Secret: wholeSchema({ properties: fieldsNamed('data', 'stringData', 'type', 'immutable') }),
}

function wholeSchema(schema: CrdSchema): CrdSchema {
  return { ...schema, properties: { ...schema.properties, ...OBJECT_MEMBERS } }
}

/** Fields of a kind, as far as they are known here. */
export const kindSchema = (kind: KubeKind): CrdSchema => KUBE_SCHEMAS[kind] ?? WHOLE_SCHEMAS[kind] ?? OTHER_SCHEMA

const OTHER_SCHEMA: CrdSchema = { properties: OBJECT_MEMBERS, 'x-kubernetes-preserve-unknown-fields': true }

const pruneObject = (kind: KubeKind, object: JsonMembers): PrunedValue =>
  pruneValue(object, WHOLE_SCHEMAS[kind] ?? OTHER_SCHEMA)

/**
 * An object as an API server stores it: without fields that its kind does not have, with the defaults of its kind, and
 * without nulls that stand for a field that is not there.
 */
export function completeObject(kind: KubeKind, object: JsonMembers): JsonMembers {
  const pruned = pruneObject(kind, object).value
  const schema = KUBE_SCHEMAS[kind]
  return (schema ? completeValue(pruned, schema) : pruned) as JsonMembers
}

const fieldOf = (pointer: string, ...members: readonly string[]): string =>
  [...pointerParts(pointer), ...members]
    .filter((part) => part !== '')
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === '' ? part : `${path}.${part}`), '')

/**
 * Finds what a kind's schema refuses. In a write of the status that is checked alone, and sentences about its fields begin
 * below it: apiextensions-apiserver pkg/registry/customresource/status_strategy.go.
 */
export function schemaErrors(kind: KubeKind, value: JsonMembers, subresource?: 'status'): FieldError[] {
  const errors = errorsOf(kind, value).flatMap((error) => fieldErrorsIn(error, value))
  if (subresource === undefined) return errors
  return errors
    .filter(({ field }) => field.startsWith('status.'))
    .map((error) => ({ ...error, ...defined({ detail: error.detail?.replace(/^status\.(?=\S+ in body )/, '') }) }))
}

/** The words of kube-openapi's pkg/validation/errors/schema.go, as apiextensions' validation.go makes field errors of them. */
function fieldErrorsIn(
  { keyword, instancePath, params, message = '' }: ErrorObject,
  object: JsonMembers,
): FieldError[] {
  const field = fieldOf(instancePath)
  const value = pointerValueAt(object, instancePath)
  const limit = String(params['limit'])
  const invalid = (problem: string): FieldError[] => [
    { field, reason: 'FieldValueInvalid', value, detail: `${field} in body ${problem}` },
  ]
  switch (keyword) {
    case 'required':
      return [{ field: fieldOf(instancePath, String(params['missingProperty'])), reason: 'FieldValueRequired' }]
    case 'type': {
      const is = typeName(value)
      const detail = `${field} in body must be of type ${[params['type']].flat().join(',')}: "${is}"`
      return [{ field, reason: 'FieldValueTypeInvalid', value: is, detail }]
    }
    case 'enum': {
      const allowed = (params['allowedValues'] as unknown[]).map((each) => JSON.stringify(each)).join(', ')
      return [{ field, reason: 'FieldValueNotSupported', value, detail: `supported values: ${allowed}` }]
    }
    case 'pattern':
      return invalid(`should match '${String(params['pattern'])}'`)
    case 'minimum':
      return invalid(`should be greater than or equal to ${limit}`)
    case 'maximum':
      return invalid(`should be less than or equal to ${limit}`)
    case 'minLength':
      return invalid(`should be at least ${limit} chars long`)
    case 'maxLength':
      return [{ field, reason: 'FieldValueTooLong', detail: `may not be more than ${limit} bytes` }]
    case 'minItems':
      return invalid(`should have at least ${limit} items`)
    case 'maxItems':
      return [
        {
          field,
          reason: 'FieldValueTooMany',
          value: (value as unknown[]).length,
          detail: `must have at most ${limit} items`,
        },
      ]
    case 'format':
      return invalid(`must be of type ${String(params['format'])}: ${JSON.stringify(value)}`)
    default:
      return invalid(message)
  }
}

/** Type of a value as Go's OpenAPI validators name it. */
function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

/** Fields of an object that its kind does not have, as paths. */
export const unknownFields = (kind: KubeKind, object: JsonMembers): readonly string[] =>
  pruneObject(kind, object).unknown.map(fieldPathText)

function pointerValueAt(value: unknown, pointer: string): unknown {
  return pointerParts(pointer).reduce<unknown>((each, part) => (each as Record<string, unknown>)[part], value)
}
