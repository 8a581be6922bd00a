import { sizeText, UserError, MIB } from '../../base/runtime/index.js'

/** Limits of a target's output, in bytes: a broken or hostile target may print without end. */
export const OUTPUT_LIMITS = {
  /** Output of login scripts before our script's greeting. */
  greeting: MIB,
  /** One line of an answer. */
  line: MIB,
  /** All lines of an answer. */
  answer: 16 * MIB,
  /** A file, or a piece of a program's output. */
  record: 64 * MIB,
  /** One output of a command, which is stored on the target, mostly in memory. */
  output: 32 * MIB,
  /** Output of sudo before root's shell answers. */
  sudo: MIB / 4,
  /** Unread output of one run. */
  waiting: 4 * MIB,
} as const

/** Error for output over a limit. */
export const tooMuch = (name: string, limit: number, what: string): UserError =>
  new UserError('target-says-too-much', `${name} sent more than ${sizeText(limit)} ${what}`, {
    remedy: 'check what a login prints there, also in ~/.bashrc, ~/.profile and /etc/profile.d',
  })

/**
 * Reads a whole stream as text.
 *
 * @param what completes `HOST sent more than 1 MiB ...`
 * @throws UserError when it is longer than `OUTPUT_LIMITS.greeting`
 */
export async function limitedText(stream: AsyncIterable<Uint8Array>, name: string, what: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const bytes of stream) {
    length += bytes.length
    if (length > OUTPUT_LIMITS.greeting) throw tooMuch(name, OUTPUT_LIMITS.greeting, what)
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}
