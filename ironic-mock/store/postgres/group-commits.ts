import type { Clock, Logger } from '../../../base/runtime/index.js'
import { DatabaseUnavailable, type DatabaseTrouble } from '../store.js'
import { Writer } from '../write.js'
import { ChangedRows, type RecordChanges } from './changed-rows.js'
import { DATABASE_WAIT, type PostgresSession } from './postgres-session.js'
import { IdReserve } from './id-reserve.js'
import { OrderedIds } from './ordered-ids.js'
import type { RecordFollower } from './record-follower.js'
import type { SoleProcess } from './sole-process.js'
import { COMMITTED, SentCommits, type Outcome } from './sent-commits.js'

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

/** Changes of some writes, and how their callers are answered once that is committed. */
interface WorkedOut {
  readonly changes: RecordChanges
  readonly answers: readonly (() => void)[]
  /** True if some of them are refused, which change nothing. */
  readonly hasRefusals: boolean
}

/** Writes of one transaction at most: more would wait too long for their answer. */
const LARGEST_GROUP = 256

/** Conflicts of one write until it is refused; each means that another process has written meanwhile. */
const MOST_CONFLICTS = 50

/** Groups that are under way at once: while the database writes one, this process works out the next. */
const GROUPS_AT_ONCE = 2

/** Conflicts of a group until its writes go one by one. */
const GROUP_CONFLICTS = 3

/**
 * Writes in transactions of all that is asked for while those before are under way. A write is worked out from
 * the records in memory; where another process was first, the database refuses the transaction, and the writes are
 * worked out again from what that process has written.
 */
export class GroupCommits {
  readonly #parts: CommitParts
  readonly #sent: SentCommits
  readonly #reserve: IdReserve
  readonly #writing = new Set<Promise<void>>()
  #waiting: QueuedWrite[] = []
  #isScheduled = false
  #closed = false
  /** Ends the wait of {@link close}. */
  #closing: (() => void) | undefined

  constructor(parts: CommitParts) {
    this.#parts = parts
    this.#sent = new SentCommits(parts)
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

  /** Resolves when the transactions that are under way have succeeded or failed. */
  async writesEnded(): Promise<void> {
    await Promise.all(this.#writing)
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
    while (!this.#closed && this.#parts.session.isReady && (this.#writing.size > 0 || this.#waiting.length > 0)) {
      this.#writeNext()
      await Promise.race([...this.#writing, broken])
    }
    this.abandon()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isFull || this.#waiting.length === 0) return
    this.#isScheduled = true
    this.#parts.wall.queueWork(() => {
      this.#isScheduled = false
      this.#writeNext()
    })
  }

  get #isFull(): boolean {
    return this.#writing.size >= GROUPS_AT_ONCE
  }

  #writeNext(): void {
    if (this.#isFull || this.#closed || !this.#parts.session.isReady) return
    const group = this.#waiting.splice(0, LARGEST_GROUP)
    if (group.length === 0) return
    const writing = this.#writeGroup(group).finally(() => {
      this.#writing.delete(writing)
      this.#schedule()
    })
    this.#writing.add(writing)
  }

  async #writeGroup(group: readonly QueuedWrite[]): Promise<void> {
    try {
      await this.#writeAll(group)
    } catch (error) {
      for (const write of group) settle(write, () => write.reject(error))
    }
  }

  async #writeAll(group: readonly QueuedWrite[]): Promise<void> {
    const { session, follower } = this.#parts
    const ids = new OrderedIds()
    let fetched: readonly number[] = []
    for (let conflicts = 0; ;) {
      await session.ready()
      if (follower.isLoading) await follower.catchUp()
      const open = group.filter(({ isSettled }) => !isSettled)
      ids.set(fetched.length > 0 ? fetched : this.#reserve.ready)
      const { changes, answers, hasRefusals } = this.#workOut(open, ids)
      if (ids.missing > 0) {
        fetched = await this.#reserve.fetch(ids.used + ids.missing)
        continue
      }
      // A transaction that is under way may allow it.
      if (hasRefusals ? this.#sent.isBusy : this.#sent.touches(changes)) {
        await this.#sent.answered()
        continue
      }
      if (fetched.length === 0) this.#reserve.take(ids.used)
      const outcome = isEmpty(changes) ? COMMITTED : await this.#send(changes, open)
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

  #send(changes: RecordChanges, writes: readonly QueuedWrite[]): Promise<Outcome> {
    return this.#sent.send(changes, () => {
      for (const write of writes) this.#limitWait(write, 'unconfirmed')
    })
  }

  /** Works the writes out from the records in memory, which are as before when this returns. */
  #workOut(group: readonly QueuedWrite[], ids: OrderedIds): WorkedOut {
    const { records } = this.#parts.follower.shared
    const changed = new ChangedRows(records)
    const writer = new Writer(changed, records, ids)
    const answers: (() => void)[] = []
    let hasRefusals = false
    for (const write of group)
      try {
        const value = write.apply(writer)
        answers.push(() => settle(write, () => write.resolve(value)))
      } catch (error) {
        hasRefusals = true
        answers.push(() => settle(write, () => write.reject(error)))
      }
    return { changes: changed.takeBack(), answers, hasRefusals }
  }

  async #begun(): Promise<void> {
    this.#schedule()
    await this.#sent.begun()
  }

  #lost(): void {
    this.#closing?.()
    for (const write of this.#waiting) this.#limitWait(write)
    this.#sent.lost()
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

function settle(write: QueuedWrite, answer: () => void): void {
  if (write.isSettled) return
  write.isSettled = true
  answer()
}

const isEmpty = ({ nodes, ports, resources, lists, inventories, history }: RecordChanges): boolean =>
  nodes.size + ports.size + resources.size + lists.size + inventories.size + history.length === 0
