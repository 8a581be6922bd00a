import type { Client } from 'pg'
import { errorChain, type Clock, type Logger } from '../../../base/runtime/index.js'
import { dropConnection } from './connect-database.js'
import { followChanges } from './follow-changes.js'
import { loadRecords, type StreamPositions } from './load-records.js'
import type { PostgresSession } from './postgres-session.js'
import type { SharedRecords } from './shared-records.js'
import type { SoleProcess } from './sole-process.js'

interface FollowerParts {
  readonly session: PostgresSession
  readonly sole: SoleProcess
  /** A further connection. */
  readonly connect: () => Promise<Client>
  /** The clock of the wall. */
  readonly clock: Clock
  readonly logger: Logger
}

/** Milliseconds between looks at the other streams, should a notification be lost. */
const LOOK_INTERVAL = 1000

/** Milliseconds between two looks that notifications ask for: at a high rate one look finds many changes. */
const NOTIFIED_INTERVAL = 3

/** Milliseconds between two prunings of the log. */
const PRUNE_INTERVAL = 60_000

/** A process that has seen no change for longer than the log goes back reads all again. */
const PRUNE = "delete from changes where at < now() - interval '10 minutes'"

/** Streams of processes that ended long ago. */
const FORGET_STREAMS = "delete from streams where used < now() - interval '1 day' and stream <> $1"

/** Keeps the records in memory equal to the database, with what other processes commit. */
export class RecordFollower {
  readonly #parts: FollowerParts
  readonly #listeners = new Set<(nodes: readonly string[]) => void>()
  readonly #timers: Disposable[] = []
  #shared: SharedRecords
  #positions: StreamPositions
  /** The look that the next callers share; it is not sent yet. */
  #next: Promise<void> | undefined
  /** A look of callers that is sent, and not answered. */
  #asking: Promise<void> | undefined
  #askedAt = -Infinity
  #soon: Disposable | undefined
  #loading: Promise<void> | undefined
  /** The connection over which all is read again. */
  #loader: Client | undefined
  #closed = false

  private constructor(parts: FollowerParts, shared: SharedRecords, positions: StreamPositions) {
    this.#parts = parts
    this.#shared = shared
    this.#positions = positions
    this.#timers.push(parts.session.watch({ begun: () => this.#checkPlaces(), lost: () => {} }))
    this.#repeat(LOOK_INTERVAL, () => this.#lookAround())
    this.#repeat(PRUNE_INTERVAL, () => this.#prune())
  }

  /** Reads all records. */
  static async open(parts: FollowerParts): Promise<RecordFollower> {
    const { shared, positions } = await loadRecords(parts.session)
    return new RecordFollower(parts, shared, positions)
  }

  get shared(): SharedRecords {
    return this.#shared
  }

  /** True while all records are read again: no commit may start from the old ones. */
  get isLoading(): boolean {
    return this.#loading !== undefined
  }

