/** A JSON schema (draft 7) as plain data; ajv compiles it where it is used, OpenAPI can be printed from it. */
export type JsonSchema = { readonly [keyword: string]: unknown }

declare const accepted: unique symbol
/** A schema that carries the type of the documents that it accepts; only the compiler sees it. */
export type SchemaOf<Document> = JsonSchema & { readonly [accepted]?: Document }

export const nullable = (type: string, more: JsonSchema = {}): JsonSchema => ({ type: [type, 'null'], ...more })
export const nullableText = nullable('string')
export const nullableObject = nullable('object')

/** Ironic takes `"yes"` for true and refuses unknown words by name (ironic 39.0.0 common/args.py boolean). */
export const booleanOrWord: JsonSchema = { type: ['string', 'boolean', 'null'] }
