import { errorChain, type Logger } from '../../../base/runtime/index.js'
import { DatabaseUnavailable, type DatabaseTrouble } from '../store.js'
import type { RecordChanges } from './changed-rows.js'
import { isOfServer } from './is-of-server.js'
import type { PostgresSession } from './postgres-session.js'
import type { RecordFollower } from './record-follower.js'
import { ROW_HAS_CHANGED, transactionOf } from './row-statements.js'

interface SentCommitParts {
  readonly session: PostgresSession
  readonly follower: RecordFollower
  readonly channel: string
  readonly logger: Logger
}

/** Outcome of one transaction. */
export type Outcome =
  | { readonly is: 'committed' }
  /** Another process was first, or two waited for each other. */
  | { readonly is: 'conflict'; readonly error: Error }
  /** The connection broke: the database has not committed. */
  | { readonly is: 'broken' }
  | { readonly is: 'refused'; readonly error: Error }

export const COMMITTED: Outcome = { is: 'committed' }

/** A transaction whose outcome is not known yet. */
interface SentCommit {
  readonly changes: RecordChanges
  /** Its number in the stream of this process. */
  readonly seq: number
  /** Uuids of all that it changes. */
  readonly touched: ReadonlySet<string>
  readonly answer: (outcome: Outcome) => void
  readonly outcome: Promise<Outcome>
  /** Called when its connection breaks before the answer comes. */
  readonly broken: () => void
  /** True once that has happened. */
  isUnanswered: boolean
}

/**
 * Transactions that are sent one behind another, each without waiting for those before it: the database works on one
 * while this process works on the next. Where one fails, those behind it do too, since its number is missing then.
 */
export class SentCommits {
  readonly #parts: SentCommitParts
  /** Those without an outcome, in the order in which they were sent. */
  #sent: SentCommit[] = []
  /** Number of this process's last commit in its stream. */
  #seq = 0
  /** Number of the last one that was sent and may succeed. */
  #lastSent = 0

  constructor(parts: SentCommitParts) {
    this.#parts = parts
  }

  /** True while there are some without an outcome. */
  get isBusy(): boolean {
    return this.#sent.length > 0
  }

  /** True if one of those without an outcome changes something of the same. */
  touches(changes: RecordChanges): boolean {
    if (this.#sent.length === 0) return false
    const touched = [...touchedBy(changes)]
    return this.#sent.some((other) => touched.some((uuid) => other.touched.has(uuid)))
  }

  /** Resolves when those without an outcome have one. */
  async answered(): Promise<void> {
    await Promise.all(this.#sent.map(({ outcome }) => outcome))
  }

  /**
   * Sends one transaction, with its commit, before the first answer.
   *
   * @param broken called when the connection breaks before the answer comes, and again when its end is known
   */
  send(changes: RecordChanges, broken: () => void): Promise<Outcome> {
    const { session, follower, channel } = this.#parts
    const seq = ++this.#lastSent
    const statements = transactionOf(changes, follower.shared.versions, { stream: session.stream, seq, channel })
    let answer!: SentCommit['answer']
    const outcome = new Promise<Outcome>((resolve) => (answer = resolve))
    const sent: SentCommit = { changes, seq, touched: touchedBy(changes), answer, outcome, broken, isUnanswered: false }
    this.#sent.push(sent)
    let failure: Error | null = null
    const last = statements.pop()!
    for (const statement of statements) session.send(statement, (error) => void (failure ??= error))
    session.send(last, (error, result) => {
      // The commit of a failed transaction succeeds, as a rollback.
      const isRolledBack = last.text === 'commit' && result?.command !== 'COMMIT'
      const cause = failure ?? error ?? (isRolledBack ? new Error('the transaction was rolled back') : null)
      const found = cause ? outcomeOf(cause) : COMMITTED
      if (found.is !== 'broken') return this.#end(sent, found)
      sent.isUnanswered = true
      broken()
    })
    return outcome
  }

  /** The connection has ended. The errors of what was sent have come before, while it still seemed to be ready. */
  lost(): void {
    for (const { isUnanswered, broken } of this.#sent) if (isUnanswered) broken()
  }

  /**
   * Finds out what became of those whose connection broke; its backend has ended. Where a standby is waited for, its end has
   * made a transaction visible before the standby had it: what is written after it has waited for both.
   */
  async begun(): Promise<void> {
    const { session } = this.#parts
    const unanswered = this.#sent.filter(({ isUnanswered }) => isUnanswered)
    const { rows } = await session.query<{ seq: string }>(CONFIRM, [session.stream])
    const seq = Number(rows[0]?.seq ?? -1)
    if (seq < this.#seq) await this.#beginAgain()
    for (const sent of unanswered) this.#end(sent, sent.seq <= seq ? COMMITTED : { is: 'broken' })
    this.#lastSent = this.#seq
  }

  #end(sent: SentCommit, outcome: Outcome): void {
    this.#sent = this.#sent.filter((other) => other !== sent)
    if (outcome.is === 'committed') {
      this.#seq = sent.seq
      this.#parts.follower.shared.applyOwn(sent.changes)
    } else this.#lastSent = Math.max(this.#seq, Math.min(this.#lastSent, sent.seq - 1))
    sent.answer(outcome)
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
}

/** The number of this process's last commit, as one more commit has it. */
const CONFIRM = 'update streams set used = now() where stream = $1 returning seq'

function touchedBy({ nodes, ports, resources, lists, inventories, history }: RecordChanges): Set<string> {
  const ofHistory = history.map(({ node }) => node)
  return new Set([
    ...nodes.keys(),
    ...ports.keys(),
    ...resources.keys(),
    ...lists.keys(),
    ...inventories.keys(),
    ...ofHistory,
  ])
}

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
