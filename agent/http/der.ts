/**
 * Encodes the part of DER (X.690) that a certificate needs. Every function returns a whole element: tag, length,
 * content.
 */
type Bytes = Uint8Array

function element(tag: number, ...contents: Bytes[]): Bytes {
  const content = Buffer.concat(contents)
  return Buffer.concat([Uint8Array.of(tag, ...length(content.length)), content])
}

/** Length in one byte up to 127; longer ones after a byte with their number of bytes. */
function length(value: number): number[] {
  if (value < 0x80) return [value]
  const bytes: number[] = []
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return [0x80 | bytes.length, ...bytes]
}

export const derSequence = (...parts: Bytes[]): Bytes => element(0x30, ...parts)
export const derSet = (...parts: Bytes[]): Bytes => element(0x31, ...parts)
export const derOctets = (content: Bytes): Bytes => element(0x04, content)
export const derUtf8 = (text: string): Bytes => element(0x0c, Buffer.from(text, 'utf8'))
/** @param content big-endian two's complement without needless leading bytes */
export const derInteger = (content: Bytes): Bytes => element(0x02, content)
/** A bit string of whole bytes. */
export const bitString = (content: Bytes): Bytes => element(0x03, Uint8Array.of(0), content)

/** A context-specific element: a wrapper around another, or (`primitive`) the content itself. */
export const derContextual = (tag: number, content: Bytes, form: 'explicit' | 'primitive' = 'explicit'): Bytes =>
  element((form === 'explicit' ? 0xa0 : 0x80) | tag, content)

/** @param dotted such as `2.5.4.3` */
export function derOid(dotted: string): Bytes {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return element(0x06, Uint8Array.from([first * 40 + second, ...rest.flatMap(base128)]))
}

function base128(arc: number): number[] {
  const bytes = [arc % 128]
  for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift(0x80 | (rest % 128))
  return bytes
}

/** Date before 2050, as RFC 5280 requires for UTCTime. @param at seconds since the epoch */
export function utcTime(at: number): Bytes {
  const digits = new Date(at * 1000).toISOString().replace(/\D/g, '')
  return element(0x17, Buffer.from(`${digits.slice(2, 14)}Z`, 'ascii'))
}

/** PEM form: base64 in lines of 64. */
export function formatPem(label: string, der: Bytes): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}
