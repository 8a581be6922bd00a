import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { compare } from 'bcryptjs'
import { held, type Clock, readNamedText } from '../../runtime/index.js'

/**
 * Thrown for a file, or the line of the requesting user, that cannot be used: upstream answers 500 with this sentence.
 */
export class UnusableUserFile extends Error {
  override name = 'UnusableUserFile'
}

/** Number of comparisons that are cached: a bcrypt hash is slow on purpose, and every request brings a password. */
const MAX_CACHED = 256

/**
 * Users and bcrypt hashes of a file like Apache's, read again when it has changed. The first line of a user counts, as
 * upstream.
 */
export class Htpasswd {
  readonly #file: string
  readonly #clock: Clock
  readonly #outcomes = new Map<string, Promise<boolean>>()
  #read: { version: string; lines: readonly string[] } | undefined

  constructor(file: string, clock: Clock) {
    this.#file = file
    this.#clock = clock
  }

  /**
   * Checks every line, as Ironic does before it starts.
   *
   * @throws UnusableUserFile
   */
  async check(): Promise<void> {
    for (const line of await this.#lines()) if (line.includes(':')) hashOf(line)
  }

  /** @throws UnusableUserFile */
  async matches(user: string, password: string): Promise<boolean> {
    const line = (await this.#lines()).find((each) => each.startsWith(`${user}:`))
    if (line === undefined) return false
    const hash = hashOf(line)
    const key = createHash('sha256').update(`${hash}\0${password}`).digest('base64')
    const known = this.#outcomes.get(key)
    if (known) return known
    const outcome = held(this.#clock, 'comparing a password', () => compare(password, hash))
    this.#outcomes.set(key, outcome)
    const [oldest] = this.#outcomes.keys()
    if (this.#outcomes.size > MAX_CACHED && oldest !== undefined) this.#outcomes.delete(oldest)
    return outcome
  }

  async #lines(): Promise<readonly string[]> {
    return held(this.#clock, `reading ${this.#file}`, async () => {
      try {
        const { mtimeMs, size, ino } = await stat(this.#file)
        const version = `${ino} ${mtimeMs} ${size}`
        if (this.#read?.version !== version) {
          const text = await readNamedText(this.#file)
          const lines = text.split('\n').map((line) => line.trim())
          this.#read = { version, lines: lines.filter((line) => line !== '') }
        }
        return this.#read.lines
      } catch (cause) {
        throw new UnusableUserFile('Problem reading auth user file', { cause })
      }
    })
  }
}

function hashOf(line: string): string {
  const colon = line.indexOf(':')
  const hash = line.slice(colon + 1)
  if (/^\$2[aby]\$/.test(hash)) return hash
  throw new UnusableUserFile(`Only bcrypt digested passwords are supported for ${line.slice(0, colon)}`)
}
