import { Buffer } from 'node:buffer'

/** A key and its value; a repeated key has a member for each. */
export interface JsonMember {
  key: string
  /** Offset of the key's opening quote, in bytes. */
  keyStart: number
  value: JsonNode
}

interface TextSpan {
  /** Offset of the first byte. */
  start: number
  /** Offset after the last byte. */
  end: number
}

/** JSON with the offset of each value, repeated keys, and numbers as they are spelled. */
export type JsonNode = TextSpan &
  (
    | { kind: 'object'; members: JsonMember[] }
    | { kind: 'array'; items: JsonNode[] }
    | { kind: 'text'; text: string }
    | { kind: 'number'; literal: string }
    | { kind: 'flag'; flag: boolean }
    | { kind: 'null' }
  )

type Container = Extract<JsonNode, { kind: 'object' | 'array' }>

/** A syntax error, with the message of Go's decoder, which Ignition prints. */
export class JsonSyntaxError extends Error {
  override name = 'JsonSyntaxError'
  constructor(
    message: string,
    /** Number of bytes read, the offending one included. */
    readonly offset: number,
  ) {
    super(message)
  }
}

/** Go's limit on nesting (`encoding/json` scanner.go, maxNestingDepth). */
const MAX_CONFIG_DEPTH = 10_000

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * Reads JSON with the offset of every value. JSON.parse and the usual libraries lack what Ignition's verdict depends on
 * or prints: Go's messages, byte offsets, repeated keys and the spelling of numbers. Works without recursion, so that
 * deep text cannot exhaust the stack.
 *
 * @throws JsonSyntaxError
 */
export function readJson(bytes: Uint8Array): JsonNode {
  return new JsonReader(bytes).read()
}

class JsonReader {
  private at = 0
  private readonly text: Buffer

