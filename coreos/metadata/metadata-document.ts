import type { ErrorObject, SchemaObject } from 'ajv'
import { checkNesting, pointerParts, UserError } from '../../base/runtime/index.js'
import { SchemaCompiler } from '../../base/schemas/index.js'
import { ERRORS } from '../errors.js'

/** A kind of JSON document with its schema. */
export interface DocumentKind<T> {
  /** Name for messages, such as `stream metadata`. */
  readonly what: string
  /** Problems of a value, a sentence each; empty for a T. */
  problems(value: unknown): string[]
  /**
   * @param name name of the file or URL, for messages
   * @throws UserError `metadata-json` for invalid JSON, `metadata-schema` for another document
   */
  read(text: string | Uint8Array, name: string): T
  /** @throws UserError `metadata-schema` */
  check(value: unknown, name: string): T
}

const metadataSchemas = new SchemaCompiler({ formats: { url: isUrl } })

export function documentKind<T>(what: string, schema: SchemaObject): DocumentKind<T> {
  const shape = metadataSchemas.check<T>(schema)
  const problems = (value: unknown): string[] => (shape.accepts(value) ? [] : shape.errors().map(problemText))
  const check = (value: unknown, name: string): T => {
    const [first, ...others] = problems(value)
    if (first === undefined) return value as T
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`
    throw new UserError('metadata-schema', `${name} is not valid ${what}: ${first}${more}`, {
      remedy: 'see all that is wrong with: ironstage stream validate',
    })
  }
  return { what, problems, check, read: (text, name) => check(parseMetadataJson(text, name), name) }
}

/** @throws UserError `metadata-json` */
export function parseMetadataJson(text: string | Uint8Array, name: string): unknown {
  try {
    const value: unknown = JSON.parse(
      typeof text === 'string' ? text : new TextDecoder('utf-8', { fatal: true }).decode(text),
    )
    checkNesting(value, name)
    return value
  } catch (cause) {
    if (cause instanceof UserError) throw cause
    throw new UserError('metadata-json', `${name} is not JSON`, { cause, remedy: ERRORS['metadata-json'].remedy })
  }
}

/** JSON in the form of published metadata: indented by two, with a line end. */
export const documentText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

function isUrl(text: string): boolean {
  try {
    const { protocol, pathname } = new URL(text)
    decodeURIComponent(pathname)
    return protocol === 'http:' || protocol === 'https:'
  } catch {
    return false
  }
}

function problemText({ instancePath, keyword, params, message = '' }: ErrorObject): string {
  const place = pointerParts(instancePath).join('.')
  const where = place === '' ? 'it' : place
  if (keyword === 'required') return `${where} has no ${(params as { missingProperty: string }).missingProperty}`
  return `${where} ${message}`
}

/** Schema of an object with at least the properties in `required`. Others are allowed, since documents grow. */
export const metadataObjectSchema = (
  properties: Readonly<Record<string, SchemaObject>>,
  required: readonly string[] = Object.keys(properties),
): SchemaObject => ({ type: 'object', properties, required })

export const metadataMapSchema = (schema: SchemaObject): SchemaObject => ({
  type: 'object',
  additionalProperties: schema,
})
export const metadataListSchema = (schema: SchemaObject): SchemaObject => ({ type: 'array', items: schema })
/** Schema of an http or https URL with a decodable path. */
export const URL_TEXT: SchemaObject = { type: 'string', format: 'url' }
export const METADATA_TEXT_SCHEMA: SchemaObject = { type: 'string', minLength: 1 }
export const SHA256: SchemaObject = { type: 'string', pattern: '^[0-9a-f]{64}$' }
/** RFC 3339. */
export const TIME_SCHEMA: SchemaObject = {
  type: 'string',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?(Z|[+-]\\d{2}:\\d{2})$',
}
