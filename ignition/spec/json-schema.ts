import { Ajv, type SchemaObject, type ValidateFunction } from 'ajv'
import type { SpecConfig } from './config-types.js'
import { specOf, type FieldType } from './spec.js'
import type { SpecVersion } from './versions.js'

/**
 * A version of the spec as JSON Schema (draft 7): what Ignition's parser accepts. Nothing is required and unknown keys
 * pass, since Ignition only warns about them; what else it refuses are rules beyond a schema.
 *
 * @example
 * import { ignitionSchema } from 'ironstage/ignition'
 *
 * const schema = ignitionSchema('3.4.0')
 */
export function ignitionSchema(version: SpecVersion): SchemaObject {
  const { structs, root } = specOf(version)
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

const compiled = new Map<SpecVersion, ValidateFunction<SpecConfig>>()

/** Whether a decoded config has the types that its version wants. Compiled when a version is first met. */
export function hasTypes(version: SpecVersion, value: unknown): value is SpecConfig {
  let check = compiled.get(version)
  if (!check) {
    // The schema is ours: holding it against JSON Schema's own costs more than all else.
    check = new Ajv({ meta: false, validateSchema: false, inlineRefs: false }).compile<SpecConfig>(
      withoutMeta(ignitionSchema(version)),
    )
    compiled.set(version, check)
  }
  return check(value)
}

function withoutMeta({ $schema: _, ...schema }: SchemaObject): SchemaObject {
  return schema
}
