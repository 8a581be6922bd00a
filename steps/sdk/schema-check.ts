import { Ajv, type ErrorObject, type SchemaObject, type ValidateFunction } from 'ajv'

export interface SchemaCheck<T> {
  accepts(value: unknown): value is T
  /** Why the latest value was not accepted. */
  errors(): readonly ErrorObject[]
}

// The schemas are ours: holding each against JSON Schema's own takes ten times as long as compiling it.
const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, meta: false, validateSchema: false })

/**
 * A JSON Schema that is compiled when it is first needed: compiling all of them when the program starts would take
 * longer than the rest of its start.
 */
export function schemaCheck<T>(schema: SchemaObject): SchemaCheck<T> {
  let compiled: ValidateFunction<T> | undefined
  const check = () => (compiled ??= ajv.compile<T>(schema))
  return {
    accepts: (value): value is T => check()(value),
    errors: () => check().errors ?? [],
  }
}
