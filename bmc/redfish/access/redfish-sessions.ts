import {
  isSameSecret,
  seconds,
  urlSafeToken,
  randomUuid,
  type Clock,
  type Random,
} from '../../../base/runtime/index.js'
import { messageRefusal } from '../protocol/redfish-refusal.js'
import type { RedfishCredentials } from './redfish-credentials.js'

export interface Session {
  readonly id: string
  readonly token: string
  credentials: RedfishCredentials
  readonly created: number
  /** When it was used last. */
  used: number
}

/** Seconds of idleness after which a session ends. */
const SESSION_TIMEOUT_SECONDS = { least: 30, most: 86_400 }

/**
 * The sessions of a service. A session stands for the credentials that it was made with: when a machine's password
 * changes, it opens that machine no more. Like those of a BMC, sessions end with the process.
 */
export class Sessions {
  readonly #byToken = new Map<string, Session>()
  readonly #byId = new Map<string, Session>()
  readonly #clock: Clock
  readonly #random: Random
  readonly #most: () => number
  readonly #usual: () => number
  #timeout: number | undefined

  /**
   * @param most as many may be open at a time
   * @param usual seconds of idleness after which a session ends, until another time is set
   */
  constructor({
    clock,
    random,
    most,
    usual,
  }: {
    clock: Clock
    random: Random
    most: () => number
    usual: () => number
  }) {
    this.#clock = clock
    this.#random = random
    this.#most = most
    this.#usual = usual
  }

  /** Seconds. */
  get timeout(): number {
    return this.#timeout ?? this.#usual()
  }

  /** @throws Refusal for a time that is out of range */
  changeTimeout(wanted: number): void {
    if (!Number.isInteger(wanted) || wanted < SESSION_TIMEOUT_SECONDS.least || wanted > SESSION_TIMEOUT_SECONDS.most)
      throw messageRefusal(400, 'PropertyValueOutOfRange', [String(wanted), 'SessionTimeout'], {
        property: 'SessionTimeout',
        resolution: `Use a whole number from ${SESSION_TIMEOUT_SECONDS.least} to ${SESSION_TIMEOUT_SECONDS.most}.`,
      })
    this.#timeout = wanted
  }

  /** @throws Refusal when too many sessions are open */
  open(credentials: RedfishCredentials): Session {
    if (this.#byId.size >= this.#most()) this.#endIdle()
    if (this.#byId.size >= this.#most())
      throw messageRefusal(503, 'SessionLimitExceeded', [], {
        resolution: 'Delete a session, or wait until one ends.',
        headers: { 'retry-after': '30' },
      })
    const now = this.#clock.now()
    const session = {
      id: randomUuid(this.#random),
      token: urlSafeToken(this.#random),
      credentials,
      created: now,
      used: now,
    }
    this.#byToken.set(session.token, session)
    this.#byId.set(session.id, session)
    return session
  }

  /** The session of a token, which is used now; undefined for one that has ended. */
  use(token: string): Session | undefined {
    const session = this.#byToken.get(token)
    if (!session) return undefined
    if (!this.#isOpen(session)) return void this.#end(session)
    session.used = this.#clock.now()
    return session
  }

  /** The sessions with a caller's credentials. */
  of({ username, password }: RedfishCredentials): Session[] {
    this.#endIdle()
    return [...this.#byId.values()].filter(
      ({ credentials }) => credentials.username === username && isSameSecret(credentials.password, password),
    )
  }

  /** Sessions go on with an account that has changed. */
  rename(before: RedfishCredentials, after: RedfishCredentials): void {
    for (const session of this.of(before)) session.credentials = after
  }

  end(id: string): void {
    const session = this.#byId.get(id)
    if (session) this.#end(session)
  }

  #end(session: Session): void {
    this.#byToken.delete(session.token)
    this.#byId.delete(session.id)
  }

  #endIdle(): void {
    for (const session of [...this.#byId.values()]) if (!this.#isOpen(session)) this.#end(session)
  }

  #isOpen({ used }: Session): boolean {
    return this.#clock.now() - used <= seconds(this.timeout)
  }
}