  watch(listener: (nodes: readonly string[]) => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /** Follows without a caller that waits, for a notification. */
  followSoon(): void {
    const { clock } = this.#parts
    const wait = this.#askedAt + NOTIFIED_INTERVAL - clock.now()
    if (wait <= 0) this.#follow()
    else this.#soon ??= clock.timer(wait, () => this.#follow(), { weak: true })
  }

  #follow(): void {
    if (this.#closed || !this.#parts.session.isReady) return
    // No request waits for this question: it asks one of its own.
    const look = this.#next ?? this.#askOnce()
    look.catch((error: unknown) => this.#warn(error))
  }

  #warn(error: unknown): void {
    if (!this.#closed && this.#parts.session.isReady)
      this.#parts.logger('warn', `changes of other processes could not be read: ${errorChain(error).join(': ')}`)
  }

  /** Looks even though nothing was heard, and whether there are others at all. */
  #lookAround(): void {
    this.#follow()
    if (!this.#closed) this.#parts.sole.take(() => this.#look()).catch((error: unknown) => this.#warn(error))
  }

  /**
   * Resolves when the records have all that was committed before the call. Calls that come together share one question,
   * which is asked after all of them.
   *
   * @throws DatabaseUnavailable
   */
  catchUp(): Promise<void> {
    const { session, sole } = this.#parts
    return sole.isAlone ? Promise.resolve() : session.patiently(() => this.#look())
  }

  close(): void {
    this.#closed = true
    for (const timer of [...this.#timers.splice(0), this.#soon]) timer?.[Symbol.dispose]()
    this.#listeners.clear()
    if (this.#loader) dropConnection(this.#loader)
  }

  /** Shares a question that is not sent yet; there is one at a time, so that at a high rate many share it. */
  #look(): Promise<void> {
    this.#next ??= (this.#asking?.catch(() => {}) ?? Promise.resolve()).then(
      () =>
        new Promise((resolve, reject) => {
          this.#parts.clock.queueWork(() => {
            this.#asking = this.#next
            this.#next = undefined
            this.#askOnce().then(resolve, reject)
          })
        }),
    )
    return this.#next
  }

  #askOnce(): Promise<void> {
    const ask = () => new Promise<void>((resolve, reject) => this.#ask(resolve, reject))
    // All that is being read may be of a moment before this call.
    return this.#loading ? this.#loading.then(ask) : ask()
  }

  #ask(resolve: () => void, reject: (error: unknown) => void): void {
    this.#soon?.[Symbol.dispose]()
    this.#soon = undefined
    this.#askedAt = this.#parts.clock.now()
    followChanges(this.#parts.session, this.#positions, {
      failed: reject,
      gap: () => void this.readAgain().then(resolve, reject),
      followed: (changes) => {
        if (changes) {
          this.#shared.applyFetched(changes.keys, changes.rows)
          const { keys, rows } = changes
          this.#tell([...new Set([...keys.nodes, ...keys.lists, ...rows.ports.map(({ record }) => nodeOf(record))])])
        }
        resolve()
      },
    })
  }

  /** Reads all records again. */
  readAgain(): Promise<void> {
    this.#loading ??= this.#reload().finally(() => (this.#loading = undefined))
    return this.#loading
  }

  /**
   * Reads all again when the database lacks changes that are known: it was restored from a backup, or is a former standby
   * that had not everything.
   */
  async #checkPlaces(): Promise<void> {
    const { session } = this.#parts
    const { rows } = await session.query<{ stream: number; seq: string }>('select stream, seq from streams')
    const stored = new Map(rows.map(({ stream, seq }) => [stream, Number(seq)]))
    const lacks = ([stream, seq]: readonly [number, number]): boolean =>
      stream !== session.stream && (stored.get(stream) ?? -1) < seq
    if ([...this.#positions].some(lacks)) await this.readAgain()
  }

  /** Reads all again on a connection of its own: over the session heartbeats go on, which write. */
  async #reload(): Promise<void> {
    const before = [...this.#shared.records.nodes.keys()]
    const client = await this.#parts.connect()
    this.#loader = client
    try {
      // Own commits are not followed, and new ones wait: those that are under way end before this is answered.
      await this.#parts.session.query('select 1')
      const { shared, positions } = await loadRecords(client)
      this.#shared = shared
      this.#positions = positions
      this.#tell([...new Set([...before, ...shared.records.nodes.keys()])])
    } finally {
      this.#loader = undefined
      void client.end().catch(() => {})
    }
  }

  #tell(nodes: readonly string[]): void {
    if (nodes.length > 0) for (const listener of this.#listeners) listener(nodes)
  }

  #prune(): void {
    const { session } = this.#parts
    if (!session.isReady) return
    const ignored = () => {}
    session.send({ text: 'update streams set used = now() where stream = $1', values: [session.stream] }, ignored)
    session.send({ text: PRUNE }, ignored)
    session.send({ text: FORGET_STREAMS, values: [session.stream] }, ignored)
  }

  #repeat(interval: number, work: () => void): void {
    const place = this.#timers.length
    const again = () => {
      work()
      if (!this.#closed) this.#timers[place] = this.#parts.clock.timer(interval, again, { weak: true })
    }
    this.#timers.push(this.#parts.clock.timer(interval, again, { weak: true }))
  }
}

const nodeOf = (portRecord: string): string => (JSON.parse(portRecord) as { node_uuid: string }).node_uuid
