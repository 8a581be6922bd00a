import { UserError } from './error.js'

/** Limit on nested levels of lists and objects in documents from outside, far above real ones. */
export const MAX_JSON_DEPTH = 500

/**
 * True if lists and objects are nested more than so many levels deep. Works without recursion; what refers to itself is
 * deeper than any limit.
 */
export function isNestedDeeper(value: unknown, levels: number = MAX_JSON_DEPTH): boolean {
  if (membersWithin(value, Math.min(levels, USUAL_JSON_DEPTH), USUAL_JSON_MEMBERS) >= 0) return false
  const seen = new Map<object, number>()
  const open: [value: unknown, level: number][] = [[value, 1]]
  for (let next = open.pop(); next; next = open.pop()) {
    const [item, level] = next
    if (typeof item !== 'object' || item === null || ArrayBuffer.isView(item)) continue
    if (level > levels) return true
    if ((seen.get(item) ?? 0) >= level) continue
    seen.set(item, level)
    for (const member of Object.values(item)) open.push([member, level + 1])
  }
  return false
}

/** A usual document has less than this, and is checked without a table of what was seen. */
const USUAL_JSON_DEPTH = 40
const USUAL_JSON_MEMBERS = 5_000

/** How many of `most` members are left after those of a value; negative when it has more, or more levels. */
function membersWithin(value: unknown, levels: number, most: number): number {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return most
  if (levels === 0) return -1
  let left = most
  if (Array.isArray(value))
    for (let at = 0; at < value.length && left >= 0; at++) left = membersWithin(value[at], levels - 1, left - 1)
  else
    for (const key in value) {
      left = membersWithin((value as Record<string, unknown>)[key], levels - 1, left - 1)
      if (left < 0) break
    }
  return left
}

const nestedTooDeeply = (what: string): UserError =>
  new UserError('nested-too-deeply', `${what} is nested more than ${MAX_JSON_DEPTH} levels deep`, {
    remedy: 'Flatten it; nothing that is read here needs more levels.',
  })

/** @throws UserError `nested-too-deeply` that starts with `what` */
export function checkNesting(value: unknown, what: string): void {
  if (isNestedDeeper(value)) throw nestedTooDeeply(what)
}

/**
 * JSON.stringify for what may be nested deeply.
 *
 * @throws UserError `nested-too-deeply`
 */
export function jsonText(value: unknown, what: string): string {
  checkNesting(value, what)
  return JSON.stringify(value)
}

/**
 * JSON of a value that is kept for long. V8 makes it of pieces, and joins them when a character is read: whole it takes half
 * the memory.
 */
export function jsonInOnePiece(value: unknown): string {
  const text = JSON.stringify(value)
  text.charCodeAt(0)
  return text
}

/**
 * Runs a parser that recurses, as those of YAML do, over text of others.
 *
 * @throws UserError `nested-too-deeply`; `too-many-aliases` for YAML that grows without bounds; `unknown-alias` for an
 *   alias without an anchor; also the parser's other errors
 */
export function readNested<T>(text: string, what: string, read: (text: string) => T): T {
  if (opensDeeper(text)) throw nestedTooDeeply(what)
  try {
    const result = read(text)
    if (errorsOf(result).some(ranOutOfStack)) throw nestedTooDeeply(what)
    return result
  } catch (cause) {
    if (ranOutOfStack(cause)) throw nestedTooDeeply(what)
    if (cause instanceof ReferenceError && /Excessive alias count/.test(cause.message))
      throw new UserError('too-many-aliases', `${what} repeats itself by too many aliases`, {
        remedy: 'Write out what the aliases stand for.',
      })
    const alias = cause instanceof ReferenceError ? /^Unresolved alias .*: (.*)$/.exec(cause.message)?.[1] : undefined
    if (alias !== undefined)
      throw new UserError('unknown-alias', `${what} has the alias *${alias} and no anchor &${alias} before it`)
    throw cause
  }
}

/** Parsers of YAML may keep an overflow among the errors of a document. */
const ranOutOfStack = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('Maximum call stack size exceeded')

const errorsOf = (result: unknown): unknown[] =>
  (Array.isArray(result) ? (result as unknown[]) : [result]).flatMap((each) =>
    typeof each === 'object' && each !== null && 'errors' in each && Array.isArray(each.errors)
      ? (each.errors as unknown[])
      : [],
  )

/** True if brackets outside of quotes, or dashes of nested lists in one line, open more levels than are read. */
function opensDeeper(text: string): boolean {
  if (new RegExp(`^(?:[ \\t]*[-?:][ \\t]){${MAX_JSON_DEPTH + 1}}`, 'm').test(text)) return true
  let level = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (quoted && character === BACKSLASH) at++
    else if (character === QUOTE) quoted = !quoted
    // A quotation mark inside plain text is none; no text in quotes needs more than its line.
    else if (character === NEWLINE) quoted = false
    else if (!quoted && (character === OPEN_LIST || character === OPEN_OBJECT)) {
      if (++level > MAX_JSON_DEPTH) return true
    } else if (!quoted && (character === CLOSE_LIST || character === CLOSE_OBJECT)) level = Math.max(0, level - 1)
  }
  return false
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const NEWLINE = 0x0a
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * The member of a table that a name from outside names: `constructor`, `toString` and `__proto__` are in every object, and are
 * members of no table.
 */
export const ownMember = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

/**
 * JSON of others, as a value that may be walked by recursion.
 *
 * @throws UserError `nested-too-deeply`; SyntaxError
 */
export const readJson = (text: string, what: string): unknown =>
  readNested(text, what, (json) => JSON.parse(json) as unknown)

/** True if a parsed JSON value is an object: not null, and not a list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Keys and indexes of a JSON pointer (RFC 6901), as in ajv's `instancePath`; none for the pointer of the whole document.
 * Text before the first slash is ignored.
 */
export const pointerParts = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
