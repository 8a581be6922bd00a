import { Ajv, type ErrorObject, type SchemaObject, type ValidateFunction } from 'ajv'

export interface SchemaCheck<T> {
  accepts(value: unknown): value is T
  /** Why the latest value was not accepted. */
  errors(): readonly ErrorObject[]
}

/**
 * A JSON Schema that is compiled when it is first needed: compiling all of them when the program starts would take
 * longer than the rest of its start.
 */
export function schemaCheck<T>(schema: SchemaObject): SchemaCheck<T> {
  let compiled: ValidateFunction<T> | undefined
  const check = () => (compiled ??= new Ajv({ allErrors: true, allowUnionTypes: true }).compile<T>(schema))
  return {
    accepts: (value): value is T => check()(value),
    errors: () => check().errors ?? [],
  }
}
