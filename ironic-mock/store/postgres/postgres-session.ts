import type { Client, Notification, QueryConfig, QueryResult, QueryResultRow } from 'pg'
import { defined, errorChain, type Clock, type Logger } from '../../../base/runtime/index.js'
import { DatabaseUnavailable } from '../store.js'
import { dropConnection } from './connect-database.js'
import type { DatabaseSession, SessionWatcher } from './database-session.js'
import { isOfServer } from './is-of-server.js'
import type { Statement } from './row-statements.js'

export interface SessionParts {
  connect: () => Promise<Client>
  /** The clock of the wall: databases have no lab time. */
  clock: Clock
  logger: Logger
  /** Hears the payload of each notification of {@link CHANNEL}, and a null where some may have been missed. */
  notified: (payload: string | null) => void
  /** Channel that is listened to. */
  channel: string
}

/** Milliseconds that a call waits for a database that is away. */
export const DATABASE_WAIT = 10_000

/**
 * Milliseconds that a statement may take: longer than the others let a silent process hold its locks. A link that is half
 * open, or stalled, is noticed by that alone, and there is time for another connection within {@link DATABASE_WAIT}.
 */
export const ANSWER_WAIT = 6000

/** Milliseconds that the server has to hear of the end of a connection. */
const GOODBYE_WAIT = 300

/** Milliseconds until a question is asked again whose connection has broken: the first and the longest wait. */
const AGAIN = { first: 20, longest: 500 }

/** Milliseconds between tries to connect again: the first and the longest wait. */
const RETRY = { first: 50, longest: 1000 }

interface WaitingCall {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

type OnResult = (error: Error | null, result: QueryResult | undefined) => void

/** Connects, and connects again whenever the connection breaks, until it is closed. */
export class PostgresSession implements DatabaseSession, AsyncDisposable {
  readonly #parts: SessionParts
  readonly #watchers = new Set<SessionWatcher>()
  readonly #waiting = new Set<WaitingCall>()
  #client: Client | undefined
  #isReady = false
  #isGathering = false
  #closed = false
  #generation = 0
  #stream = 0
  #answeredAt = -Infinity
  #backend: { pid: number; start: string } | null = null
  /** The backend of a connection that broke: it may still be at work. */
  #earlier: { pid: number; start: string } | null = null

  private constructor(parts: SessionParts) {
    this.#parts = parts
  }

  /** @throws the driver's error when the first connection fails */
  static async open(parts: SessionParts): Promise<PostgresSession> {
    const session = new PostgresSession(parts)
    await session.#begin(await parts.connect())
    await session.beginStream()
    return session
  }

  /** Begins another stream of changes of this process. */
  async beginStream(): Promise<void> {
    const { rows } = await this.query<{ stream: number }>('insert into streams default values returning stream')
    this.#stream = rows[0]!.stream
  }

  get stream(): number {
    return this.#stream
  }

  get generation(): number {
    return this.#generation
  }

  get backend(): number | null {
    return this.#backend?.pid ?? null
  }

  /** True while statements can be sent and every watcher has begun. */
  get isReady(): boolean {
    return this.#isReady
  }

  /** When the last statement was sent that was answered, in milliseconds of the wall's clock. */
  get answeredAt(): number {
    return this.#answeredAt
  }

