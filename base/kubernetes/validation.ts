import type { ErrorObject } from 'ajv'
import { defined, pointerParts } from '../runtime/index.js'
import { completeValue } from './crds/complete-value.js'
import { duplicateItems } from './crds/duplicate-items.js'
import { fieldPathText, pruneValue } from './crds/prune-value.js'
import type { KindVersion } from './kinds/kind-entry.js'
import type { JsonMembers } from './kube-json.js'
import type { FieldError } from './refusals.js'

/**
 * An object as an API server stores it: without fields that its kind does not have, with the defaults of its kind, and
 * without nulls that stand for a field that is not there.
 */
export function completeObject({ schema }: KindVersion, object: JsonMembers): JsonMembers {
  const pruned = pruneValue(object, schema.pruning).value
  return completeValue(pruned, schema.fields) as JsonMembers
}

const fieldOf = (pointer: string, ...members: readonly string[]): string =>
  [...pointerParts(pointer), ...members]
    .filter((part) => part !== '')
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === '' ? part : `${path}.${part}`), '')

/**
 * Finds what a kind's schema refuses. In a write of the status that is checked alone, and sentences about its fields begin
 * below it: apiextensions-apiserver pkg/registry/customresource/status_strategy.go.
 */
export function schemaErrors({ schema }: KindVersion, value: JsonMembers, subresource?: 'status'): FieldError[] {
  const ofForm = schema.errorsOf(value).flatMap((error) => fieldErrorsIn(error, value))
  const errors = [...ofForm, ...duplicateItems(value, schema.fields)]
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
export const unknownFields = ({ schema }: KindVersion, object: JsonMembers): readonly string[] =>
  pruneValue(object, schema.pruning).unknown.map(fieldPathText)

function pointerValueAt(value: unknown, pointer: string): unknown {
  return pointerParts(pointer).reduce<unknown>((each, part) => (each as Record<string, unknown>)[part], value)
}
