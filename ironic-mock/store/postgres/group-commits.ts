import { errorChain, type Clock, type Logger } from '../../../base/runtime/index.js'
import { DatabaseUnavailable, type DatabaseTrouble } from '../store.js'
import { Writer } from '../write.js'
import { ChangedRows, type RecordChanges } from './changed-rows.js'
import { IdReserve } from './id-reserve.js'
import { isOfServer } from './is-of-server.js'
import { DATABASE_WAIT, type PostgresSession } from './postgres-session.js'
import { OrderedIds } from './ordered-ids.js'
import type { RecordFollower } from './record-follower.js'
import { ROW_HAS_CHANGED } from './row-statements.js'
import type { SoleProcess } from './sole-process.js'
import { transactionOf } from './transaction.js'

interface CommitParts {
  readonly session: PostgresSession
  readonly sole: SoleProcess
  readonly follower: RecordFollower
  readonly channel: string
  /** The clock of the lab, which stands still while a write is under way. */
  readonly clock: Clock
  /** The clock of the wall. */
  readonly wall: Clock
  readonly logger: Logger
}

interface QueuedWrite {
  readonly apply: (writer: Writer) => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  /** Time of the wall until which the caller waits for a database that is away. */
  readonly until: number
  /** True once its caller has its answer. */
  isSettled: boolean
}

/** Outcome of one transaction. */
type Outcome =
  | { readonly is: 'committed' }
  /** Another process was first, or two waited for each other. */
  | { readonly is: 'conflict'; readonly error: Error }
  /** The connection broke: the database may have committed. */
  | { readonly is: 'broken' }
  | { readonly is: 'refused'; readonly error: Error }

interface UnansweredWrites {
  readonly changes: RecordChanges
  readonly seq: number
  readonly writes: readonly QueuedWrite[]
  readonly answer: (outcome: Outcome) => void
}

/** Writes of one transaction at most: more would wait too long for their answer. */
const LARGEST_GROUP = 256

/** Conflicts of one write until it is refused; each means that another process has written meanwhile. */
const MOST_CONFLICTS = 50

/** Conflicts of a group until its writes go one by one. */
const GROUP_CONFLICTS = 3

/**
 * Writes in transactions of all that is asked for while the transaction before is under way. A write is worked out from
 * the records in memory; where another process was first, the database refuses the transaction, and the writes are
 * worked out again from what that process has written.
 */
export class GroupCommits {
  readonly #parts: CommitParts
  readonly #ids = new OrderedIds()
  readonly #reserve: IdReserve
  #waiting: QueuedWrite[] = []
  #writing: Promise<void> | undefined
  #isScheduled = false
  #closed = false
  /** Ends the wait of {@link close}. */
  #closing: (() => void) | undefined
  /** Number of this process's last commit in its stream. */
  #seq = 0
  /** A transaction whose connection broke before the answer came. */
  #unanswered: UnansweredWrites | undefined

