import type { ErrorObject } from 'ajv'
import { SchemaCompiler } from '../../base/schemas/index.js'
import { pointerParts } from '../../base/runtime/index.js'
import { ironicErrors, pythonRepr, formatClientValue, type JsonSchema } from '../../base/wire/index.js'
import { isMac, isUuid } from './formats.js'
import { isValidWithoutAjv } from './quick-check.js'

/** Violation of a schema in python-jsonschema's words: clients and bug reports quote these sentences. */
export interface PythonSchemaProblem {
  readonly message: string
  /** The message without the guess at the cause. */
  readonly plain: string
  /** Keys and indexes from the document's root. */
  readonly path: readonly string[]
  readonly value: unknown
}

/** Used for documents that are not surely valid; most schemas check a few of them. */
const apiSchemas = new SchemaCompiler({ optimizes: false, formats: { uuid: isUuid, 'mac-address': isMac } })

/** Most relevant violation; undefined when the value is valid. */
export function schemaProblem(schema: JsonSchema, value: unknown): PythonSchemaProblem | undefined {
  if (isValidWithoutAjv(schema, value)) return undefined
  const check = apiSchemas.check(schema)
  return check.accepts(value) ? undefined : mostRelevant(check.errors())
}

/** @throws IronicError 400 `Schema error for LABEL: ...`, or `Schema error: ...` without a label */
export function checkDocument(schema: JsonSchema, label: string | undefined, value: unknown): void {
  const problem = label === undefined ? firstProblem(schema, value) : schemaProblem(schema, value)
  if (problem) throw ironicErrors.schema(label, problem.message)
}

/** First violation in the schema's own order, which upstream reports for documents without a label. */
function firstProblem(schema: JsonSchema, value: unknown): PythonSchemaProblem | undefined {
  if (isValidWithoutAjv(schema, value)) return undefined
  const check = apiSchemas.check(schema)
  if (check.accepts(value)) return undefined
  const errors = check.errors()
  const [first] = tree(errors).sort((a, b) => inSchemaOrder(schema, a.error, b.error))
  if (!first) throw new Error('ajv reported a failed alternative without the alternative')
  return makeSchemaProblem(first, errors)
}

function inSchemaOrder(schema: JsonSchema, a: ErrorObject, b: ErrorObject): number {
  const [keys, others] = [a, b].map(({ schemaPath }) => schemaPath.split('/').slice(1)) as [string[], string[]]
  const items = [a, b].map((error) =>
    keysOf(error)
      .filter((key) => /^\d+$/.test(key))
      .map(Number),
  ) as [number[], number[]]
  let node: unknown = schema
  for (const [index, key] of keys.entries()) {
    const other = others[index]
    if (key !== other) {
      const order = Object.keys((node ?? {}) as object)
      return order.indexOf(key) - order.indexOf(other ?? '')
    }
    node = (node as JsonSchema | undefined)?.[key]
    if (key !== 'items') continue
    const item = items[0].shift() ?? 0
    const otherItem = items[1].shift() ?? 0
    if (item !== otherItem) return item - otherItem
  }
  return 0
}

/** A violation; for a failed choice of alternatives with the violations within each of them. */
interface SchemaViolation {
  readonly error: ErrorObject
  readonly within: SchemaViolation[]
}

/**
 * Picks a violation as python-jsonschema does: the shallowest one. For a failed choice of alternatives it is the
 * deepest violation inside, unless several are equally deep: then the choice itself, with the likeliest cause.
 */
function mostRelevant(errors: readonly ErrorObject[]): PythonSchemaProblem {
  let best = likeliest(tree(errors))
  if (!best) throw new Error('ajv reported a failed alternative without the alternative')
  while (best.within.length > 0) {
    const [deepest, next] = [...best.within].sort((a, b) => relevance(a, b))
    if (next && relevance(deepest!, next) === 0) break
    best = deepest!
  }
  return makeSchemaProblem(best, errors)
}

function makeSchemaProblem(best: SchemaViolation, errors: readonly ErrorObject[]): PythonSchemaProblem {
  const plain = describeViolation(best.error, errors)
  let cause: SchemaViolation | undefined = best
  while (cause && cause.within.length > 0) cause = likeliest(cause.within)
  const guess = cause && cause !== best ? `. Possible root cause: ${describeViolation(cause.error, errors)}` : ''
  return { message: `${plain}${guess}`, plain, path: keysOf(best.error), value: best.error.data }
}

