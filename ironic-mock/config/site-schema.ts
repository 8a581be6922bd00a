import { isObject } from '../../base/runtime/index.js'
import type { JsonSchema } from '../../base/wire/index.js'

/** Keywords of draft 7 whose value is a schema, or a list of them. */
const SCHEMA_KEYWORDS = [
  'additionalItems',
  'additionalProperties',
  'allOf',
  'anyOf',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'oneOf',
  'propertyNames',
  'then',
]
/** Keywords whose value has a schema by each name. */
const MAP_KEYWORDS = ['definitions', 'dependencies', 'patternProperties', 'properties']
const VALUE_KEYWORDS = [
  '$ref',
  'const',
  'enum',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'maxItems',
  'maxLength',
  'maxProperties',
  'maximum',
  'minItems',
  'minLength',
  'minProperties',
  'minimum',
  'multipleOf',
  'required',
  'type',
  'uniqueItems',
]

/**
 * A site's own JSON Schema with what python-jsonschema, which Ironic checks with, would heed of it: names, annotations and
 * formats are left out, and a pattern that ignores capitals says so in another way.
 */
export function readSiteSchema(schema: unknown): JsonSchema | boolean {
  if (typeof schema === 'boolean' || !isObject(schema)) return schema === undefined ? true : Boolean(schema)
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
      if (VALUE_KEYWORDS.includes(keyword)) return [[keyword, value]]
      if (keyword === 'pattern') return [[keyword, ignoringCase(String(value))]]
      if (SCHEMA_KEYWORDS.includes(keyword))
        return [[keyword, Array.isArray(value) ? value.map(readSiteSchema) : readSiteSchema(value)]]
      if (!MAP_KEYWORDS.includes(keyword) || !isObject(value)) return []
      return [[keyword, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, readNamed(one)]))]]
    }),
  ) as JsonSchema
}

/** A dependency may be a list of names. */
const readNamed = (value: unknown): unknown => (Array.isArray(value) ? value : readSiteSchema(value))

/** Python's `(?i)` in front of a pattern: both forms of each letter. */
function ignoringCase(pattern: string): string {
  const body = /^\(\?i\)(.*)$/s.exec(pattern)?.[1]
  if (body === undefined) return pattern
  let inClass = false
  return body.replace(/\\.|[a-z]-[a-z]|[[\]a-z]/gi, (part) => {
    if (part === '[') inClass = true
    else if (part === ']') inClass = false
    else if (!part.startsWith('\\')) {
      const both = part.toLowerCase() + part.toUpperCase()
      return inClass ? both : part.length === 1 ? `[${both}]` : [...part].map((one) => bothCases(one)).join('')
    }
    return part
  })
}

const bothCases = (character: string): string =>
  /[a-z]/i.test(character) ? `[${character.toLowerCase()}${character.toUpperCase()}]` : character
