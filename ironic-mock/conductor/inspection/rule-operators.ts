import { ownMember } from '../../../base/runtime/index.js'
import { isIP } from 'node:net'
import {
  pythonRepr,
  formatClientValue,
  type InspectionRuleCondition,
  type JsonObject,
} from '../../../base/wire/index.js'
import { isInNetwork } from './inspection-interfaces.js'
import { formatTemplate, pythonText, type RuleContext } from './rule-format.js'

interface ConditionOperator {
  /** Names of the arguments, in the order of a list; the first `required` are mandatory. */
  readonly args: readonly string[]
  /** Names of the arguments that may have replacement fields. */
  readonly formats: readonly string[]
  check(args: JsonObject): boolean
}

const ordered = (compare: (a: never, b: never) => boolean, name: string): ConditionOperator => ({
  args: ['values', 'force_strings'],
  formats: ['values'],
  check: ({ values, force_strings }) => {
    if (!Array.isArray(values))
      throw new Error(
        `Inspection rule condition check failed. Reason: Failed to check condition: '${name}' on values: ${pythonText(values)}: Expected list for 'values', got: ${pythonTypeOf(values)}`,
      )
    const items: unknown[] = force_strings === true ? values.map(pythonText) : values
    return items
      .slice(1)
      .every((item, at) => compare(comparable(items[at], item, name), comparable(item, items[at], name)))
  },
})

/** Only `eq` compares values of different types. */
function comparable(value: unknown, other: unknown, name: string): never {
  if (name !== 'eq' && pythonTypeOf(value) !== pythonTypeOf(other))
    throw new Error(
      `'${name === 'lt' ? '<' : '>'}' not supported between instances of '${pythonTypeOf(value)}' and '${pythonTypeOf(other)}'`,
    )
  return (name === 'eq' ? pythonRepr(value) : value) as never
}

const pythonTypeOf = (value: unknown): string => {
  if (value === null || value === undefined) return 'NoneType'
  if (Array.isArray(value)) return 'list'
  switch (typeof value) {
    case 'string':
      return 'str'
    case 'boolean':
      return 'bool'
    case 'number':
      return 'int'
    default:
      return 'dict'
  }
}

const valueOperator = (check: (value: unknown) => boolean): ConditionOperator => ({
  args: ['value'],
  formats: ['value'],
  check: ({ value }) => check(value),
})

const truth = (value: unknown, words: readonly string[], otherwise: boolean): boolean | undefined => {
  if (typeof value === 'boolean' || typeof value === 'number') return Boolean(value) !== otherwise
  return typeof value === 'string' ? words.includes(value.toLowerCase()) : undefined
}

const regular = (whole: boolean): ConditionOperator => ({
  args: ['value', 'regex'],
  formats: ['value'],
  check: ({ value, regex }) => expression(formatClientValue(regex), whole).test(pythonText(value)),
})

/** Python's `match` anchors at the start, and upstream adds the end. */
function expression(regex: string, whole: boolean): RegExp {
  try {
    return new RegExp(whole ? `^(?:${regex.replace(/\$$/, '')})$` : regex)
  } catch (error) {
    throw new Error(
      `Inspection rule execution failed. Reason: invalid regular expression: ${(error as Error).message}`,
      {
        cause: error,
      },
    )
  }
}

const OPERATORS: Readonly<Record<string, ConditionOperator>> = {
  eq: ordered((a, b) => a === b, 'eq'),
  lt: ordered((a, b) => a < b, 'lt'),
  gt: ordered((a, b) => a > b, 'gt'),
  'is-empty': valueOperator((value) => ['', 'None', '[]', '{}'].includes(pythonText(value))),
  'in-net': {
    args: ['address', 'subnet'],
    formats: ['address', 'subnet'],
    check: ({ address, subnet }) => {
      if (isIP(formatClientValue(subnet).split('/')[0]!) === 0)
        throw new Error(
          `Inspection rule execution failed. Reason: invalid value: invalid IPNetwork ${formatClientValue(subnet)}`,
        )
      return isInNetwork(formatClientValue(subnet), formatClientValue(address))
    },
  },
  matches: regular(true),
  contains: regular(false),
  'one-of': {
    args: ['value', 'values'],
    formats: ['value'],
    check: ({ value, values }) =>
      Array.isArray(values) && values.some((item) => pythonRepr(item) === pythonRepr(value)),
  },
  'is-none': valueOperator((value) => value === null || value === undefined),
  'is-true': valueOperator((value) => truth(value, ['yes', 'true'], false) ?? false),
  'is-false': valueOperator((value) => truth(value, ['no', 'false'], true) ?? (value === null || value === undefined)),
}

/**
 * True when a condition of an inspection rule holds.
 *
 * @throws Error with upstream's sentence for a condition that cannot be checked
 */
export function isConditionMet(condition: InspectionRuleCondition, context: RuleContext): boolean {
  const { loop, multiple = 'any' } = condition
  if (!loop || (Array.isArray(loop) && loop.length === 0)) return holdsOnce(condition, context)
  if (!Array.isArray(loop)) return holdsOnce(condition, { ...context, item: loop })
  const results = loop.map((item) => holdsOnce(condition, { ...context, item }))
  switch (multiple) {
    case 'all':
      return results.every(Boolean)
    case 'last':
      return results.at(-1) ?? false
    case 'first':
    case 'any':
      return results.some(Boolean)
    default:
      return results[0] ?? false
  }
}

function holdsOnce({ op, args }: InspectionRuleCondition, context: RuleContext): boolean {
  const inverted = op.trim().startsWith('!')
  const name = op.trim().replace(/^!/, '').trim()
  const operator = ownMember(OPERATORS, name)
  if (!operator)
    throw new Error(`Unsupported operator: '${name}'. Supported operators are: ${Object.keys(OPERATORS).join(', ')}.`)
  const values = argumentsOf(args, operator.args, operator.formats, context, name)
  // Upstream compares items of a loop as text.
  if (context.item !== undefined && operator.args.includes('force_strings')) values.force_strings = true
  return operator.check(values) !== inverted
}

/** Arguments by name, with replacement fields filled in; in a loop every argument may have them. */
export function argumentsOf(
  args: JsonObject | unknown[],
  names: readonly string[],
  formats: readonly string[],
  context: RuleContext,
  op: string,
): JsonObject {
  const named: JsonObject = Array.isArray(args)
    ? Object.fromEntries(args.slice(0, names.length).map((value, at) => [names[at], value]))
    : { ...args }
  for (const name of Object.keys(named))
    if (formats.includes(name) || context.item !== undefined) named[name] = formatTemplate(named[name], context, op)
  return named
}
