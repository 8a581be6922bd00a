import { Ajv, type ErrorObject, type SchemaObject, type ValidateFunction } from 'ajv'

export interface SchemaCheck<T> {
  accepts(value: unknown): value is T
  /** Errors of the latest value. */
  errors(): readonly ErrorObject[]
}

// Our own schemas need no check: validating one against JSON Schema takes ten times as long as compiling it.
const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, meta: false, validateSchema: false })

/**
 * A JSON Schema that is compiled on first use: compiling all of them at once would more than double the start-up time.
 */
export function schemaCheck<T>(schema: SchemaObject): SchemaCheck<T> {
  let compiled: ValidateFunction<T> | undefined
  const check = () => (compiled ??= ajv.compile<T>(schema))
  return {
    accepts: (value): value is T => check()(value),
    errors: () => check().errors ?? [],
  }
}
