import { UserError } from '../../runtime/index.js'

const MIB = 2 ** 20

/** How much is taken of what a target says, in bytes: it may say more, or never come to an end. */
export const LIMITS = {
  /** What login scripts print before a script of ours speaks. */
  greeting: MIB,
  /** One line of an answer. */
  line: MIB,
  /** All lines of an answer. */
  answer: 16 * MIB,
  /** A file, or a piece of a program's output. */
  record: 64 * MIB,
  /** What sudo prints before root's shell answers. */
  sudo: MIB / 4,
  /** What waits for its reader, of one run. */
  waiting: 4 * MIB,
} as const

/** A target says more than anybody needs. */
export const tooMuch = (name: string, limit: number, what: string): UserError =>
  new UserError('target-says-too-much', `${name} sent more than ${sizeText(limit)} ${what}`, {
    remedy: 'look at what logging in there prints, also in ~/.bashrc, ~/.profile and /etc/profile.d',
  })

export const sizeText = (bytes: number): string => (bytes < MIB ? `${bytes / 1024} KiB` : `${bytes / MIB} MiB`)

/**
 * All text of a stream that should be short.
 *
 * @param what completes `HOST sent more than 1 MiB ...`
 * @throws UserError when it is not
 */
export async function limitedText(stream: AsyncIterable<Uint8Array>, name: string, what: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const bytes of stream) {
    length += bytes.length
    if (length > LIMITS.greeting) throw tooMuch(name, LIMITS.greeting, what)
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}
