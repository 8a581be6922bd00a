import { Buffer } from 'node:buffer'

/** The bytes of a data URL, or Ignition's message for one that it cannot read. */
export type DataUrlReading = { bytes: Uint8Array } | { problem: string }

const DATA_URL_PREFIX = 'data:'

/** A character of a MIME token. */
const isToken = (c: string | undefined): boolean => c !== undefined && /^[!#$%&'*+\-.0-9A-Z^_`a-z{|}~]$/.test(c)

const FIRST_WORDS = ['text', 'image', 'audio', 'video', 'application', 'message', 'multipart']

/**
 * Reads `data:[type/subtype][;attribute=value]...[;base64],data` (RFC 2397) as strictly as Ignition, compression not
 * undone.
 */
export function readDataUrl(url: string): DataUrlReading {
  try {
    return { bytes: new DataUrlReader(url).read() }
  } catch (error) {
    if (error instanceof Problem) return { problem: error.message }
    throw error
  }
}

class Problem extends Error {}

class DataUrlReader {
  private at = DATA_URL_PREFIX.length
  /** Upstream's flag that an empty quoted value leaves set, so that the next value is read as quoted. */
  private quoted = false
  private base64 = false

  constructor(private readonly url: string) {}

  read(): Uint8Array {
    if (!this.url.startsWith(DATA_URL_PREFIX)) throw new Problem('missing data prefix')
    this.type()
    const data = this.url.slice(this.at)
    return this.base64 ? fromBase64(data) : fromText(data)
  }

  /** The next character, undefined at the end. */
  private next(): string | undefined {
    const code = this.url.codePointAt(this.at)
    if (code === undefined) return undefined
    const character = String.fromCodePoint(code)
    this.at += character.length
    return character
  }

  private type(): void {
    const start = this.at
    const c = this.next()
    if (c === ';') return this.parameter()
    if (c === ',') return
    if (c === undefined) throw new Problem('missing comma before data')
    const extension = (c === 'x' || c === 'X') && this.next() === '-'
    if (c !== 'x' && c !== 'X' && !isToken(c)) throw new Problem('invalid character after data prefix')
    this.tokensUntil('/', 'missing media type slash', 'invalid character for media type')
    const type = this.url.slice(start, this.at)
    if (!extension && !FIRST_WORDS.some((word) => type.startsWith(word))) throw new Problem('invalid media type')
    this.at++
    if (this.tokensUntil(';,', 'incomplete media type', 'invalid character for media subtype') === ';') {
      this.at++
      this.parameter()
    } else this.at++
  }

  /** Advances to the first of the stop characters and returns it. */
  private tokensUntil(stops: string, atEnd: string, otherwise: string): string {
    for (;;) {
      const before = this.at
      const c = this.next()
      if (c === undefined) throw new Problem(atEnd)
      if (stops.includes(c)) {
        this.at = before
        return c
      }
      if (!isToken(c)) throw new Problem(otherwise)
    }
  }

  /** Reads parameters after a semicolon, up to the comma. */
  private parameter(): void {
    for (;;) {
      const start = this.at
      const unterminated = 'unterminated parameter sequence'
      const first = this.url[this.at]
      if (first === undefined || first === '=' || first === ',') throw new Problem(unterminated)
      const stop = this.tokensUntil('=,', unterminated, 'invalid character for parameter attribute')
      const name = this.url.slice(start, this.at)
      this.at++
      if (stop === ',') {
        if (name !== 'base64') throw new Problem(`expected base64, got ${name}`)
        this.base64 = true
        return
      }
      this.value()
      const c = this.next()
      if (c === ',') return
      if (c === undefined) throw new Problem('missing comma before data')
      if (c !== ';') throw new Problem('expected semicolon or comma')
    }
  }

  private value(): void {
    const missing = 'missing comma before data'
    const invalid = 'invalid character for parameter value'
    const start = this.at
    const c = this.next()
    if (c === undefined) throw new Problem(missing)
    if (c !== '"') {
      if (!isToken(c)) throw new Problem(invalid)
      this.tokensUntil(';,', missing, invalid)
      this.keep(this.url.slice(start, this.at))
      return
    }
    this.quoted = true
    for (;;) {
      const inside = this.next()
      if (inside === undefined) throw new Problem('unclosed quoted string')
      if (inside === '"') break
      if (inside > '\x7f') throw new Problem(invalid)
      if (inside === '\\' && (this.next() ?? '') > '\x7f') throw new Problem('invalid escaped character')
    }
    if (this.at - 1 > start + 1) this.keep(this.url.slice(start + 1, this.at - 1))
  }

  private keep(value: string): void {
    if (this.quoted) {
      this.quoted = false
      if (!isGoString(value)) throw new Problem('invalid syntax')
    } else unescape(value)
  }
}

/** Escapes of Go's strings, except those of surrogates, which it refuses. */
const ESCAPE =
  /\\(?:[abfnrtv\\"]|x[\dA-Fa-f]{2}|[0-3][0-7]{2}|u(?![Dd][89A-Fa-f])[\dA-Fa-f]{4}|U00(?:0(?!0[Dd][89A-Fa-f])[\dA-Fa-f]|10)[\dA-Fa-f]{4})/g

/** True if Go would read it between double quotes. */
const isGoString = (text: string): boolean => !/["\\\n]/.test(text.replaceAll(ESCAPE, ''))

function unescape(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length)
  let length = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code > 0x7f) throw new Problem('rfc2396: non-ASCII char detected')
    if (code !== 0x25) bytes[length++] = code
    else {
      const byte = escapedByte(text.slice(at + 1, at + 3))
      bytes[length++] = byte
      at += 2
    }
  }
  return bytes.subarray(0, length)
}

function escapedByte(digits: string): number {
  if (/^[\da-f]{2}$/i.test(digits)) return Number.parseInt(digits, 16)
  if (/^[\da-f]?$/i.test(digits)) throw new Problem('rfc2396: unexpected end of unescape sequence')
  // Upstream always names the percent sign, never the wrong character.
  throw new Problem('rfc2396: invalid char 0x25 in unescape sequence')
}

function fromText(data: string): Uint8Array {
  if (/[^\x21-\x7e]|[<>#"{}|\\^[\]`]/.test(data)) throw new Problem('invalid data character')
  return unescape(data)
}

function fromBase64(data: string): Uint8Array {
  if (/[^A-Za-z0-9+/=]/.test(data)) throw new Problem('invalid data character')
  const fault = base64Fault(data)
  if (fault >= 0) throw new Problem(`illegal base64 data at input byte ${fault}`)
  return Uint8Array.from(Buffer.from(data, 'base64'))
}

/**
 * Offset at which Go's decoder of padded base64 fails; -1 when it reads all of a text of the right alphabet. Needed
 * because Buffer.from ignores errors.
 */
function base64Fault(text: string): number {
  const padding = text.indexOf('=')
  const inQuantum = (padding < 0 ? text.length : padding) % 4
  if (padding < 0) return inQuantum === 0 ? -1 : text.length - inQuantum
  if (inQuantum < 2) return padding
  let end = padding + 1
  if (inQuantum === 2) {
    if (end === text.length) return end
    if (text[end] !== '=') return padding
    end++
  }
  return end < text.length ? end : -1
}
