import { UserError } from '../../base/runtime/index.js'

/** Quotes a word for any POSIX shell. */
export function shellWord(word: string): string {
  if (word.includes('\0'))
    throw new UserError(
      'zero-byte',
      `the argument ${JSON.stringify(word.slice(0, 80))} contains a zero byte, which no program can take`,
      {
        kind: 'usage',
      },
    )
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** Quotes the words of a command for any POSIX shell. */
export const shellLine = (argv: readonly string[]): string => argv.map(shellWord).join(' ')

/** Bytes per line of {@link printfCommands}; not every shell's built-in `printf` takes megabytes at once. */
const PRINTF_LINE_BYTES = 4096

/**
 * Shell commands that print exactly these bytes, by the built-in `printf` alone: here-documents need a writable folder in
 * some shells and take no zero bytes, base64 is not everywhere, and `ps` would show arguments of a program.
 */
export function printfCommands(bytes: Uint8Array): string {
  const lines: string[] = []
  for (let at = 0; at < bytes.length; at += PRINTF_LINE_BYTES)
    lines.push(`printf '%b' '${escapeBytes(bytes.subarray(at, at + PRINTF_LINE_BYTES))}'`)
  return lines.length === 0 ? ':' : lines.join('\n')
}

function escapeBytes(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes)
    text += isPlain(byte) ? String.fromCharCode(byte) : `\\0${byte.toString(8).padStart(3, '0')}`
  return text
}

/** Whether a byte is printable, and special neither in quotes nor to `%b`. */
const isPlain = (byte: number): boolean => byte >= 0x20 && byte < 0x7f && byte !== 0x27 && byte !== 0x5c
