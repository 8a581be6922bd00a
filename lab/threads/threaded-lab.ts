import { defined, openInScope, type Scope, UserError } from '../../base/runtime/index.js'
import type { ApiNode, IronicClient } from '../../base/wire/index.js'
import { Events, type LabEvents, type LabEventListener } from '../lab-events.js'
import type { EnrollOptions, LabOptions } from '../lab.js'
import { checkData } from './plain-data.js'
import type { Question, Request } from './thread-messages.js'
import { ShardSteps, type Unnumbered } from './shard-steps.js'
import { shardOf } from './shard-numbers.js'
import { Thread, workerFile } from './thread.js'
import { ThreadedFaults } from './threaded-faults.js'
import type { ThreadedLab, ThreadedLabOptions, ThreadedNode } from './threaded-lab-types.js'

/**
 * Nodes of a shard. More share what a lab costs by itself; with fewer, less is under way at once in a thread, and the
 * shards of a lab are spread more evenly.
 */
const SHARD_SIZE = 250

/** Settings that only tests change. */
export interface ThreadedLabInternals {
  shardSize?: number
  /** The program of the threads. */
  file?: string
}

/** Options that belong to one thread, each with what to do instead. */
const OF_ONE_THREAD = {
  clock: 'its clocks jump over waits',
  managers: 'make a lab without threads to test steps of your own',
  listen: 'make a lab without threads for clients of other processes',
  liveImages: 'make a lab without threads to serve live images',
  logger: 'listen to its events',
} as const satisfies Partial<Record<keyof LabOptions, string>>

/**
 * Makes a lab of many thousands of nodes, for measurements. It consists of shards of 250 nodes by their order of enrollment,
 * which worker threads run. Each shard has an Ironic with a conductor of its own, as a large installation does, machines, a
 * clock and a seed, so a seed gives the same lab with any number of threads. Limits such as `max_concurrent_deploy` are those
 * of one conductor; by default they allow all nodes of a shard at once. Shards do not see each other: names and addresses
 * have to be unique for all nodes. The clocks of shards whose nodes a caller waits for are at most a second of lab time apart,
 * and up to a minute when nothing happens; another stands still, and follows when it gets a request. Events come in the order
 * of time in each such stretch, then of the shards. Options that cannot be copied to a thread are refused.
 *
 * @throws UserError for options that one thread alone can have, and an `ironic` that cannot be configured so
 */
export async function createThreadedLab(
  { threads, ...options }: ThreadedLabOptions,
  { shardSize = SHARD_SIZE, file = workerFile() }: ThreadedLabInternals = {},
): Promise<ThreadedLab> {
  checkThreads(threads, options)
  return openInScope(async (scope) => {
    const settings = { options, shardSize }
    const workers = Array.from({ length: threads }, () => scope.use(new Thread(settings, file, threads)))
    const lab = new ShardedLab(workers, shardSize, scope)
    await lab.open()
    return lab
  })
}