  async query<Row extends QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<QueryResult<Row>> {
    if (!this.#client) throw new DatabaseUnavailable('the database is away')
    return this.#client.query<Row>(text, [...values])
  }

  /** Sends a statement behind those that were sent; `done` is called in their order, in the turn of the answer. */
  send({ name, text, values }: Partial<Statement> & Pick<Statement, 'text'>, done: OnResult): void {
    if (!this.#client) {
      this.#parts.clock.queueWork(() => done(new DatabaseUnavailable('the database is away'), undefined))
      return
    }
    const at = this.#parts.clock.now()
    const callback = (error: Error | null, result: QueryResult) => {
      if (!error) this.#answeredAt = at
      done(error, error ? undefined : result)
    }
    const config: QueryConfig = defined({ name, text, values: values && [...values] })
    this.#gather(this.#client)
    this.#client.query(config, callback)
  }

  /** Has all statements of one tick leave in one packet: by itself, the driver makes a system call for each. */
  #gather(client: Client): void {
    if (this.#isGathering) return
    this.#isGathering = true
    const { stream } = client.connection
    stream.cork()
    process.nextTick(() => {
      this.#isGathering = false
      stream.uncork()
    })
  }

  /**
   * Resolves when the database can be asked.
   *
   * @param limit milliseconds that are left of {@link DATABASE_WAIT}
   * @throws DatabaseUnavailable after the limit, and when the session ends
   */
  ready(limit = DATABASE_WAIT): Promise<void> {
    if (this.#isReady) return Promise.resolve()
    if (this.#closed) return Promise.reject(new DatabaseUnavailable('the database is closed'))
    return new Promise((resolve, reject) => {
      const settle = (answer: () => void): void => {
        this.#waiting.delete(call)
        late[Symbol.dispose]()
        answer()
      }
      const call: WaitingCall = {
        resolve: () => settle(resolve),
        reject: (error) => settle(() => reject(error)),
      }
      const late = this.#parts.clock.timer(Math.max(0, limit), () =>
        call.reject(new DatabaseUnavailable('the database cannot be reached')),
      )
      this.#waiting.add(call)
    })
  }

  /**
   * Does some work that changes nothing, or nothing a second time, again while its connection breaks.
   *
   * @throws DatabaseUnavailable after {@link DATABASE_WAIT}
   */
  async patiently<T>(work: () => Promise<T>): Promise<T> {
    const { clock } = this.#parts
    const until = clock.now() + DATABASE_WAIT
    for (let wait = AGAIN.first; ; wait = Math.min(2 * wait, AGAIN.longest)) {
      await this.ready(until - clock.now())
      try {
        return await work()
      } catch (error) {
        // The end of a connection is heard of later than the errors of its questions.
        const isLost = !this.#isReady || !isOfServer(error)
        if (!isLost || this.#closed || clock.now() > until)
          throw new DatabaseUnavailable('the database does not answer', 'away', error)
        await clock.sleep(wait)
      }
    }
  }

  /** One statement that changes nothing. @throws DatabaseUnavailable */
  read<Row extends QueryResultRow>(text: string, values: readonly unknown[]): Promise<QueryResult<Row>> {
    return this.patiently(() => this.query<Row>(text, values))
  }

  async endUnlessAnswering(limit: number): Promise<boolean> {
    const { clock } = this.#parts
    const ended = new AbortController()
    const late = clock.sleep(limit, { weak: true, signal: ended.signal }).then(
      () => false,
      () => false,
    )
    const asked = this.query('select 1').then(
      () => true,
      () => false,
    )
    const isAnswering = await Promise.race([asked, late])
    ended.abort()
    if (!isAnswering) this.abandon()
    return isAnswering
  }

  watch(watcher: SessionWatcher): Disposable {
    this.#watchers.add(watcher)
    return { [Symbol.dispose]: () => void this.#watchers.delete(watcher) }
  }

  /** Ends the connection as a killed process would. */
  abandon(): void {
    const client = this.#close()
    if (client) dropConnection(client)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const client = this.#close()
    if (!client) return
    const ended = client.end().catch(() => {})
    await Promise.race([ended, this.#parts.clock.sleep(GOODBYE_WAIT, { weak: true })])
    dropConnection(client)
  }

  #close(): Client | undefined {
    const client = this.#client
    this.#closed = true
    this.#isReady = false
    this.#client = undefined
    this.#backend = null
    for (const call of [...this.#waiting]) call.reject(new DatabaseUnavailable('the database is closed'))
    return client
  }

  async #begin(client: Client): Promise<void> {
    const { rows } = await client.query<{ pid: number; start: string }>(
      'select pid, backend_start::text as start from pg_stat_activity where pid = pg_backend_pid()',
    )
    await this.#endEarlier(client)
    client.on('notification', ({ channel, payload }: Notification) => {
      if (channel === this.#parts.channel) this.#parts.notified(payload ?? null)
    })
    await client.query(`listen "${this.#parts.channel}"`)
    if (this.#closed) throw new DatabaseUnavailable('the database is closed')
    client.once('end', () => this.#ended(client))
    this.#client = client
    this.#backend = rows[0]!
    this.#generation++
    for (const watcher of this.#watchers) await watcher.begun()
    if (this.#client !== client) throw new DatabaseUnavailable('the database is away')
    this.#isReady = true
    for (const call of [...this.#waiting]) call.resolve()
    this.#parts.notified(null)
  }

  /** Ends the backend of the broken connection, and waits for it: a commit of it may be under way. */
  async #endEarlier(client: Client): Promise<void> {
    if (!this.#earlier) return
    const { pid, start } = this.#earlier
    for (;;) {
      const { rowCount } = await client.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and backend_start::text = $2',
        [pid, start],
      )
      if (rowCount === 0) break
      await this.#parts.clock.sleep(BACKEND_POLL)
    }
    this.#earlier = null
  }

  #ended(client: Client): void {
    if (this.#client !== client) return
    const wasReady = this.#isReady
    this.#client = undefined
    this.#isReady = false
    this.#earlier = this.#backend ?? this.#earlier
    this.#backend = null
    if (this.#closed || !wasReady) return
    this.#parts.logger('warn', 'the connection to the database is broken; connecting again')
    for (const watcher of this.#watchers) watcher.lost()
    void this.#connectAgain()
  }

  async #connectAgain(): Promise<void> {
    const { connect, clock, logger } = this.#parts
    for (let wait = RETRY.first; !this.#closed; wait = Math.min(2 * wait, RETRY.longest)) {
      let client: Client | undefined
      try {
        client = await connect()
        await this.#begin(client)
        logger('info', 'the database is back')
        return
      } catch (error) {
        if (client) this.#ended(client)
        void client?.end().catch(() => {})
        logger('warn', `the database cannot be reached: ${errorChain(error).join(': ')}`)
      }
      await clock.sleep(wait)
    }
  }
}

/** Milliseconds between looks at a backend that is ended. */
const BACKEND_POLL = 20
