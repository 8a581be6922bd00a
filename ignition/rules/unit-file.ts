import { Buffer } from 'node:buffer'
import { goQuoted } from '../json/read-json.js'

/** The contents of a systemd unit file, or Ignition's message for one that it cannot read. */
export type UnitFile =
  | {
      /** Sections with at least one option. */
      sections: Set<string>
    }
  | { problem: string }

/** Longest line in bytes, go-systemd's SYSTEMD_LINE_MAX. */
const MAX_UNIT_LINE_BYTES = 2048

/** Buffer size of upstream's reader. It looks for overlong lines only in the buffered bytes. */
const READER_BUFFER_BYTES = 4096

const LF = 0x0a
const CR = 0x0d
const EQUALS = 0x3d

/** Reads a unit file as strictly, and as loosely, as Ignition does (go-systemd's unit parser). */
export function readUnitFile(contents: string): UnitFile {
  const reader = new UnitReader(Buffer.from(contents))
  try {
    return { sections: reader.read() }
  } catch (error) {
    if (error instanceof Problem) return { problem: error.message }
    throw error
  }
}

class Problem extends Error {}

class UnitReader {
  private at = 0
  /** End of the bytes that upstream's reader has buffered. */
  private filled = 0

  constructor(private readonly text: Buffer) {}

  read(): Set<string> {
    const sections = new Set<string>()
    let section: string | null = null
    for (;;) {
      this.refuseLongLine()
      const character = this.character()
      if (character === null) return sections
      if (character === '[') section = this.header()
      else if (character === '#' || character === ';') this.comment()
      // Text before the first section is ignored.
      else if (section !== null && !isBlank(character)) {
        this.at -= Buffer.byteLength(character)
        this.option()
        sections.add(section)
      }
    }
  }

  private header(): string {
    this.refuseLongLine()
    const name = this.upTo(0x5d)
    if (name === null) throw new Problem('unable to find end of section')
    this.refuseLongLine()
    const garbage = trimmed(this.line())
    // Upstream's message leaves the section's name empty.
    if (garbage !== '') throw new Problem(`found garbage after section name : ${goQuoted(garbage)}`)
    return name.subarray(0, -1).toString()
  }

  private comment(): void {
    this.refuseLongLine()
    while (/\\ ?$/.test(this.line())) continue
  }

  private option(): void {
    this.refuseLongLine()
    for (; ; this.at++) {
      if (this.at >= this.filled && !this.fill()) throw new Problem('EOF')
      const byte = this.text[this.at]
      if (byte === LF || byte === CR) throw new Problem('unexpected newline encountered while parsing option name')
      if (byte === EQUALS) break
    }
    this.at++
    for (;;) {
      this.refuseLongLine()
      const text = this.line()
      if (isBlank(text) || !text.endsWith('\\')) return
    }
  }

  private refuseLongLine(): void {
    if (this.filled - this.at < MAX_UNIT_LINE_BYTES) return
    const ahead = this.text.subarray(this.at, this.at + MAX_UNIT_LINE_BYTES)
    if (!ahead.includes(LF) && !ahead.includes(CR))
      throw new Problem(`line too long (max ${MAX_UNIT_LINE_BYTES} bytes)`)
  }

  /** Fills the buffer; false at the end of the text. */
  private fill(): boolean {
    const before = this.filled
    this.filled = Math.min(this.text.length, this.at + READER_BUFFER_BYTES)
    return this.filled > before
  }

  private character(): string | null {
    if (this.filled - this.at < 4 && !this.hasWholeCharacter()) this.fill()
    if (this.at >= this.text.length) return null
    const lead = this.text[this.at]!
    const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
    const character = this.text.toString('utf8', this.at, this.at + length)
    this.at += length
    return character
  }

  private hasWholeCharacter(): boolean {
    if (this.at >= this.filled) return false
    const lead = this.text[this.at]!
    return this.filled - this.at >= (lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4)
  }

  /** Reads up to and including a byte; null when the text ends before it. */
  private upTo(byte: number): Buffer | null {
    const found = this.text.indexOf(byte, this.at)
    const end = found < 0 ? this.text.length : found + 1
    const taken = this.text.subarray(this.at, end)
    while (this.filled < end || (found < 0 && this.filled < this.text.length)) {
      // A full buffer is emptied before more is read.
      if (this.filled - this.at >= READER_BUFFER_BYTES) this.at = this.filled
      if (!this.fill()) break
    }
    this.at = end
    return found < 0 ? null : taken
  }

  /** The rest of a line. */
  private line(): string {
    const from = this.at
    const whole = this.upTo(LF)
    if (whole !== null) return whole.subarray(0, -1).toString()
    const text = this.text.toString('utf8', from)
    return text.endsWith('\r') ? text.slice(0, -1) : text
  }
}

/** Blank characters of Go's unicode.IsSpace, for a character class. */
const BLANK = '\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000'
const OTHER = new RegExp(`[^${BLANK}]`)

const isBlank = (text: string): boolean => !OTHER.test(text)

/** Trims by a loop: a regular expression for the end needs quadratic time on long runs of blanks. */
function trimmed(text: string): string {
  let end = text.length
  while (end > 0 && isBlank(text[end - 1]!)) end--
  const start = text.slice(0, end).search(OTHER)
  return start < 0 ? '' : text.slice(start, end)
}
