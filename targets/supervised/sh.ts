import { UserError } from '../../runtime/index.js'

/** A word that any POSIX shell takes as it is. */
export function quoted(word: string): string {
  if (word.includes('\0'))
    throw new UserError(
      'zero-byte',
      `a program cannot be given ${JSON.stringify(word.slice(0, 80))}: it has a zero byte`,
      {
        kind: 'usage',
      },
    )
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

export const words = (argv: readonly string[]): string => argv.map(quoted).join(' ')

/** Bytes a line of {@link printed}; shells have `printf` built in, but not every one would take megabytes at once. */
const PIECE = 4096

/**
 * Commands that print exactly these bytes. Only what POSIX has: here-documents need a writable folder in some shells and
 * take no zero bytes, and base64 is not everywhere. Nothing of it becomes an argument of a program, which `ps` would show.
 */
export function printed(bytes: Uint8Array): string {
  const lines: string[] = []
  for (let at = 0; at < bytes.length; at += PIECE)
    lines.push(`printf '%b' '${escaped(bytes.subarray(at, at + PIECE))}'`)
  return lines.length === 0 ? ':' : lines.join('\n')
}

function escaped(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes)
    text += isPlain(byte) ? String.fromCharCode(byte) : `\\0${byte.toString(8).padStart(3, '0')}`
  return text
}

/** Printable, and nothing to either the quotes or `%b`. */
const isPlain = (byte: number): boolean => byte >= 0x20 && byte < 0x7f && byte !== 0x27 && byte !== 0x5c
