import { createHmac } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { withClockHeld, readNamedText, systemRandom, type Clock } from '../../base/runtime/index.js'
import { PasswordComparisons } from './password-comparisons.js'

/**
 * Thrown for a file, or the line of the requesting user, that cannot be used: upstream answers 500 with this sentence.
 */
export class UnusableUserFile extends Error {
  override name = 'UnusableUserFile'
}

/** Outcomes that are remembered: every request brings a password. */
const MAX_REMEMBERED = 256

/** Compared with the password of a user that no file has, if the file has no hash to compare with. */
const NOBODY = '$2b$10$abcdefghijklmnopqrstuuRyUzYyDxBOWO6ChhgmHBwpiNTPYYDri'

/** All files of a process share its threads. */
const comparisons = new PasswordComparisons()

/**
 * Users and bcrypt hashes of a file like Apache's, read again when it has changed. The first line of a user counts, as
 * upstream.
 */
export class Htpasswd {
  readonly #file: string
  readonly #clock: Clock
  /** Passwords are remembered by a hash with this key, which nothing outside of this process knows: a lab's seed must not give it. */
  readonly #key = systemRandom.bytes(32)
  /** Kept apart, so that no number of wrong passwords makes a right one be compared again. */
  readonly #right = new Remembered()
  readonly #wrong = new Remembered()
  readonly #pending = new Map<string, Promise<boolean>>()
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
    for (const line of await this.#lines()) if (line.includes(':')) passwordHashOf(line)
  }

  /**
   * Takes as long for a user that the file does not have: the time would tell its users.
   *
   * @param address of the caller
   * @throws UnusableUserFile
   * @throws TooManyPasswords
   */
  async matches(user: string, password: string, address: string): Promise<boolean> {
    const lines = await this.#lines()
    const line = lines.find((each) => each.startsWith(`${user}:`))
    const hash = line === undefined ? (lines.find(hasHash)?.replace(/^[^:]*:/, '') ?? NOBODY) : passwordHashOf(line)
    const isSame = await this.#isSame({ user, password, hash, address, isKnown: line !== undefined })
    return isSame && line !== undefined
  }

  #isSame({ user, password, hash, address, isKnown }: Login): Promise<boolean> {
    const id = createHmac('sha256', this.#key)
      .update(JSON.stringify([isKnown ? null : user, hash, password]))
      .digest('base64')
    if (this.#right.has(id)) return Promise.resolve(true)
    if (this.#wrong.has(id)) return Promise.resolve(false)
    const known = this.#pending.get(id)
    if (known) return known
    const outcome = withClockHeld(this.#clock, 'comparing a password', () =>
      comparisons.isSame(password, hash, address),
    )
      .then((isSame) => {
        const remembered = isSame && isKnown ? this.#right : this.#wrong
        remembered.add(id)
        return isSame
      })
      .finally(() => this.#pending.delete(id))
    this.#pending.set(id, outcome)
    return outcome
  }

  async #lines(): Promise<readonly string[]> {
    return withClockHeld(this.#clock, `reading ${this.#file}`, async () => {
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

interface Login {
  user: string
  password: string
  hash: string
  address: string
  /** Whether the file has the user. */
  isKnown: boolean
}

/** The latest ids. */
class Remembered {
  readonly #ids = new Set<string>()

  /** Makes an id that is found the latest. */
  has(id: string): boolean {
    if (!this.#ids.delete(id)) return false
    this.#ids.add(id)
    return true
  }

  add(id: string): void {
    this.#ids.add(id)
    const [oldest] = this.#ids
    if (this.#ids.size > MAX_REMEMBERED && oldest !== undefined) this.#ids.delete(oldest)
  }
}

const hasHash = (line: string): boolean => /^[^:]*:\$2[aby]\$/.test(line)

function passwordHashOf(line: string): string {
  const colon = line.indexOf(':')
  const hash = line.slice(colon + 1)
  if (/^\$2[aby]\$/.test(hash)) return hash
  throw new UnusableUserFile(`Only bcrypt digested passwords are supported for ${line.slice(0, colon)}`)
}
