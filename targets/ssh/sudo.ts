import { seconds, UserError, type Clock, type Random } from '../../runtime/index.js'
import { LIMITS, tooMuch } from '../supervised/limits.js'
import type { Channel } from './connection.js'

export interface SudoParts {
  /** For messages. */
  name: string
  exec: (line: string) => Promise<Channel>
  /** The user's password for sudo; null when nobody has it. Asked for only when sudo asks. */
  password: () => Promise<string | null>
  /** Told when sudo did not take it. */
  wrong: () => void
  clock: Clock
  random: Random
}

/** One that looks up users elsewhere takes its time. */
const PATIENCE = seconds(60)

/**
 * Hands a line to root's shell by way of sudo, from a user's account.
 *
 * The password is written only in answer to sudo's own question, which nobody else can have put, since its words are made
 * up each time; the line and its input only once root's shell has said that it is there. So neither is ever an argument,
 * a file, or something that the other one's reader gets.
 *
 * @throws UserError when sudo refuses; LinkLost
 */
export async function asRoot(parts: SudoParts, line: string, stdin: Uint8Array): Promise<Channel> {
  const { name, password, wrong, random } = parts
  const word = Buffer.from(random.bytes(12)).toString('hex')
  const [question, ready] = [`sudo-asks-${word}:`, `root-is-here-${word}`]
  // A line of any shell's: words without anything that csh or fish would see in single quotes.
  const channel = await parts.exec(
    `sudo -S -p '${question}' /bin/sh -c 'echo ${ready} >&2; IFS= read -r line; eval "$line"'`,
  )
  const stderr = channel.stderr[Symbol.asyncIterator]()
  let said = Buffer.alloc(0)
  let asked = 0
  for (;;) {
    const there = said.indexOf(`${ready}\n`)
    if (there >= 0) {
      const rest = said.subarray(there + ready.length + 1)
      channel.write(Buffer.concat([Buffer.from(`${line}\n`), stdin]))
      channel.end()
      return { ...channel, stderr: continued(rest, stderr) }
    }
    const position = said.indexOf(question)
    if (position >= 0) {
      said = Buffer.concat([said.subarray(0, position), said.subarray(position + question.length)])
      if (++asked > 1) {
        channel.cut()
        wrong()
        throw new UserError('sudo-password', `sudo on ${name} does not take the password`, {
          remedy: 'set the right one in IRONSTAGE_SUDO_PASSWORD',
        })
      }
      const known = await password()
      if (known === null) {
        channel.cut()
        throw new UserError('sudo-password', `sudo on ${name} wants a password`, {
          remedy: 'set it in IRONSTAGE_SUDO_PASSWORD, or let the user do everything without one (NOPASSWD: ALL)',
        })
      }
      channel.write(Buffer.from(`${known}\n`))
      continue
    }
    const { done, value } = await answerOf(parts, channel, stderr)
    if (done) break
    said = Buffer.concat([said, value])
    if (said.length > LIMITS.sudo) {
      channel.cut()
      throw tooMuch(name, LIMITS.sudo, "before root's shell answered")
    }
  }
  // Rejects where the link went.
  const code = await channel.exit
  const last = said.toString('utf8').trim().split('\n').at(-1) ?? ''
  throw new UserError('sudo-refused', `sudo on ${name} does not let us work as root`, {
    cause: new Error(last === '' ? `it ended with ${code ?? 'a signal'}` : last),
    remedy: 'log in as root, or let the user run /bin/sh by sudo',
  })
}

async function answerOf(
  { name, clock }: SudoParts,
  channel: Channel,
  stderr: AsyncIterator<Uint8Array, undefined>,
): Promise<IteratorResult<Uint8Array, undefined>> {
  const over = new AbortController()
  const late = clock.sleep(PATIENCE, { weak: true, signal: over.signal }).then(() => {
    channel.cut()
    throw new UserError('sudo-silent', `sudo on ${name} has not answered for ${PATIENCE / 1000} s`, {
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
