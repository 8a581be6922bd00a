import type { SchemaObject } from 'ajv'
import { isObject } from '../../base/runtime/index.js'
import type { SpecConfig } from './config-types.js'
import { ignitionSpecOf, type FieldType, type Struct } from './spec.js'
import type { SpecVersion } from './spec-versions.js'

/**
 * JSON Schema (draft 7) of a version of the spec: the types that Ignition's parser accepts. Nothing is required and
 * unknown keys pass, since Ignition only warns about them; its further rules are beyond a schema.
 *
 * @example
 * import { ignitionSchema } from 'ironstage/ignition'
 *
 * const schema = ignitionSchema('3.4.0')
 */
export function ignitionSchema(version: SpecVersion): SchemaObject {
  const { structs, root } = ignitionSpecOf(version)
  const definitions: Record<string, SchemaObject> = {}
  for (const { name, fields } of structs.values())
    definitions[name] = {
      type: 'object',
      properties: Object.fromEntries(fields.map(({ key, type }) => [key, schemaOf(type)])),
    }
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: `Ignition config ${version}`,
    $ref: `#/definitions/${root.name}`,
    definitions,
  }
}

function schemaOf(type: FieldType): SchemaObject {
  switch (type.kind) {
    case 'text':
      return { type: 'string' }
    case 'number':
      return { type: 'integer' }
    case 'flag':
      return { type: 'boolean' }
    case 'list':
      return { type: 'array', items: schemaOf(type.items) }
    case 'struct':
      return { $ref: `#/definitions/${type.struct.name}` }
  }
}

/**
 * Whether a decoded config has the types of its version. The same as {@link ignitionSchema} says, without a compiler of
 * schemas: compiling one takes as long as a tenth of a whole deployment.
 */
export const hasTypes = (version: SpecVersion, value: unknown): value is SpecConfig =>
  isObject(value) && fieldsFit(ignitionSpecOf(version).root, value)

function fitsFieldType(type: FieldType, value: unknown): boolean {
  switch (type.kind) {
    case 'text':
      return typeof value === 'string'
    case 'number':
      return Number.isInteger(value)
    case 'flag':
      return typeof value === 'boolean'
    case 'list':
      return Array.isArray(value) && value.every((item) => fitsFieldType(type.items, item))
    case 'struct':
      return isObject(value) && fieldsFit(type.struct, value)
  }
}

const fieldsFit = ({ fields }: Struct, value: Readonly<Record<string, unknown>>): boolean =>
  fields.every(({ key, type }) => value[key] === undefined || fitsFieldType(type, value[key]))
