import { seconds, UserError, type Clock, type Random } from '../../base/runtime/index.js'
import { OUTPUT_LIMITS, tooMuch } from '../supervised/output-limits.js'
import type { Channel } from './ssh-connection.js'
import { ERRORS } from '../errors.js'

export interface SudoParts {
  /** Name of the host, for messages. */
  name: string
  exec: (line: string) => Promise<Channel>
  /** Asks for the user's sudo password, when sudo wants it; null when there is none. */
  password: () => Promise<string | null>
  /** Called when sudo refuses the password. */
  wrong: () => void
  clock: Clock
  random: Random
}

/** Generous, since a sudo that looks up users in a directory is slow. */
const SUDO_ANSWER_TIMEOUT = seconds(60)

/**
 * Runs a line in root's shell by sudo, from a user's account.
 *
 * The password is sent only after sudo's own prompt, which no other program can print because it holds a random word; the
 * line and its input are sent only after root's shell has printed its greeting. So neither is ever an argument or in a
 * file, and neither reaches the reader of the other.
 *
 * @throws UserError when sudo refuses; LinkLost
 */
export async function asRoot(parts: SudoParts, line: string, stdin: Uint8Array): Promise<Channel> {
  const { name, password, wrong, random } = parts
  const word = Buffer.from(random.bytes(12)).toString('hex')
  const question = `sudo-asks-${word}:`
  const ready = `root-is-here-${word}`
  // For any shell: nothing here is special to csh or fish inside of single quotes.
  const channel = await parts.exec(
    `sudo -S -p '${question}' /bin/sh -c 'echo ${ready} >&2; IFS= read -r line; eval "$line"'`,
  )
  const stderr = channel.stderr[Symbol.asyncIterator]()
  let printed = Buffer.alloc(0)
  let asked = 0
  for (;;) {
    const there = printed.indexOf(`${ready}\n`)
    if (there >= 0) {
      const rest = printed.subarray(there + ready.length + 1)
      channel.write(Buffer.concat([Buffer.from(`${line}\n`), stdin]))
      channel.end()
      return { ...channel, stderr: continued(rest, stderr) }
    }
    const position = printed.indexOf(question)
    if (position >= 0) {
      printed = Buffer.concat([printed.subarray(0, position), printed.subarray(position + question.length)])
      if (++asked > 1) {
        channel.cut()
        wrong()
        throw new UserError('sudo-password', `sudo on ${name} refuses the password`, {
          remedy: ERRORS['sudo-password'].remedy,
        })
      }
      const known = await password()
      if (known === null) {
        channel.cut()
        throw new UserError('sudo-password', `sudo on ${name} needs a password`, {
          remedy: 'set it in IRONSTAGE_SUDO_PASSWORD, or let the user run all commands without one (NOPASSWD: ALL)',
        })
      }
      channel.write(Buffer.from(`${known}\n`))
      continue
    }
    const { done, value } = await answerOf(parts, channel, stderr)
    if (done) break
    printed = Buffer.concat([printed, value])
    if (printed.length > OUTPUT_LIMITS.sudo) {
      channel.cut()
      throw tooMuch(name, OUTPUT_LIMITS.sudo, "before root's shell answered")
    }
  }
  // Rejects when the link is lost.
  const code = await channel.exit
  const last = printed.toString('utf8').trim().split('\n').at(-1) ?? ''
  throw new UserError('sudo-refused', `sudo on ${name} does not let the user work as root`, {
    cause: new Error(last === '' ? `it ended with ${code ?? 'a signal'}` : last),
    remedy: ERRORS['sudo-refused'].remedy,
  })
}

async function answerOf(
  { name, clock }: SudoParts,
  channel: Channel,
  stderr: AsyncIterator<Uint8Array, undefined>,
): Promise<IteratorResult<Uint8Array, undefined>> {
  const over = new AbortController()
  const late = clock.sleep(SUDO_ANSWER_TIMEOUT, { weak: true, signal: over.signal }).then(() => {
    channel.cut()
    throw new UserError('sudo-silent', `sudo on ${name} has not answered for ${SUDO_ANSWER_TIMEOUT / 1000} s`, {
      remedy: 'see that sudo true works there',
    })
  })
  try {
    return await Promise.race([stderr.next(), late])
  } finally {
    late.catch(() => {})
    over.abort()
  }
}

async function* continued(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (first.length > 0) yield first
  for (;;) {
    const { done, value } = await rest.next()
    if (done) return
    yield value
  }
}
