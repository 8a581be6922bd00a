import { DURATION_PATTERN, defined } from '../../base/runtime/index.js'
import type { TypedSchema, TypeOf } from './control-operation.js'

export const textSchema = (description: string): TypedSchema<string> => ({ type: 'string', minLength: 1, description })
export const countSchema = (description: string, minimum = 0): TypedSchema => ({
  type: 'integer',
  minimum,
  description,
})

export const closedObjectSchema = (
  properties: Readonly<Record<string, TypedSchema>>,
  required: readonly string[] = [],
): TypedSchema => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...defined({ required: required.length > 0 ? required : undefined }),
})

export const openObjectSchema = <Properties extends Readonly<Record<string, TypedSchema>>>(
  properties: Properties,
): TypedSchema<{ [Name in keyof Properties]: TypeOf<Properties[Name]> }> => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})

export const arraySchema = <Type>(items: TypedSchema<Type>): TypedSchema<Type[]> => ({ type: 'array', items })

export const DURATION: TypedSchema = {
  type: ['string', 'number'],
  pattern: DURATION_PATTERN,
  minimum: 0,
  description: 'a length of lab time: 31m, 90s, 1h30m, or a number of milliseconds',
}
