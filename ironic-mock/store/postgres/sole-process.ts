import type { Clock } from '../../../base/runtime/index.js'
import type { PostgresSession } from './postgres-session.js'

/** The lock of a schema: every process shares it for as long as its connection lasts. */
const LOCK = "'streams'::regclass::oid::integer, 0"

/** Asks a process that is alone to give the lock up, and takes a share of it. */
const ENTER = `select pg_notify($1, $2), pg_try_advisory_lock_shared(${LOCK}) as entered`

const TAKE_ALONE = `select pg_try_advisory_lock(${LOCK}) as taken`
const GIVE_UP = `select pg_advisory_unlock(${LOCK})`

/** Ends the connection of a process that is alone and does not hear. */
const END_ALONE = `select pg_terminate_backend(pid) from pg_locks
  where locktype = 'advisory' and mode = 'ExclusiveLock' and granted and objsubid = 2
    and database = (select oid from pg_database where datname = current_database())
    and classid = 'streams'::regclass::oid and objid = 0`

/** Payload of the notification by which a process asks to come in. */
export const ENTERING = 'enter'

/** Milliseconds between two tries to come in. */
const ENTER_POLL = 10

/** Milliseconds after which a process that is alone and does not hear loses its connection. */
const DEAF_AFTER = 5000

/**
 * Milliseconds for which an answer of the database shows that the lock is held: the server ends a connection without a
 * sign of life after three seconds.
 */
const ANSWER_HOLDS = 2000

/**
 * Knows whether this process is the only one of its schema. While it is, no other commits, and its requests need not ask what
 * others have committed, which would be the greater part of what the database costs them.
 *
 * A process that comes in asks until the one that was alone has given the lock up, and reads the records after that.
 */
export class SoleProcess {
  readonly #session: PostgresSession
  readonly #channel: string
  /** The clock of the wall. */
  readonly #clock: Clock
  #isAlone = false
  #periods = 0
  /** The connection on which the lock is being taken; another process that comes meanwhile ends that. */
  #taking: number | undefined

  private constructor(session: PostgresSession, channel: string, clock: Clock) {
    this.#session = session
    this.#channel = channel
    this.#clock = clock
  }

  /** Resolves when no other process is alone. */
  static async enter(session: PostgresSession, channel: string, clock: Clock): Promise<SoleProcess> {
    const sole = new SoleProcess(session, channel, clock)
    await sole.#enter()
    session.watch({ begun: () => sole.#enter(), lost: () => (sole.#isAlone = false) })
    return sole
  }

  /** True while it is certain that no other process commits. */
  get isAlone(): boolean {
    return this.#isAlone && this.#clock.now() - this.#session.answeredAt < ANSWER_HOLDS
  }

  /** Number of the period in which this process is alone; undefined while that is not certain. */
  get period(): number | undefined {
    return this.isAlone ? this.#periods : undefined
  }

  /**
   * Is alone from now on, unless there are others.
   *
   * @param catchUp reads what others committed before they left
   * @throws the driver's error
   */
  async take(catchUp: () => Promise<void>): Promise<void> {
    const session = this.#session
    if (this.#isAlone || this.#taking !== undefined || !session.isReady) return
    const taking = session.generation
    this.#taking = taking
    try {
      const { rows } = await session.query<{ taken: boolean }>(TAKE_ALONE)
      if (!rows[0]!.taken) return
      await catchUp()
      if (session.generation !== taking || !session.isReady) return
      if (this.#taking === taking) {
        this.#isAlone = true
        this.#periods++
      } else await session.query(GIVE_UP)
    } finally {
      this.#taking = undefined
    }
  }

  /** Lets another process come in. What was committed before is sent already. */
  giveUp(): void {
    if (this.#taking !== undefined) this.#taking = -1
    if (!this.#isAlone) return
    this.#isAlone = false
    this.#session.send({ text: GIVE_UP }, () => {})
  }

  async #enter(): Promise<void> {
    this.#isAlone = false
    const deafAt = this.#clock.now() + DEAF_AFTER
    for (;;) {
      const { rows } = await this.#session.query<{ entered: boolean }>(ENTER, [this.#channel, ENTERING])
      if (rows[0]!.entered) return
      if (this.#clock.now() > deafAt) await this.#session.query(END_ALONE)
      await this.#clock.sleep(ENTER_POLL)
    }
  }
}