class ShardedLab implements ThreadedLab {
  readonly #steps: ShardSteps
  readonly #shardSize: number
  readonly #scope: Scope
  readonly #events = new Events(() => 0)
  /** Numbers of the shards that there are. */
  readonly #shards = new Set<number>()
  readonly #shardsOfNodes = new Map<string, number>()
  #nodes = 0
  #listeners = 0
  readonly faults: ThreadedFaults
  readonly events: LabEvents = { listen: (listener) => this.#listen(listener) }

  constructor(threads: readonly Thread[], shardSize: number, scope: Scope) {
    this.#steps = new ShardSteps(threads, (event, at) => this.#events.emit(event, at))
    this.#shardSize = shardSize
    this.#scope = scope
    this.faults = new ThreadedFaults({
      all: () => [...this.#shards],
      withNode: (uuid) => this.#shardsOfNodes.get(uuid),
      post: (shard, request) => this.#post(shard, request),
    })
  }

  /** Makes the first shard, which shows whether the options are right. */
  async open(): Promise<void> {
    try {
      await this.#ask(1, { kind: 'open' })
    } catch (error) {
      throw (error as Error).cause instanceof UserError ? (error as Error).cause : error
    }
  }

  async enroll({ machine, fields, ...deployment }: EnrollOptions = {}): Promise<ThreadedNode> {
    for (const [name, value] of Object.entries({ machine, fields, ...deployment })) checkData(name, value)
    const node = ++this.#nodes
    const shard = shardOf(node, this.#shardSize)
    const uuid = (await this.#ask(shard, {
      kind: 'enroll',
      node,
      deployment,
      ...defined({ machine, fields }),
    })) as string
    this.#shardsOfNodes.set(uuid, shard)
    return new NodeOfShard(uuid, node, (request) => this.#ask(shard, request))
  }

  wait<T>(awaited: Promise<T>): Promise<T> {
    return this.#steps.wait(awaited)
  }

  #ask(shard: number, request: Unnumbered<Question>): Promise<unknown> {
    this.#ensure(shard)
    return this.#steps.ask(shard, request)
  }

  #post(shard: number, request: Request): void {
    this.#steps.threadOf(shard).post(shard, request)
  }

  #ensure(shard: number): void {
    if (this.#shards.has(shard)) return
    this.#shards.add(shard)
    if (this.#listeners > 0) this.#post(shard, { kind: 'listen', on: true })
    this.faults.addTo(shard)
  }

  /** Threads send events only while a caller listens. */
  #listen(listener: LabEventListener): Disposable {
    const listening = this.#events.listen(listener)
    if (++this.#listeners === 1) this.#askForEvents(true)
    let over = false
    return {
      [Symbol.dispose]: () => {
        if (over) return
        over = true
        listening[Symbol.dispose]()
        if (--this.#listeners === 0) this.#askForEvents(false)
      },
    }
  }

  #askForEvents(on: boolean): void {
    for (const shard of this.#shards) this.#post(shard, { kind: 'listen', on })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#steps.refuse(new UserError('disposed', 'the lab has been disposed of'))
    await this.#scope[Symbol.asyncDispose]()
  }
}

class NodeOfShard implements ThreadedNode {
  readonly uuid: string
  readonly #number: number
  readonly #ask: (request: Unnumbered<Question>) => Promise<unknown>

  constructor(uuid: string, number: number, ask: (request: Unnumbered<Question>) => Promise<unknown>) {
    this.uuid = uuid
    this.#number = number
    this.#ask = ask
  }

  get(): Promise<ApiNode> {
    return this.#ask({ kind: 'get', node: this.#number }) as Promise<ApiNode>
  }

  async provision(target: string, more?: Parameters<IronicClient['provision']>[2]): Promise<void> {
    checkData(`the argument of ${target}`, more)
    await this.#ask({ kind: 'provision', node: this.#number, target, ...defined({ more }) })
  }

  async makeAvailable(): Promise<void> {
    await this.#ask({ kind: 'makeAvailable', node: this.#number })
  }

  async deploy(): Promise<void> {
    await this.#ask({ kind: 'deploy', node: this.#number })
  }

  settled(): Promise<ApiNode> {
    return this.#ask({ kind: 'settled', node: this.#number }) as Promise<ApiNode>
  }
}

function checkThreads(threads: number, options: LabOptions): void {
  if (!Number.isInteger(threads) || threads < 1)
    throw new UserError('thread-count', `a lab has a whole number of threads from 1, not ${threads}`, { kind: 'usage' })
  const { clock, ...rest } = options
  // The clock that such a lab has anyhow may be named.
  const asked: LabOptions = clock === 'auto' ? rest : options
  for (const [name, remedy] of Object.entries(OF_ONE_THREAD))
    if (asked[name as keyof typeof OF_ONE_THREAD] !== undefined)
      throw new UserError('not-across-threads', `a lab in several threads has no ${name}`, { kind: 'usage', remedy })
  for (const [name, value] of Object.entries(rest)) checkData(name, value)
}
