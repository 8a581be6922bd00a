import { Ajv, type SchemaObject, type ValidateFunction } from 'ajv'
import type { SpecConfig } from './config-types.js'
import { specOf, type FieldType } from './spec.js'
import type { SpecVersion } from './versions.js'

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

/** Whether a decoded config has the types of its version. Each version's schema is compiled on first use. */
export function hasTypes(version: SpecVersion, value: unknown): value is SpecConfig {
  let check = compiled.get(version)
  if (!check) {
    // The schema is our own, and checking it against the meta schema would take most of the time.
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
