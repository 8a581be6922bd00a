import { totalmem } from 'node:os'
import { Worker } from 'node:worker_threads'
import { packageFile, systemClock, seconds, UserError } from '../../base/runtime/index.js'
import { unpackError } from './crossing-error.js'
import type { ShardAnswer, Question, Request, Round, RoundReport, ThreadSettings } from './thread-messages.js'
import { shardFailed } from './shard-numbers.js'

/**
 * MiB of new objects between two collections. V8 collects after 16, which a shard of deployments fills in no time: with
 * more of them dead by then, a deployment costs a fifth less.
 */
const YOUNG_GENERATION_MIB = 64

/** A thread that does not close by itself within this time is ended. */
const THREAD_CLOSE_TIMEOUT = seconds(5)

interface PendingAnswer {
  shard: number
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** One worker thread with its shards: requests that wait for the next round, and those without an answer. */
export class Thread implements AsyncDisposable {
  readonly #worker: Worker
  readonly #shardSize: number
  readonly #asked = new Map<number, PendingAnswer>()
  readonly #ended: Promise<void>
  #requests = new Map<number, Request[]>()
  #round: { resolve: (report: RoundReport) => void } | undefined
  /** Why it works no more. */
  #error: unknown

  constructor(settings: ThreadSettings, file: string, threads: number) {
    this.#shardSize = settings.shardSize
    this.#worker = new Worker(file, {
      workerData: settings,
      execArgv: [],
      resourceLimits: {
        maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB,
        maxOldGenerationSizeMb: Math.max(1024, Math.floor(totalmem() / 2 ** 20 / threads)),
      },
    })
    this.#worker.unref()
    this.#worker.on('message', (report: RoundReport) => this.#reported(report))
    this.#worker.on('error', (error) => this.#fail(error))
    this.#ended = new Promise((resolve) =>
      this.#worker.on('exit', (code) => {
        this.#fail(new Error(`its thread ended with exit code ${code}`))
        resolve()
      }),
    )
  }

  /** Whether requests wait, or answers are owed. */
  get isBusy(): boolean {
    return this.#requests.size > 0 || this.#asked.size > 0
  }

  get hasRequests(): boolean {
    return this.#requests.size > 0
  }

  /** Asks a shard, in the next round, and waits for its answer. */
  ask(shard: number, request: Question): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#error !== undefined) return reject(this.#failure(shard))
      this.#asked.set(request.id, { shard, resolve, reject })
      this.post(shard, request)
    })
  }

  /** Asks a shard, in the next round, for something that has no answer. */
  post(shard: number, request: Request): void {
    if (this.#error !== undefined) return
    const requests = this.#requests.get(shard)
    if (requests) requests.push(request)
    else this.#requests.set(shard, [request])
  }

  /** Runs a round; its answers are delivered by {@link deliver}. */
  run(round: Omit<Round, 'requests'>): Promise<RoundReport> {
    return new Promise((resolve) => {
      if (this.#error !== undefined) return resolve(EMPTY_ROUND)
      this.#round = { resolve }
      this.#worker.ref()
      const requests = [...this.#requests]
      this.#requests = new Map()
      this.#worker.postMessage({ ...round, requests } satisfies Round)
    })
  }

  deliver(answers: readonly ShardAnswer[]): void {
    for (const answer of answers) {
      const asked = this.#asked.get(answer.id)
      this.#asked.delete(answer.id)
      if ('error' in answer) asked?.reject(unpackError(answer.error))
      else asked?.resolve(answer.value)
    }
  }

  /** Fails everything without an answer; the thread goes on. */
  refuse(error: unknown): void {
    for (const shard of new Set([...this.#asked.values()].map(({ shard }) => shard)))
      this.post(shard, { kind: 'forget' })
    for (const { reject } of this.#asked.values()) reject(error)
    this.#asked.clear()
  }

  #reported(report: RoundReport): void {
    this.#worker.unref()
    this.#round?.resolve(report)
    this.#round = undefined
  }

  #fail(error: unknown): void {
    this.#error ??= error
    for (const { shard, reject } of this.#asked.values()) reject(this.#failure(shard))
    this.#asked.clear()
    this.#requests.clear()
    this.#reported(EMPTY_ROUND)
  }

  #failure(shard: number): unknown {
    return this.#error instanceof UserError ? this.#error : shardFailed(shard, this.#shardSize, this.#error)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#fail(new UserError('disposed', 'the lab has been disposed of'))
    this.#worker.ref()
    this.#worker.postMessage('close')
    const late = new AbortController()
    const ended = this.#ended.then(() => late.abort())
    const closing = systemClock().sleep(THREAD_CLOSE_TIMEOUT, { signal: late.signal })
    await Promise.race([ended, closing.then(() => this.#worker.terminate()).catch(() => {})])
    await ended
  }
}

const EMPTY_ROUND: RoundReport = { answers: [], events: [], reached: 0, goesOn: false }

/** The program of a thread, always as the bundle has it: that starts in a third of the time of single modules. */
export const workerFile = (): string => packageFile('dist/bundle/lab-worker.js')