function tree(errors: readonly ErrorObject[]): SchemaViolation[] {
  const all = errors.map((error): SchemaViolation => ({ error, within: [] }))
  const roots: SchemaViolation[] = []
  for (const each of all) {
    const around = all.filter(
      ({ error }) =>
        (error.keyword === 'anyOf' || error.keyword === 'oneOf') &&
        each.error.schemaPath.startsWith(`${error.schemaPath}/`) &&
        inside(each.error, error),
    )
    const nearest = around.sort((a, b) => b.error.schemaPath.length - a.error.schemaPath.length)[0]
    ;(nearest?.within ?? roots).push(each)
  }
  return roots
}

/** Whether an error is inside a choice for the same item: ajv reports the violations of all items of a list. */
const inside = (error: ErrorObject, choice: ErrorObject): boolean =>
  error.instancePath === choice.instancePath || error.instancePath.startsWith(`${choice.instancePath}/`)

/** First of the most relevant violations; within one schema, in the order of its keywords. */
const likeliest = (violations: readonly SchemaViolation[]): SchemaViolation | undefined =>
  violations.reduce<SchemaViolation | undefined>((best, each) => {
    if (!best) return each
    const more = relevance(each, best)
    return more > 0 || (more === 0 && comesFirst(each.error, best.error)) ? each : best
  }, undefined)

function comesFirst(a: ErrorObject, b: ErrorObject): boolean {
  if (a.parentSchema !== b.parentSchema) return false
  const keywords = Object.keys(a.parentSchema ?? {})
  return keywords.indexOf(a.keyword) < keywords.indexOf(b.keyword)
}

const keysOf = ({ instancePath }: ErrorObject): string[] => pointerParts(instancePath)

/** Compares by relevance. In this order: shallower, later among siblings, not a choice, a value of the wrong type. */
function relevance(a: SchemaViolation, b: SchemaViolation): number {
  const keys = keysOf(a.error)
  const others = keysOf(b.error)
  if (keys.length !== others.length) return others.length - keys.length
  for (const [index, key] of keys.entries()) {
    const other = others[index]!
    if (key === other) continue
    const numbers = /^\d+$/.test(key) && /^\d+$/.test(other)
    return (numbers ? Number(key) > Number(other) : key > other) ? 1 : -1
  }
  return (
    Number(a.error.keyword !== 'anyOf') - Number(b.error.keyword !== 'anyOf') ||
    Number(!hasItsType(a.error)) - Number(!hasItsType(b.error))
  )
}

/** Whether the value is at least of a type that the violated schema names. */
function hasItsType({ data, parentSchema }: ErrorObject): boolean {
  const value: unknown = data
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  const integer = Number.isInteger(value)
  const expected = [(parentSchema as { type?: unknown } | undefined)?.type ?? []].flat()
  return expected.includes(type) || (integer && expected.includes('integer'))
}

function describeViolation(error: ErrorObject, all: readonly ErrorObject[]): string {
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
    case 'oneOf':
      if (params.passingSchemas) return validUnderSeveral(value, error.schema, params.passingSchemas as number[])
      return `${value} is not valid under any of the given schemas`
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
      return `${value} is less than the minimum of ${formatClientValue(params.limit)}`
    case 'format':
      return `${value} is not a ${pythonRepr(params.format)}`
    case 'not':
      return `${value} should not be valid under ${pythonRepr(error.schema)}`
    case 'exclusiveMinimum':
      return `${value} is less than or equal to the minimum of ${formatClientValue(params.limit)}`
    case 'dependencies':
      return `${pythonRepr(params.missingProperty)} is a dependency of ${pythonRepr(params.property)}`
    default:
      return `${value} ${error.message ?? 'is not valid'}`
  }
}

/** Lists later alternatives first, as python-jsonschema does. */
function validUnderSeveral(value: string, schemas: unknown, passing: readonly number[]): string {
  const all = passing.map((index) => pythonRepr((schemas as unknown[])[index]))
  return `${value} is valid under each of ${[...all.slice(1), all[0]].join(', ')}`
}
