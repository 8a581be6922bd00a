import { minutes, ClockIdleError, seconds } from '../../base/runtime/index.js'
import type { LabEvent } from '../lab-events.js'
import type { Question, RoundReport } from './thread-messages.js'
import type { Thread } from './thread.js'

/** Lab time that shards may be apart. It grows while no answer comes. */
const MIN_SHARD_STRIDE = seconds(1)
const MAX_SHARD_STRIDE = minutes(1)

const NOTHING_LEFT = 'waiting for something that can no longer happen: nothing is running and no timer is set'

/** A request before it has its number. */
export type Unnumbered<R> = R extends { id: number } ? Omit<R, 'id'> : never

/**
 * Lets all shards go on in rounds, as long as a caller waits: in each, a shard takes the requests for it and runs to its
 * next answer, or to the end of the stride. Answers are delivered when all threads have ended the round, so when a
 * request comes in depends on lab time alone, and not on which thread is how fast.
 */
export class ShardSteps {
  readonly #threads: readonly Thread[]
  readonly #emit: (event: LabEvent, at: number) => void
  readonly #waits = new Map<object, (error: unknown) => void>()
  #lastId = 0
  #running = false
  /** Lab time reached by every shard that a caller waits for; an idle shard catches up at its next request. */
  #time = 0

  constructor(threads: readonly Thread[], emit: (event: LabEvent, at: number) => void) {
    this.#threads = threads
    this.#emit = emit
  }

  /** The thread that has a shard. */
  threadOf(shard: number): Thread {
    return this.#threads[(shard - 1) % this.#threads.length]!
  }

  ask(shard: number, request: Unnumbered<Question>): Promise<unknown> {
    const answer = this.threadOf(shard).ask(shard, { ...request, id: ++this.#lastId })
    this.#start()
    return answer
  }

  /** Waits for anything while the clocks of all shards move. */
  wait<T>(awaited: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const key = {}
      this.#waits.set(key, reject)
      awaited.then(resolve, reject).finally(() => this.#waits.delete(key))
      this.#start()
    })
  }

  #start(): void {
    if (this.#running) return
    this.#running = true
    void this.#run().finally(() => (this.#running = false))
  }

  async #run(): Promise<void> {
    let stride = MIN_SHARD_STRIDE
    let until = this.#time + stride
    let reached = this.#time
    // Callers ask for several things at once.
    await promisesRunDry()
    while (this.#isAwaited) {
      const round = { from: this.#time, until, all: this.#waits.size > 0 }
      const busy = this.#threads.filter((thread) => round.all || thread.isBusy)
      const reports = await Promise.all(busy.map((thread) => thread.run(round)))
      this.#emitAll(reports)
      for (const [index, { answers }] of reports.entries()) busy[index]!.deliver(answers)
      await promisesRunDry()
      reached = Math.max(reached, ...reports.map((report) => report.reached))
      if (reports.some(({ answers }) => answers.length > 0)) stride = MIN_SHARD_STRIDE
      else if (this.#threads.some((thread) => thread.hasRequests)) continue
      else if (reports.some(({ goesOn }) => goesOn)) {
        this.#time = until
        stride = Math.min(2 * stride, MAX_SHARD_STRIDE)
        until += stride
      } else this.refuse(new ClockIdleError(NOTHING_LEFT))
    }
    this.#time = Math.max(this.#time, reached)
  }

  get #isAwaited(): boolean {
    return this.#waits.size > 0 || this.#threads.some((thread) => thread.isBusy)
  }

  #emitAll(reports: readonly RoundReport[]): void {
    const events = reports.flatMap((report) => report.events)
    // Sorting is stable: a shard's own events stay in their order.
    events.sort((one, other) => one.at - other.at || one.shard - other.shard)
    for (const { event, at } of events) this.#emit(event, at)
  }

  /** Fails every request without an answer, and every wait. */
  refuse(error: unknown): void {
    for (const thread of this.#threads) thread.refuse(error)
    for (const reject of this.#waits.values()) reject(error)
    this.#waits.clear()
  }
}

/** Waits until callers have done what an answer lets them do, as a virtual clock does. */
async function promisesRunDry(): Promise<void> {
  for (let quiet = 0; quiet < 2; quiet++) await new Promise((resolve) => setImmediate(resolve))
}