  constructor(parts: CommitParts) {
    this.#parts = parts
    this.#reserve = new IdReserve(parts.session, parts.sole)
    parts.session.watch({ begun: () => this.#begun(), lost: () => this.#lost() })
  }

  write<T>(apply: (writer: Writer) => T): Promise<T> {
    if (this.#closed) return Promise.reject(new Error('the store is closed'))
    const { clock, wall, session } = this.#parts
    const hold = clock.hold('writing the database')
    return new Promise<T>((resolve, reject) => {
      const write: QueuedWrite = {
        apply,
        resolve: resolve as (value: unknown) => void,
        reject,
        until: wall.now() + DATABASE_WAIT,
        isSettled: false,
      }
      this.#waiting.push(write)
      if (session.isReady) this.#schedule()
      else this.#limitWait(write)
    }).finally(() => hold[Symbol.dispose]())
  }

  /** Resolves when the transaction that is under way has succeeded or failed. */
  async writesEnded(): Promise<void> {
    await this.#writing
  }

  /** Drops what was not sent. */
  abandon(): void {
    this.#closed = true
    this.#waiting = []
    this.#closing?.()
  }

  /** Writes what is queued, and closes; a connection that breaks meanwhile is not waited for. */
  async close(): Promise<void> {
    const broken = new Promise<void>((resolve) => (this.#closing = resolve))
    while (!this.#closed && this.#parts.session.isReady && (this.#writing || this.#waiting.length > 0)) {
      this.#writeNext()
      await Promise.race([this.#writing, broken])
    }
    this.abandon()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#writing || this.#waiting.length === 0) return
    this.#isScheduled = true
    this.#parts.wall.queueWork(() => {
      this.#isScheduled = false
      this.#writeNext()
    })
  }

  #writeNext(): void {
    if (this.#writing || this.#closed || !this.#parts.session.isReady) return
    const group = this.#waiting.splice(0, LARGEST_GROUP)
    if (group.length > 0) this.#writing = this.#writeGroup(group)
  }

  async #writeGroup(group: readonly QueuedWrite[]): Promise<void> {
    try {
      await this.#writeAll(group)
    } catch (error) {
      for (const write of group) settle(write, () => write.reject(error))
    } finally {
      this.#writing = undefined
      this.#schedule()
    }
  }

  async #writeAll(group: readonly QueuedWrite[]): Promise<void> {
    const { session, follower } = this.#parts
    let fetched: readonly number[] = []
    for (let conflicts = 0; ;) {
      await session.ready()
      if (follower.isLoading) await follower.catchUp()
      const open = group.filter(({ isSettled }) => !isSettled)
      this.#ids.set(fetched.length > 0 ? fetched : this.#reserve.ready)
      const { changes, answers } = this.#workOut(open)
      if (this.#ids.missing > 0) {
        fetched = await this.#reserve.fetch(this.#ids.used + this.#ids.missing)
        continue
      }
      if (fetched.length === 0) this.#reserve.take(this.#ids.used)
      const outcome = isEmpty(changes) ? COMMITTED : await this.#transact(changes, open)
      if (outcome.is === 'committed') {
        for (const answer of answers) answer()
        return
      }
      if (outcome.is === 'refused') throw outcome.error
      if (outcome.is === 'broken') continue
      conflicts++
      await follower.catchUp()
      if (conflicts >= MOST_CONFLICTS)
        throw new DatabaseUnavailable('other processes were first each time', 'busy', outcome.error)
      if (conflicts < GROUP_CONFLICTS || open.length === 1) continue
      for (const write of open) await this.#writeAll([write]).catch((error: unknown) => write.reject(error))
      return
    }
  }

  /** Works the writes out from the records in memory, which are as before when this returns. */
  #workOut(group: readonly QueuedWrite[]): { changes: RecordChanges; answers: (() => void)[] } {
    const { records } = this.#parts.follower.shared
    const changed = new ChangedRows(records)
    const writer = new Writer(changed, records, this.#ids)
    const answers: (() => void)[] = []
    for (const write of group)
      try {
        const value = write.apply(writer)
        answers.push(() => settle(write, () => write.resolve(value)))
      } catch (error) {
        answers.push(() => settle(write, () => write.reject(error)))
      }
    return { changes: changed.takeBack(), answers }
  }

  /** Sends one transaction, with its commit, before the first answer. */
  #transact(changes: RecordChanges, writes: readonly QueuedWrite[]): Promise<Outcome> {
    const { session, follower, channel } = this.#parts
    const seq = this.#seq + 1
    return new Promise((resolve) => {
      let failure: Error | null = null
      const noted = (error: Error | null) => {
        failure ??= error
      }
      const note = { stream: session.stream, seq, channel }
      const statements = transactionOf(changes, follower.shared.versions, note)
      const last = statements.pop()!
      for (const statement of statements) session.send(statement, noted)
      session.send(last, (error, result) => {
        // The commit of a failed transaction succeeds, as a rollback.
        const isRolledBack = last.text === 'commit' && result?.command !== 'COMMIT'
        if (!error && !failure && !isRolledBack) {
          this.#applyOwn(changes, seq)
          return resolve(COMMITTED)
        }
        const outcome = outcomeOf(failure ?? error ?? new Error('the transaction was rolled back'))
        if (outcome.is !== 'broken') return resolve(outcome)
        this.#unanswered = { changes, seq, writes, answer: resolve }
        this.#limitUnanswered()
      })
    })
  }

  #applyOwn(changes: RecordChanges, seq: number): void {
    this.#seq = seq
    this.#parts.follower.shared.applyOwn(changes)
  }

  /**
   * Finds out what became of the transaction whose connection broke; its backend has ended. Where a standby is waited for, its
   * end has made the transaction visible before the standby had it: what is written after it has waited for both.
   */
  async #begun(): Promise<void> {
    const { session } = this.#parts
    const unanswered = this.#unanswered
    this.#unanswered = undefined
    this.#schedule()
    try {
      const { rows } = await session.query<{ seq: string }>(CONFIRM, [session.stream])
      const seq = Number(rows[0]?.seq ?? -1)
      const isCommitted = seq === unanswered?.seq
      if (isCommitted) this.#applyOwn(unanswered.changes, unanswered.seq)
      else if (seq < this.#seq) await this.#beginAgain()
      unanswered?.answer(isCommitted ? COMMITTED : { is: 'broken' })
    } catch (error) {
      this.#unanswered = unanswered
      throw error
    }
  }

  /** Goes on from a database that lacks changes of this process; others see by the number of its stream that it lacks them. */
  async #beginAgain(): Promise<void> {
    const { session, follower, logger } = this.#parts
    logger(
      'error',
      'the database lacks changes that it had confirmed, as after a restored backup or a fail-over without synchronous replication: ironstage goes on from what it has',
    )
    await session.beginStream()
    this.#seq = 0
    await follower.readAgain()
  }

