import { isIP } from 'node:net'
import { normalize } from 'node:path'
import type { ListedOption, OptionType } from './listed-option.js'

/**
 * Words for the values that an option takes; undefined if it takes this one. The rules are those of oslo.config 10.7.0 types.py and
 * ironic 39.0.0 conf/types.py.
 *
 * @param text with its `$names` replaced; the values of an option that may be repeated, a line each
 */
export function expectedValue(option: ListedOption, text: string): string | undefined {
  if (!option.multi) return expectedOf(option, text)
  for (const line of text.split('\n')) {
    const expected = expectedOf(option, line.replace(/,$/, ''))
    if (expected !== undefined) return expected
  }
  return undefined
}

function expectedOf(type: OptionType, text: string): string | undefined {
  switch (type.type) {
    case 'text':
      return expectedText(type, text)
    case 'boolean':
      return /^(true|1|on|yes|false|0|off|no)$/i.test(text) ? undefined : 'true or false'
    case 'integer':
    case 'port':
    case 'float':
      return expectedNumber(type, text.trim())
    case 'list':
      return expectedItems(type, text, LIST)
    case 'dict':
      return expectedItems(type, text, DICTIONARY)
    case 'range':
      return /^(0|-?[1-9]\d*)(-(0|-?[1-9]\d*))?$/.test(text) ? undefined : 'a number, or two with a dash between them'
    case 'ip address':
      return isIP(text) ? undefined : 'an IP address'
    case 'hostname':
    case 'host address':
    case 'host domain':
      return expectedHost(type.type, text)
    case 'uri':
      return expectedUri(type, text)
    case 'absolute path':
      return isPlainPath(text) ? undefined : 'an absolute path without .. and .'
    case 'kernel parameters':
      // Ironic checks their grammar only where [conductor]disable_kernel_parameter_parsing is false.
      return undefined
  }
}

function expectedText({ choices, ignoreCase, maxLength, pattern }: OptionType, text: string): string | undefined {
  if (maxLength !== undefined && text.length > maxLength) return `at most ${maxLength} characters`
  if (pattern !== undefined && !new RegExp(pattern).test(text)) return `a text that matches ${pattern}`
  if (choices === undefined) return undefined
  const plain = (value: unknown) => (ignoreCase ? String(value).toLowerCase() : value)
  const isChoice = choices.some((choice) => plain(choice) === plain(text))
  return isChoice ? undefined : `one of ${choices.filter((choice) => choice !== null).join(', ')}`
}

const MAX_PORT = 65_535
// As Python's int() and float() read them.
const INTEGER = /^[+-]?\d(_?\d)*$/
const FLOAT = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i

function expectedNumber({ type, choices, min, max }: OptionType, text: string): string | undefined {
  // oslo.config takes nothing for "not set".
  if (text === '') return undefined
  const isNumber = type === 'float' ? FLOAT.test(text) : INTEGER.test(text)
  const value = Number(text.replaceAll('_', ''))
  const least = type === 'port' ? (min ?? 0) : min
  const most = type === 'port' ? (max ?? MAX_PORT) : max
  const isWithin = value >= (least ?? -Infinity) && value <= (most ?? Infinity)
  if (choices !== undefined) return isNumber && choices.includes(value) ? undefined : `one of ${choices.join(', ')}`
  if (isNumber && isWithin) return undefined
  const what = type === 'float' ? 'a number' : 'a whole number'
  if (least !== undefined && most !== undefined) return `${what} from ${least} to ${most}`
  if (least !== undefined) return `${what} from ${least}`
  return most === undefined ? what : `${what} up to ${most}`
}

/** How the items of a list or a dictionary are written. */
interface ItemNotation {
  readonly open: string
  readonly close: string
  /** True if nothing may stand behind a last comma. */
  readonly trailingComma: boolean
  /** The part of an item that has a type; undefined if there is none. */
  readonly value: (item: string) => string | undefined
  /** Words for the items. */
  readonly expected: string
}

const LIST: ItemNotation = {
  open: '[',
  close: ']',
  trailingComma: true,
  value: (item) => item,
  expected: 'items, separated by commas',
}

const DICTIONARY: ItemNotation = {
  open: '{',
  close: '}',
  trailingComma: false,
  value: (item) => /^[^:]*[^:\s][^:]*:(.*)$/s.exec(item)?.[1],
  expected: 'pairs like key:value, separated by commas',
}

/** Where an item is not what it should be, the text up to the next comma may still belong to it. */
function expectedItems(
  { item = { type: 'text' }, bounds, minLength = 0 }: OptionType,
  text: string,
  { open, close, trailingComma, value, expected }: ItemNotation,
): string | undefined {
  const whole = text.trim()
  if (bounds && !(whole.startsWith(open) && whole.endsWith(close))) return `${expected}, between ${open} and ${close}`
  const within = bounds ? whole.slice(1, -1) : whole
  const items = trailingComma ? within.replace(/,+$/, '') : within
  const parts = items === '' ? [] : items.split(',')
  if (parts.length < minLength) return `at least ${minLength} ${expected}`
  let begun = ''
  let problem: string | undefined
  for (const part of parts) {
    begun += part
    const typed = value(begun)
    problem = typed === undefined ? expected : expectedOf(item, typed.trim())
    begun = problem === undefined ? '' : `${begun},`
  }
  return problem
}

const HOST_LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/i
const DOMAIN_LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/i

function expectedHost(type: 'hostname' | 'host address' | 'host domain', text: string): string | undefined {
  const expected = type === 'hostname' ? 'a host name' : 'an address or a host name'
  if (type !== 'hostname' && isIP(text)) return undefined
  const labels = text.replace(/\.$/, '').split('.')
  const allowed = type === 'host domain' ? DOMAIN_LABEL : HOST_LABEL
  // An IPv4 address with a digit too many is no host name.
  const isName = text.length <= 253 && labels.every((label) => allowed.test(label)) && /[a-z-]/i.test(labels.at(-1)!)
  return isName ? undefined : expected
}

function expectedUri({ schemes, maxLength }: OptionType, text: string): string | undefined {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\/[^/?#\s]+[^\s]*$/i.exec(text)?.[1]
  if (scheme === undefined || (schemes && !schemes.includes(scheme.toLowerCase())))
    return schemes ? `a URL of ${schemes.join(', ')}` : 'a URL'
  return maxLength !== undefined && text.length > maxLength ? `a URL of at most ${maxLength} characters` : undefined
}

/** An absolute path that leads nowhere else than it says, as ironic 39.0.0 conf/types.py ExplicitAbsolutePath. */
export function isPlainPath(text: string): boolean {
  const path = text.length > 1 ? text.replace(/\/+$/, '') : text
  return path.startsWith('/') && normalize(path) === path
}
