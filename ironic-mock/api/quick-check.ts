import { isObject } from '../../base/runtime/index.js'
import type { JsonSchema } from '../../base/wire/index.js'
import { isMac, isUuid } from './formats.js'

/** Whether a value is valid. */
type ValueCheck = (value: unknown) => boolean

const checks = new WeakMap<JsonSchema, ValueCheck>()

/**
 * Whether a value is certainly valid by a schema. Almost all documents are, and this tells it without ajv, whose code for
 * one schema takes milliseconds to compile and, once V8 optimizes it, several MiB. False leaves it to ajv to find out, and
 * to say why.
 */
export function isValidWithoutAjv(schema: JsonSchema, value: unknown): boolean {
  let check = checks.get(schema)
  if (!check) checks.set(schema, (check = knownCheckOf(schema)))
  return check(value)
}

/** False for all values where the schema has a keyword that is not known here. */
function knownCheckOf(schema: JsonSchema): ValueCheck {
  try {
    return checkOf(schema)
  } catch (error) {
    if (error instanceof UnknownKeyword) return () => false
    throw error
  }
}

class UnknownKeyword extends Error {
  override name = 'UnknownKeyword'
}

/** Checks by keyword. */
const KEYWORD_CHECKS: Readonly<Record<string, (argument: never, schema: JsonSchema) => ValueCheck>> = {
  type: (types: string | readonly string[]) => {
    const all = [types].flat()
    return (value) => all.some((type) => isOf(type, value))
  },
  enum: (values: readonly unknown[]) => {
    if (values.some((value) => typeof value !== 'string')) throw new UnknownKeyword('enum of other values')
    const known = new Set(values)
    return (value) => known.has(value)
  },
  pattern: (pattern: string) => {
    const regex = new RegExp(pattern, 'u')
    return (value) => typeof value !== 'string' || regex.test(value)
  },
  // Characters are counted, not units of UTF-16.
  maxLength: (most: number) => (value) =>
    typeof value !== 'string' || value.length <= most || [...value].length <= most,
  minLength: (least: number) => (value) => typeof value !== 'string' || [...value].length >= least,
  format: (format: string) => {
    const check = { uuid: isUuid, 'mac-address': isMac }[format]
    if (!check) throw new UnknownKeyword(`format ${format}`)
    return (value) => typeof value !== 'string' || check(value)
  },
  minimum: (least: number) => (value) => typeof value !== 'number' || value >= least,
  maximum: (most: number) => (value) => typeof value !== 'number' || value <= most,
  exclusiveMinimum: (below: number) => (value) => typeof value !== 'number' || value > below,
  items: (items: JsonSchema) => {
    const check = checkOf(items)
    return (value) => !Array.isArray(value) || value.every(check)
  },
  minItems: (least: number) => (value) => !Array.isArray(value) || value.length >= least,
  maxItems: (most: number) => (value) => !Array.isArray(value) || value.length <= most,
  required: (names: readonly string[]) => (value) =>
    !isObject(value) || names.every((name) => value[name] !== undefined),
  properties: (properties: Readonly<Record<string, JsonSchema>>) => {
    const each = Object.entries(properties).map(([name, schema]) => [name, checkOf(schema)] as const)
    return (value) => !isObject(value) || each.every(([name, check]) => value[name] === undefined || check(value[name]))
  },
  additionalProperties: (allowed: unknown, { properties = {} }) => {
    if (allowed !== false) throw new UnknownKeyword('additionalProperties with a schema')
    const names = new Set(Object.keys(properties as object))
    return (value) => !isObject(value) || Object.keys(value).every((name) => names.has(name))
  },
  anyOf: (choices: readonly JsonSchema[]) => {
    const each = choices.map(checkOf)
    return (value) => each.some((check) => check(value))
  },
  oneOf: (choices: readonly JsonSchema[]) => {
    const each = choices.map(checkOf)
    return (value) => each.filter((check) => check(value)).length === 1
  },
}

function checkOf(schema: JsonSchema): ValueCheck {
  const each = Object.entries(schema).map(([keyword, argument]) => {
    const made = KEYWORD_CHECKS[keyword]
    if (!made) throw new UnknownKeyword(keyword)
    return made(argument as never, schema)
  })
  return (value) => each.every((check) => check(value))
}

function isOf(type: string, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    case 'integer':
      return Number.isInteger(value)
    case 'number':
      return Number.isFinite(value)
    default:
      return typeof value === type
  }
}