  #lost(): void {
    this.#closing?.()
    for (const write of this.#waiting) this.#limitWait(write)
    // The errors of what was sent come before the end of the connection, while it still seems to be ready.
    this.#limitUnanswered()
  }

  #limitUnanswered(): void {
    for (const write of this.#unanswered?.writes ?? []) this.#limitWait(write, 'unconfirmed')
  }

  /** Refuses a write when the database stays away for too long. */
  #limitWait(write: QueuedWrite, trouble: DatabaseTrouble = 'away'): void {
    const { session, wall } = this.#parts
    session.ready(write.until - wall.now()).then(
      () => this.#schedule(),
      (error: unknown) => {
        this.#waiting = this.#waiting.filter((other) => other !== write)
        const refusal = new DatabaseUnavailable('the database cannot be reached', trouble, error)
        settle(write, () => write.reject(refusal))
      },
    )
  }
}

/** The number of this process's last commit, as one more commit has it. */
const CONFIRM = 'update streams set used = now() where stream = $1 returning seq'

const COMMITTED: Outcome = { is: 'committed' }

function settle(write: QueuedWrite, answer: () => void): void {
  if (write.isSettled) return
  write.isSettled = true
  answer()
}

const isEmpty = ({ nodes, ports, resources, lists, inventories, history }: RecordChanges): boolean =>
  nodes.size + ports.size + resources.size + lists.size + inventories.size + history.length === 0

/**
 * SQLSTATEs of what succeeds when it is worked out again: a row that has changed, a unique value or a reference that another
 * process was first with, a failed serialization, a deadlock.
 */
const CONFLICTS = new Set([ROW_HAS_CHANGED, '23505', '23503', '40001', '40P01'])

/** SQLSTATEs of a full disk, and of a server that takes no changes. */
const REFUSALS: Readonly<Record<string, DatabaseTrouble>> = { '53100': 'full', '25006': 'read-only' }

function outcomeOf(error: Error & { code?: string }): Outcome {
  const { code = '' } = error
  if (CONFLICTS.has(code)) return { is: 'conflict', error }
  // Not of the server at all, an administrator's end of the backend, a server that stops or starts.
  if (!isOfServer(error) || /^(57P0|08)/.test(code)) return { is: 'broken' }
  const trouble = REFUSALS[code]
  if (trouble) return { is: 'refused', error: new DatabaseUnavailable('the database takes no changes', trouble, error) }
  return { is: 'refused', error: new Error(`the database refused a change: ${errorChain(error).join(': ')}`) }
}
