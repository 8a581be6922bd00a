import { createHash } from 'node:crypto'
import type { VirtualClock } from '../../base/runtime/index.js'
import { ClockIdleError, defined, sharedAbort } from '../../base/runtime/index.js'
import { IPA_PACE } from '../../agent/index.js'
import { createStagedLab, type StagedLab } from '../create-lab.js'
import type { StagedNode } from '../lab-node.js'
import { REALISTIC_MACHINES } from '../realistic-pace.js'
import { packError } from './crossing-error.js'
import type { ShardAnswer, Question, Request, Round, RoundReport, ThreadSettings } from './thread-messages.js'

/**
 * A lab of a fixed number of nodes, one of many: an Ironic, machines, agents and a clock of its own. It stands still but
 * during {@link run}, so what happens in it does not depend on when a request comes in.
 */
export class Shard implements AsyncDisposable {
  readonly #lab: StagedLab<VirtualClock>
  readonly #nodes = new Map<number, StagedNode>()
  readonly #faults = new Map<number, Disposable>()
  readonly #owed = new Set<number>()
  readonly #answers: ShardAnswer[] = []
  readonly #events: RoundReport['events'] = []
  readonly #number: number
  #listening: Disposable | undefined
  #answered: () => void = () => {}

  private constructor(lab: StagedLab<VirtualClock>, number: number) {
    this.#lab = lab
    this.#number = number
  }

  static async open(number: number, { options, shardSize }: ThreadSettings): Promise<Shard> {
    const { realistic, seed = 1, ironic, ...rest } = options
    const lab = await createStagedLab({
      ...rest,
      clock: 'manual',
      seed: seedOf(seed, number),
      // A lab in threads shows events, and has neither a journal nor snapshots.
      journal: { capacity: 0 },
      rewinds: false,
      ...(realistic ? { machinePace: REALISTIC_MACHINES, agentPace: IPA_PACE } : {}),
      ...withLimits(ironic, shardSize),
    })
    return new Shard(lab, number)
  }

  /** Whether a request has no answer yet. */
  get owes(): boolean {
    return this.#owed.size > 0
  }

  /** Takes requests, and goes on to the next answer, or the time that the round ends at. */
  async run(requests: readonly Request[], { from, until, all }: Round): Promise<Omit<RoundReport, 'reached'>> {
    const { clock } = this.#lab
    // A shard that has fallen behind owes no answer.
    if (requests.length > 0 && clock.elapsed() < from) await clock.advance(from - clock.elapsed())
    for (const request of requests) this.#take(request)
    await clock.idle()
    const goesOn = this.#answers.length > 0 || ((this.owes || all) && (await this.#moves(until)))
    return { answers: this.#answers.splice(0), events: this.#events.splice(0), goesOn }
  }

  get elapsed(): number {
    return this.#lab.clock.elapsed()
  }

  /** @returns false when only weak timers are left, which are no reason for a clock to jump */
  async #moves(until: number): Promise<boolean> {
    const { clock } = this.#lab
    const left = () => until - clock.elapsed()
    if (left() <= 0) return true
    const limit = sharedAbort()
    const ended = clock.sleep(left(), { weak: true, signal: limit.signal }).catch(() => {})
    try {
      await clock.until(Promise.race([ended, new Promise<void>((resolve) => (this.#answered = resolve))]))
      return true
    } catch (error) {
      if (!(error instanceof ClockIdleError)) throw error
      // Time goes on while other shards have something to do.
      await clock.advance(left())
      return this.#answers.length > 0
    } finally {
      limit.abort()
    }
  }

  #take(request: Request): void {
    switch (request.kind) {
      case 'add-fault':
        this.#faults.set(request.fault, this.#lab.faults.add(request.settings))
        return
      case 'remove-fault':
        this.#faults.get(request.fault)?.[Symbol.dispose]()
        this.#faults.delete(request.fault)
        return
      case 'listen':
        this.#listening?.[Symbol.dispose]()
        this.#listening = request.on
          ? this.#lab.events.listen((event, at) => this.#events.push({ shard: this.#number, at, event }))
          : undefined
        return
      case 'forget':
        this.#owed.clear()
        return
      case 'open':
      case 'enroll':
      case 'get':
      case 'provision':
      case 'makeAvailable':
      case 'deploy':
      case 'settled': {
        const { id } = request
        this.#owed.add(id)
        this.#answer(request).then(
          (value) => this.#deliver({ id, value }),
          (error: unknown) => this.#deliver({ id, error: packError(error) }),
        )
      }
    }
  }

  async #answer(question: Question): Promise<unknown> {
    switch (question.kind) {
      case 'open':
        return undefined
      case 'enroll': {
        const { node: number, machine, fields, deployment } = question
        const node = await this.#lab.enroll({
          machine: machine ?? this.#lab.spec(number),
          ...deployment,
          ...defined({ fields }),
        })
        this.#nodes.set(number, node)
        return node.uuid
      }
      case 'provision':
        return this.#nodes.get(question.node)!.provision(question.target, question.more)
      case 'get':
      case 'makeAvailable':
      case 'deploy':
      case 'settled':
        return this.#nodes.get(question.node)![question.kind]()
    }
  }

  #deliver(answer: ShardAnswer): void {
    if (!this.#owed.delete(answer.id)) return
    this.#answers.push(answer)
    this.#answered()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lab[Symbol.asyncDispose]()
  }
}

/** A seed of its own for each shard. */
const seedOf = (seed: number, shard: number): number =>
  createHash('sha256').update(`${seed}/${shard}`).digest().readInt32BE()

/** Allows as many deployments and cleanings at once as a shard has nodes, unless Ironic's own options say otherwise. */
function withLimits(
  ironic: ThreadSettings['options']['ironic'],
  size: number,
): Pick<Parameters<typeof createStagedLab>[0] & object, 'ironic' | 'conf'> {
  if (!ironic) return { conf: { maxConcurrentDeploy: size, maxConcurrentClean: size } }
  const text = `[conductor]\nmax_concurrent_deploy = ${size}\nmax_concurrent_clean = ${size}\n`
  return { ironic: { ...ironic, files: [{ name: 'limits of a shard', text }, ...(ironic.files ?? [])] } }
}