  constructor(bytes: Uint8Array) {
    this.text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  read(): JsonNode {
    const open: Container[] = []
    let key: { key: string; keyStart: number } | null = null
    for (;;) {
      // `at` is at the start of a value.
      let value: JsonNode | null = this.value()
      if (value.kind === 'object' || value.kind === 'array') {
        const first = this.blanks()
        if (first === (value.kind === 'object' ? CLOSE_OBJECT : CLOSE_LIST)) value.end = ++this.at
        else {
          this.attach(open.at(-1), key, value)
          open.push(value)
          if (open.length > MAX_CONFIG_DEPTH) throw this.wrong('exceeded max depth', value.start)
          key = value.kind === 'object' ? this.key() : null
          continue
        }
      }
      this.attach(open.at(-1), key, value)
      // After a value: close containers until a comma follows.
      for (;;) {
        const container = open.at(-1)
        if (!container) {
          if (this.blanks() !== -1) throw this.wrong('after top-level value')
          return value
        }
        const isObject = container.kind === 'object'
        const next = this.blanks()
        if (next === COMMA) {
          this.at++
          key = isObject ? this.key() : null
          break
        }
        if (next !== (isObject ? CLOSE_OBJECT : CLOSE_LIST))
          throw this.wrong(isObject ? 'after object key:value pair' : 'after array element')
        container.end = ++this.at
        value = container
        open.pop()
      }
    }
  }

  private attach(to: Container | undefined, key: { key: string; keyStart: number } | null, value: JsonNode): void {
    if (to?.kind === 'object') to.members.push({ ...key!, value })
    else if (to) to.items.push(value)
  }

  /** The next byte that is not blank, -1 at the end. */
  private blanks(): number {
    const { text } = this
    for (; this.at < text.length; this.at++) {
      const byte = text[this.at]!
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte
    }
    return -1
  }

  private key(): { key: string; keyStart: number } {
    if (this.blanks() !== QUOTE) throw this.wrong('looking for beginning of object key string')
    const keyStart = this.at
    const key = this.string()
    if (this.blanks() !== COLON) throw this.wrong('after object key')
    this.at++
    return { key, keyStart }
  }

  /** A literal, or an empty container whose opening bracket has been read. */
  private value(): JsonNode {
    const byte = this.blanks()
    const start = this.at
    switch (byte) {
      case OPEN_OBJECT:
        this.at++
        return { kind: 'object', start, end: start, members: [] }
      case OPEN_LIST:
        this.at++
        return { kind: 'array', start, end: start, items: [] }
      case QUOTE: {
        const text = this.string()
        return { kind: 'text', start, end: this.at, text }
      }
      case 0x74:
        this.word('true')
        return { kind: 'flag', start, end: this.at, flag: true }
      case 0x66:
        this.word('false')
        return { kind: 'flag', start, end: this.at, flag: false }
      case 0x6e:
        this.word('null')
        return { kind: 'null', start, end: this.at }
      default:
        if (byte !== 0x2d && !isDigit(byte)) throw this.wrong('looking for beginning of value')
        this.number()
        return { kind: 'number', start, end: this.at, literal: this.text.toString('latin1', start, this.at) }
    }
  }

  private word(word: string): void {
    for (let i = 1; i < word.length; i++) {
      this.at++
      if (this.text[this.at] !== word.charCodeAt(i))
        throw this.wrong(`in literal ${word} (expecting ${quoteByte(word.charCodeAt(i))})`)
    }
    this.at++
  }

  private string(): string {
    const { text } = this
    const start = this.at
    let plain = true
    let ascii = true
    for (this.at++; ; this.at++) {
      const byte = text[this.at]
      if (byte === QUOTE) break
      if (byte === undefined || byte < 0x20) throw this.wrong('in string literal')
      if (byte >= 0x80) ascii = false
      if (byte === BACKSLASH) {
        plain = false
        this.escape()
      }
    }
    this.at++
    if (!plain)
      return (JSON.parse(text.toString('utf8', start, this.at)) as string).replaceAll(/\p{Surrogate}/gu, '\ufffd')
    return text.toString(ascii ? 'latin1' : 'utf8', start + 1, this.at - 1)
  }

  private escape(): void {
    const byte = this.text[++this.at]
    if (byte === 0x75) {
      for (let i = 0; i < 4; i++)
        if (!isHex(this.text[++this.at])) throw this.wrong('in \\u hexadecimal character escape')
      return
    }
    if (byte === undefined || !'bfnrt\\/"'.includes(String.fromCharCode(byte)))
      throw this.wrong('in string escape code')
  }

  private number(): void {
    const { text } = this
    const digits = (where: string) => {
      if (!isDigit(text[this.at])) throw this.wrong(where)
      while (isDigit(text[this.at])) this.at++
    }
    if (text[this.at] === 0x2d) this.at++
    // No digit may follow a leading zero; the container reports the character that does.
    if (text[this.at] === 0x30) this.at++
    else digits('in numeric literal')
    if (text[this.at] === 0x2e) {
      this.at++
      digits('after decimal point in numeric literal')
    }
    if (text[this.at] === 0x65 || text[this.at] === 0x45) {
      this.at++
      if (text[this.at] === 0x2b || text[this.at] === 0x2d) this.at++
      digits('in exponent of numeric literal')
    }
  }

  private wrong(where: string, at = this.at): JsonSyntaxError {
    const byte = this.text[at]
    if (byte === undefined) {
      // At the end Go feeds a blank: where one is legal, input is missing; elsewhere the blank is the error.
      const message = MAY_GO_ON.test(where) ? 'unexpected end of JSON input' : `invalid character ' ' ${where}`
      return new JsonSyntaxError(message, this.text.length)
    }
    return new JsonSyntaxError(`invalid character ${quoteByte(byte)} ${where}`, at + 1)
  }
}

/** Contexts in which a blank is legal: between tokens and in strings. */
const MAY_GO_ON = /^(looking for|after (object|array|top)|in string literal)/

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39

const isHex = (byte: number | undefined): boolean =>
  isDigit(byte) || (byte !== undefined && (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66)

/** Go converts the byte to a Latin-1 character here. */
function quoteByte(byte: number): string {
  if (byte === 0x27) return `'\\''`
  if (byte === QUOTE) return `'"'`
  return `'${goQuoted(String.fromCharCode(byte)).slice(1, -1)}'`
}

const SHORT_ESCAPES: Record<string, string> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
}

/** Text in double quotes as Go's `%q` writes it. */
export function goQuoted(text: string): string {
  let quoted = ''
  for (const character of text) {
    const code = character.codePointAt(0)!
    if (SHORT_ESCAPES[character] !== undefined) quoted += SHORT_ESCAPES[character]
    else if (/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(character)) quoted += character
    else if (code < 0x20 || code === 0x7f) quoted += `\\x${code.toString(16).padStart(2, '0')}`
    else if (code > 0xffff) quoted += `\\U${code.toString(16).padStart(8, '0')}`
    else quoted += `\\u${code.toString(16).padStart(4, '0')}`
  }
  return `"${quoted}"`
}
