import { pythonRepr } from '../agent/index.js'

/** The exception that Python would raise: upstream catches some kinds and not others. */
export type HintErrorKind = 'ValueError' | 'TypeError' | 'SyntaxError' | 'ParseException'

/** Root device hints that cannot be read, or cannot be compared with a device. */
export class HintError extends Error {
  override name = 'HintError'
  constructor(
    readonly kind: HintErrorKind,
    message: string,
  ) {
    super(message)
  }
}

const TRUE_WORDS = ['1', 't', 'true', 'on', 'y', 'yes']
const FALSE = ['0', 'f', 'false', 'off', 'n', 'no']

/** `str(value)` */
export const pythonStr = (value: unknown): string => (typeof value === 'string' ? value : pythonRepr(value))

/**
 * `float(text)`
 *
 * @throws HintError
 */
export function pythonFloat(value: string | number): number {
  if (typeof value === 'number') return value
  const text = value.trim().toLowerCase()
  if (/^[+-]?((\d+(_\d+)*)(\.(\d+(_\d+)*)?)?|\.\d+(_\d+)*)(e[+-]?\d+(_\d+)*)?$/.test(text))
    return Number(text.replaceAll('_', ''))
  const special = /^([+-]?)(inf|infinity|nan)$/.exec(text)
  if (special) return special[2] === 'nan' ? NaN : special[1] === '-' ? -Infinity : Infinity
  throw new HintError('ValueError', `could not convert string to float: ${pythonRepr(value)}`)
}

/** `strutils.bool_from_string(value, strict=True)` of oslo.utils; undefined where it throws. */
export function pythonBool(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value
  const word = pythonStr(value).trim().toLowerCase()
  return TRUE_WORDS.includes(word) ? true : FALSE.includes(word) ? false : undefined
}

/** `urllib.parse.quote(text)` */
export const pythonQuote = (text: string): string =>
  encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '\ufffd'))
    .replaceAll('%2F', '/')
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

/**
 * `ast.literal_eval(text)`, as far as a number comes of it.
 *
 * @throws HintError
 */
export function pythonLiteral(text: string | number): number {
  if (typeof text === 'number') throw new HintError('ValueError', `malformed node or string: ${text}`)
  if (/^([1-9]\d*|0+|\d+\.\d*|\.\d+)(e[+-]?\d+)?$/.test(text)) return Number(text)
  if (/^[\p{L}_][\p{L}\p{N}_]*([-./%][\p{L}_][\p{L}\p{N}_]*)*$/u.test(text))
    throw new HintError('ValueError', `malformed node or string: ${text}`)
  throw new HintError('SyntaxError', `invalid syntax: ${text}`)
}
