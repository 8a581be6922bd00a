import { packError, type CrossingError } from './crossing-error.js'
import type { ShardAnswer, Request, Round, RoundReport, ThreadSettings } from './thread-messages.js'
import { Shard } from './shard.js'
import { shardFailed } from './shard-numbers.js'

/** A shard, or why there is none any more. */
interface ShardSlot {
  shard: Shard | undefined
  /** Requests without an answer, which fail with the shard. */
  readonly owed: Set<number>
  /** Why it does not work any more. */
  error?: CrossingError
  /** Ends its present round. */
  fail?: (error: unknown) => void
}

/** Runs the shards of one thread, each for itself, so that an error that nothing catches belongs to the one that runs. */
export class ShardRunner implements AsyncDisposable {
  readonly #settings: ThreadSettings
  readonly #shards = new Map<number, ShardSlot>()
  #running: ShardSlot | undefined
  #closed = false

  constructor(settings: ThreadSettings) {
    this.#settings = settings
  }

  async run(round: Round): Promise<RoundReport> {
    const report: RoundReport = { answers: [], events: [], reached: 0, goesOn: false }
    const requests = new Map(round.requests)
    for (const number of requests.keys())
      if (!this.#shards.has(number)) this.#shards.set(number, { shard: undefined, owed: new Set() })
    for (const [number, entry] of this.#shards) {
      if (this.#closed) break
      const asked = requests.get(number) ?? []
      for (const request of asked) if ('id' in request) entry.owed.add(request.id)
      if (asked.length === 0 && !round.all && !entry.shard?.owes && entry.owed.size === 0) continue
      await this.#runOne(number, entry, asked, round, report)
    }
    return report
  }

  /** An error that nothing has caught: the shard that runs has failed, and the others go on. */
  failed(error: unknown): void {
    if (!this.#running?.fail) throw error
    this.#running.fail(error)
  }

  async #runOne(number: number, entry: ShardSlot, asked: Request[], round: Round, report: RoundReport): Promise<void> {
    if (!entry.error) {
      this.#running = entry
      try {
        const failed = new Promise<never>((_, reject) => (entry.fail = reject))
        const ended = await Promise.race([failed, this.#goOn(number, entry, asked, round)])
        for (const { id } of ended.answers) entry.owed.delete(id)
        report.answers.push(...ended.answers)
        for (const event of ended.events) report.events.push(event)
        report.goesOn ||= ended.goesOn
        report.reached = Math.max(report.reached, entry.shard!.elapsed)
      } catch (cause) {
        entry.error = packError(shardFailed(number, this.#settings.shardSize, cause))
      } finally {
        this.#running = undefined
      }
    }
    const { error } = entry
    if (!error) return
    report.answers.push(...[...entry.owed].map((id): ShardAnswer => ({ id, error })))
    entry.owed.clear()
  }

  async #goOn(number: number, entry: ShardSlot, asked: Request[], round: Round): ReturnType<Shard['run']> {
    entry.shard ??= await Shard.open(number, this.#settings)
    return entry.shard.run(asked, round)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    const shards = [...this.#shards.values()].flatMap(({ shard }) => (shard ? [shard] : []))
    // One that has failed may fail to close.
    await Promise.allSettled(shards.map((shard) => shard[Symbol.asyncDispose]()))
  }
}
