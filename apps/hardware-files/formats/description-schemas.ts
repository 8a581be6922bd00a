import type { SchemaObject } from 'ajv'
import { SchemaCompiler, type SchemaCheck } from '../../../base/schemas/index.js'

/** Schemas of members that a description may leave out or have null, as programs in Python and Go write them. */
export const textSchema = { type: ['string', 'null'] }
export const countSchema = { type: ['number', 'null'] }
export const flagSchema = { type: ['boolean', 'null'] }
export const listSchema = (items: SchemaObject): SchemaObject => ({ type: ['array', 'null'], items })
export const objectSchema = (properties: SchemaObject): SchemaObject => ({ type: ['object', 'null'], properties })
/** An object whose members all have the same schema. */
export const openSchema = (members: SchemaObject): SchemaObject => ({
  type: ['object', 'null'],
  additionalProperties: members,
})

// A file of a hundred megabytes may be wrong everywhere: its first error is enough.
const compiler = new SchemaCompiler({ stopsAtFirst: true })

/** The check of a description, which ends at its first error. */
export const descriptionCheck = <T>(schema: SchemaObject): SchemaCheck<T> => compiler.check<T>(schema)

/** Undefined for an empty text too. */
export const withoutEmpty = (text: string | null | undefined): string | undefined =>
  text === null || text === '' ? undefined : text
