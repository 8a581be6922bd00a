import { GIB } from '../../runtime/index.js'
import type { JsonObject } from '../ironic/node.js'
import { pythonInt } from '../python/python-int.js'
import { HintError, pythonBool, pythonQuote, pythonStr } from './python-values.js'
import { readSpecification, satisfies } from './specification.js'

/** In the order in which Ironic names them. The agent knows `tran` besides. */
const HINTS: Readonly<Record<string, 'number' | 'text' | 'flag'>> = {
  size: 'number',
  model: 'text',
  wwn: 'text',
  serial: 'text',
  vendor: 'text',
  wwn_with_extension: 'text',
  wwn_vendor_extension: 'text',
  name: 'text',
  rotational: 'flag',
  hctl: 'text',
  by_path: 'text',
}
const AGENT_HINTS = { ...HINTS, tran: 'text' } as const satisfies typeof HINTS

/** Hints as they are compared: each with an operator, text percent-encoded and in lower case. */
export type ParsedHints = ReadonlyMap<string, string | boolean>

/** A disk by the names of the agent's inventory; `size` in bytes, `serial` and WWNs also as lists. */
export type HintedDevice = Readonly<JsonObject>

/**
 * Validates root device hints and makes them comparable (ironic 39.0.0 common/utils.py parse_root_device_hints).
 *
 * @param known whose hints they are: the agent has one more
 * @throws HintError in Ironic's words
 */
export function parseRootDeviceHints(hints: Readonly<JsonObject>, known: 'ironic' | 'agent' = 'ironic'): ParsedHints {
  const types: Readonly<Record<string, 'number' | 'text' | 'flag'>> = known === 'ironic' ? HINTS : AGENT_HINTS
  const invalid = Object.keys(hints).filter((name) => !Object.hasOwn(types, name))
  if (invalid.length > 0)
    throw new HintError(
      'ValueError',
      `The hints "${invalid.join(', ')}" are invalid. Valid hints are: "${Object.keys(types).join(', ')}"`,
    )
  return new Map(Object.entries(hints).map(([name, value]) => [name, parseHintValue(name, value, types[name]!)]))
}

function parseHintValue(name: string, value: unknown, type: 'number' | 'text' | 'flag'): string | boolean {
  const read = expressionOf(value, name)
  const refused = (why: string) => new HintError('ValueError', `Root device hint "${name}" ${why}: ${pythonStr(value)}`)
  switch (type) {
    case 'text':
      if (typeof value !== 'string') throw refused('is not a string value. Hint expression')
      return withOperator(formatExpression(read), 's==')
    case 'number':
      for (const each of read.operator === '<range-in>' ? [] : read.values) {
        const number = pythonInt(each)
        if (number === undefined) throw refused('is not an integer value. Current value')
        if (number <= 0) throw refused('should be a positive integer. Current value')
      }
      return withOperator(pythonStr(value), '==')
    case 'flag': {
      const flag = pythonBool(value)
      if (flag === undefined) throw refused('is not a Boolean value. Current value')
      return flag
    }
  }
}

interface Expression {
  /** Empty without one. */
  readonly operator: string
  readonly values: readonly string[]
}

/** The operator of an expression, and what stands between its occurrences, in lower case. */
function expressionOf(value: unknown, name: string): Expression {
  const text = pythonStr(value).trim().toLowerCase()
  if (text === '') throw new HintError('ValueError', `Root device hint "${name}" expression is empty`)
  const { operator } = readSpecification(text)
  if (operator === undefined) return { operator: '', values: [text] }
  const parts = text.split(operator).filter((part) => part !== '')
  return { operator, values: parts.map((part) => part.trim()) }
}

/** Percent-encoded, so that what has blanks is one word. */
const formatExpression = ({ operator, values }: Expression): string =>
  (operator + values.map((value) => ` ${pythonQuote(value)} `).join(operator)).trim()

const withOperator = (expression: string, bare: 's==' | '=='): string =>
  readSpecification(expression).operator === undefined ? `${bare} ${expression}` : expression

/**
 * True if a device satisfies all hints (ironic 39.0.0 common/utils.py find_devices_by_hints). A size in bytes is compared
 * as GiB without rounding; an attribute that is missing reads as the text `none`.
 *
 * @throws HintError when a hint cannot be compared with the device's attribute
 */
export function satisfiesHints(device: HintedDevice, hints: ParsedHints): boolean {
  for (const [name, wanted] of hints) if (!satisfiesHint(name, device[name] as unknown, wanted)) return false
  return true
}

function satisfiesHint(name: string, value: unknown, wanted: string | boolean): boolean {
  if (typeof wanted === 'boolean') return pythonBool(value) === wanted
  if (name === 'size') {
    if (typeof value !== 'number')
      throw new HintError('TypeError', `the size of a device is not a number of bytes: ${pythonStr(value)}`)
    const gib = value / GIB
    // A range is read as Python source, everything else as a number.
    return satisfies(wanted.startsWith('<range-in>') ? String(gib) : gib, wanted)
  }
  if (Array.isArray(value))
    return (value as unknown[]).some((each) => each !== null && eachSatisfies(name, each, wanted))
  const text = attributeText(name, value)
  return text !== undefined && satisfies(text, wanted)
}

/** One of several serials or WWNs is enough; one that cannot be compared is skipped. */
function eachSatisfies(name: string, value: unknown, wanted: string): boolean {
  try {
    return satisfies(formatExpression(expressionOf(value, name)), wanted)
  } catch (error) {
    if (error instanceof HintError && error.kind === 'ValueError') return false
    throw error
  }
}

function attributeText(name: string, value: unknown): string | undefined {
  try {
    return formatExpression(expressionOf(value, name))
  } catch (error) {
    if (error instanceof HintError && error.kind === 'ValueError') return undefined
    throw error
  }
}
