import type { Client, Notification, QueryConfig, QueryResult, QueryResultRow } from 'pg'
import { defined, errorChain, type Clock, type Logger } from '../../../base/runtime/index.js'
import { DatabaseUnavailable } from '../store.js'
import type { DatabaseSession, SessionWatcher } from './database-session.js'
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

/** Milliseconds between tries to connect again: the first and the longest wait. */
const RETRY = { first: 50, longest: 1000 }

type OnResult = (error: Error | null, result: QueryResult | undefined) => void

/** Connects, and connects again whenever the connection breaks, until it is closed. */
export class PostgresSession implements DatabaseSession, AsyncDisposable {
  readonly #parts: SessionParts
  readonly #watchers = new Set<SessionWatcher>()
  readonly #waiting = new Set<() => void>()
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
    const { rows } = await session.query<{ stream: number }>('insert into streams default values returning stream')
    session.#stream = rows[0]!.stream
    return session
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
   * @throws DatabaseUnavailable after {@link DATABASE_WAIT}
   */
  ready(): Promise<void> {
    if (this.#isReady) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const begun = () => {
        late[Symbol.dispose]()
        resolve()
      }
      const late = this.#parts.clock.timer(DATABASE_WAIT, () => {
        this.#waiting.delete(begun)
        reject(new DatabaseUnavailable('the database cannot be reached'))
      })
      this.#waiting.add(begun)
    })
  }

  watch(watcher: SessionWatcher): Disposable {
    this.#watchers.add(watcher)
    return { [Symbol.dispose]: () => void this.#watchers.delete(watcher) }
  }

  /** Ends the connection as a killed process would. */
  abandon(): void {
    this.#closed = true
    this.#isReady = false
    void this.#client?.end().catch(() => {})
    this.#client = undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#isReady = false
    const client = this.#client
    this.#client = undefined
    await client?.end().catch(() => {})
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
    client.once('end', () => this.#ended(client))
    this.#client = client
    this.#backend = rows[0]!
    this.#generation++
    for (const watcher of this.#watchers) await watcher.begun()
    if (this.#client !== client) throw new DatabaseUnavailable('the database is away')
    this.#isReady = true
    for (const begun of this.#waiting) begun()
    this.#waiting.clear()
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
