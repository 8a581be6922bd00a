import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { ironicErrors, pythonRepr, type JsonSchema } from '../../wire/index.js'

/** What is wrong, as python-jsonschema puts it: clients and bug reports quote these sentences. */
export interface SchemaProblem {
  readonly message: string
  /** Keys and indexes from the document's root. */
  readonly path: readonly string[]
  readonly value: unknown
}

const ajv = new Ajv({ allErrors: true, verbose: true, strict: false })
const compiled = new WeakMap<JsonSchema, ValidateFunction>()

/** The most relevant violation, or undefined. */
export function schemaProblem(schema: JsonSchema, value: unknown): SchemaProblem | undefined {
  let validate = compiled.get(schema)
  if (!validate) compiled.set(schema, (validate = ajv.compile(schema)))
  if (validate(value)) return undefined
  return mostRelevant(validate.errors ?? [])
}

/** @throws IronicError 400 `Schema error for LABEL: ...` */
export function checkDocument(schema: JsonSchema, label: string, value: unknown): void {
  const problem = schemaProblem(schema, value)
  if (problem) throw ironicErrors.schema(label, problem.message)
}

/** Of several violations python-jsonschema tells the shallowest, and a plain one rather than a failed alternative. */
function mostRelevant(errors: readonly ErrorObject[]): SchemaProblem {
  const alternatives = errors.filter((error) => error.keyword === 'anyOf')
  const inside = (error: ErrorObject) =>
    alternatives.find((outer) => outer !== error && error.schemaPath.startsWith(`${outer.schemaPath}/`))
  const [best] = errors
    .filter((error) => !inside(error))
    .sort((a, b) => depth(a) - depth(b) || Number(a.keyword === 'anyOf') - Number(b.keyword === 'anyOf'))
  if (!best) throw new Error('ajv reported a failed alternative without the alternative')
  let message = sentence(best, errors)
  if (best.keyword === 'anyOf') {
    const last = errors.filter((error) => inside(error) === best).at(-1)
    if (last) message += `. Possible root cause: ${sentence(last, errors)}`
  }
  return { message, path: best.instancePath.split('/').slice(1), value: best.data }
}

const depth = (error: ErrorObject): number => error.instancePath.split('/').length

function sentence(error: ErrorObject, all: readonly ErrorObject[]): string {
  const value = pythonRepr(error.data)
  const params = error.params as Record<string, unknown>
  switch (error.keyword) {
    case 'required':
      return `${pythonRepr(params.missingProperty)} is a required property`
    case 'additionalProperties': {
      const names = all
        .filter((other) => other.keyword === 'additionalProperties' && other.schemaPath === error.schemaPath)
        .filter((other) => other.instancePath === error.instancePath)
        .map((other) => pythonRepr((other.params as Record<string, unknown>).additionalProperty))
      return `Additional properties are not allowed (${names.join(', ')} ${names.length > 1 ? 'were' : 'was'} unexpected)`
    }
    case 'type':
      return `${value} is not of type ${[params.type].flat().map(pythonRepr).join(', ')}`
    case 'enum':
      return `${value} is not one of ${pythonRepr(params.allowedValues)}`
    case 'pattern':
      return `${value} does not match ${pythonRepr(params.pattern)}`
    case 'anyOf':
      return `${value} is not valid under any of the given schemas`
    case 'maxLength':
    case 'maxItems':
      return `${value} is too long`
    case 'minLength':
    case 'minItems':
      return params.limit === 1 ? `${value} should be non-empty` : `${value} is too short`
    case 'maxProperties':
      return params.limit === 0 ? `${value} is expected to be empty` : `${value} has too many properties`
    case 'minimum':
      return `${value} is less than the minimum of ${String(params.limit)}`
    default:
      return `${value} ${error.message ?? 'is not valid'}`
  }
}
