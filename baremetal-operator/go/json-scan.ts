import { GoJsonError } from './json-error.js'
import { goQuote } from './quote.js'

/** Levels of lists and objects that are read: Go takes more, and nothing here is nested so deep. */
const MAX_DEPTH = 500

/** Looks through a JSON text as the scanner of Go's encoding/json does, and names the character at which it stops. */
export class JsonScan {
  /** Position in the text. */
  at = 0
  readonly #text: string
  /** Sentence for a text that ends too early. */
  readonly #ended: string
  #depth = 0

  constructor(text: string, ended: string) {
    this.#text = text
    this.#ended = ended
  }

  checkValue(): void {
    const first = this.#afterSpace()
    if (first === '{') return this.#checkMembers()
    if (first === '[') return this.#checkElements()
    if (first === '"') return this.#checkString()
    if (first !== undefined && /[-\d]/.test(first)) return this.#checkNumber()
    const literal = LITERALS.find((each) => each.startsWith(first ?? ' '))
    return literal === undefined ? this.#stop('looking for beginning of value') : this.#checkLiteral(literal)
  }

  /** Nothing may come after the value. */
  checkEnd(): void {
    if (this.#afterSpace() !== undefined) this.#stop('after top-level value')
  }

  #checkMembers(): void {
    this.#enter()
    if (this.#takes('}')) return this.#leave()
    do {
      if (this.#afterSpace() !== '"') this.#stop('looking for beginning of object key string')
      this.#checkString()
      if (!this.#takes(':')) this.#stop('after object key')
      this.checkValue()
    } while (this.#takes(','))
    if (!this.#takes('}')) this.#stop('after object key:value pair')
    this.#leave()
  }

  #checkElements(): void {
    this.#enter()
    if (this.#takes(']')) return this.#leave()
    do this.checkValue()
    while (this.#takes(','))
    if (!this.#takes(']')) this.#stop('after array element')
    this.#leave()
  }

  #enter(): void {
    if (++this.#depth > MAX_DEPTH) this.#stop('exceeded max depth')
    this.at++
  }

  #leave(): void {
    this.#depth--
  }

  #checkString(): void {
    this.#match(/"(?:[^"\\\0-\x1f]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*/iy)
    const next = this.#text[this.at]
    if (next === '"') return void this.at++
    if (next !== '\\') this.#stop('in string literal')
    this.at++
    if (this.#text[this.at] !== 'u') this.#stop('in string escape code')
    this.#match(/u[\da-f]*/iy)
    this.#stop('in \\u hexadecimal character escape')
  }

  #checkNumber(): void {
    this.#match(/-/y)
    if (!this.#match(/0|[1-9]\d*/y)) this.#stop('in numeric literal')
    if (this.#match(/\./y) && !this.#match(/\d+/y)) this.#stop('after decimal point in numeric literal')
    if (this.#match(/e[+-]?/iy) && !this.#match(/\d+/y)) this.#stop('in exponent of numeric literal')
  }

  #checkLiteral(literal: string): void {
    for (const expected of literal) {
      if (this.#text[this.at] !== expected) this.#stop(`in literal ${literal} (expecting '${expected}')`)
      this.at++
    }
  }

  #match(pattern: RegExp): boolean {
    pattern.lastIndex = this.at
    const [found = ''] = pattern.exec(this.#text) ?? []
    this.at += found.length
    return found !== ''
  }

  #afterSpace(): string | undefined {
    this.#match(/[ \t\r\n]+/y)
    return this.#text[this.at]
  }

  #takes(character: string): boolean {
    const isThere = this.#afterSpace() === character
    if (isThere) this.at++
    return isThere
  }

  #stop(where: string): never {
    const code = this.#text.codePointAt(this.at)
    if (code === undefined) throw new GoJsonError(this.#ended)
    // Go names a byte, not a character.
    const byte = Buffer.from(String.fromCodePoint(code))[0]!
    throw new GoJsonError(`invalid character ${quotedByte(byte)} ${where}`)
  }
}

const LITERALS = ['true', 'false', 'null']

function quotedByte(byte: number): string {
  const character = String.fromCharCode(byte)
  if (character === "'") return "'\\''"
  if (character === '"') return `'"'`
  return `'${goQuote(character).slice(1, -1)}'`
}
