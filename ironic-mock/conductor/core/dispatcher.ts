import {
  runContained,
  errorChain,
  waitInQueue,
  seconds,
  sharedAbort,
  urlSafeToken,
  UserError,
  type Clock,
  type Logger,
  type Random,
} from '../../../base/runtime/index.js'
import { ironicErrors, type NodeRecord } from '../../../base/wire/index.js'
import type { StoreView } from '../../store/open-store.js'
import { DanglingReference, Duplicate, StaleRevision, type Store, type StoredEffect } from '../../store/store.js'
import { commitOf, WAITING_HEARTBEAT } from './reaction-commit.js'
import { templatesOf } from '../steps/deploy-templates.js'
import type { Job, EffectOutcome } from './effects.js'
import type { ConductorEvent, DeadlineKind } from './conductor-events.js'
import { NodeQueues } from './node-queues.js'
import type { AgentSubject } from '../agents/perform-agent.js'
import type { EffectRunner } from './effect-runner.js'
import type { ConductorConf } from './conductor-conf.js'
import { isKnownJob, react } from './react.js'
import { type DeadlineTimersState, MIN_DEADLINE_DELAY, DeadlineTimers } from './deadline-timers.js'
import { STUCK_STATES } from './transitions.js'
import type { Situation } from './node-task.js'

export interface DispatcherOptions {
  store: Store & StoreView
  host: string
  conf: ConductorConf
  clock: Clock
  random: Random
  logger: Logger
  ironicUrl: () => string
  /** Images that are served for the ramdisk of a node, before configured ones. */
  servedImages?: Situation['servedImages']
  effects: EffectRunner
}

/**
 * Passes events to {@link react}, commits the reactions, runs the committed effects and dispatches their outcomes as the
 * next events. All state is in the store, so that a new process can continue from there.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #limits: DeadlineTimers
  /** Queues for events here and for changes on request of clients. */
  readonly queues: NodeQueues
  readonly #working = new Map<string, Promise<void>>()
  readonly #stop = sharedAbort()

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.queues = new NodeQueues(options.clock)
    this.#limits = new DeadlineTimers(options.clock, (node, kind) => {
      if (kind === WAITING_HEARTBEAT) this.#takeWaitingHeartbeat(node)
      else this.#inBackground(node, kind, { kind: 'deadline', deadline: kind as DeadlineKind })
    })
  }

  /** Takes over deadlines, reservations and jobs of an earlier process, as {@link recover} decides. */
  async recover(): Promise<void> {
    const { store, host } = this.#options
    for (const { node, kind, at } of await store.deadlines())
      if (kind !== WAITING_HEARTBEAT) this.#limits.set(node, kind, at)
    const left = [...store.records.nodes.values()].filter(
      ({ record }) =>
        (record.reservation === null || record.reservation === host) &&
        (record.reservation !== null ||
          record.target_power_state !== null ||
          STUCK.has(record.provision_state) ||
          store.records.effects.has(record.uuid)),
    )
    await Promise.all(
      left.map(({ record }) => {
        const queued = store.records.effects.get(record.uuid)?.[0]
        // A job of an earlier version without a continuation here is dropped, like work that a kill interrupted.
        const job = queued && isKnownJob(jobOf(queued)) ? jobOf(queued) : null
        return this.dispatch(record.uuid, { kind: 'restarted', job }, { resumed: true })
      }),
    )
    for (const node of [...store.records.deadlines.keys()]) this.#takeWaitingHeartbeat(node)
  }

  /** Takes over the time limits of a snapshot, at which no node was worked on. */
  restore(limits: DeadlineTimersState): void {
    this.#limits.restore(limits)
  }

  take(): DeadlineTimersState {
    return this.#limits.take()
  }

  /** Timers of the clock that are set for time limits. */
  get timers(): number {
    return this.#limits.timers
  }

  /** A node that is worked on. */
  get busyNode(): string | undefined {
    return this.#working.keys().next().value
  }

  /**
   * Handles one event of one node; resolves when the reaction is committed.
   *
   * @throws IronicError for an impossible request of a client; 404 when the node is gone
   */
  async dispatch(
    node: string,
    event: ConductorEvent,
    { resumed = false, done }: { resumed?: boolean; done?: StoredEffect } = {},
  ): Promise<Readonly<NodeRecord>> {
    const { queues } = this
    const { store, clock, logger } = this.#options
    // Taken only where others wait for the node: without them nothing is to be later than it was.
    let isQueued = queues.isBusy(node)
    if (isQueued) await queues.enter(node)
    try {
      for (;;) {
        this.#stop.signal.throwIfAborted()
        const entry = store.records.nodes.get(node)
        if (!entry) throw ironicErrors.nodeNotFound(node)
        // The job of this outcome was dropped while it ran.
        if (done && store.records.effects.get(node)?.[0]?.id !== done.id) return entry.record
        const reaction = react(this.#situation(entry.record), event)
        const commit = commitOf(this.#options, entry, reaction, done)
        if (!commit) {
          if (reaction.refusal) throw reaction.refusal
          return entry.record
        }
        try {
          await store.commit(commit)
        } catch (error) {
          if (error instanceof StaleRevision) {
            await waitInQueue(clock)
            if (!isQueued) {
              isQueued = true
              await queues.enter(node)
            }
            continue
          }
          if (error instanceof Duplicate || error instanceof DanglingReference) throw error
          throw new WriteFailed(node, error)
        }
        for (const warning of reaction.warnings) logger('warn', warning, { node })
        for (const { kind, at } of reaction.deadlines) this.#limits.set(node, kind, at)
        if (reaction.job) this.#work(node, resumed)
        else this.#takeWaitingHeartbeat(node)
        if (reaction.refusal) throw reaction.refusal
        return store.records.nodes.get(node)?.record ?? { ...entry.record, ...reaction.patch }
      }
    } finally {
      if (isQueued) queues.leave(node)
    }
  }

  /** Stops writing at once; resolves when no effect runs any more. */
  async close(): Promise<void> {
    this.#stop.abort(new UserError('conductor-stopped', 'the conductor has been stopped'))
    this.#limits.close()
    await Promise.all(this.#working.values())
  }

  /** Resolves when no effect of the node runs. */
  async idle(node: string): Promise<void> {
    await this.#working.get(node)
  }

  get stopped(): AbortSignal {
    return this.#stop.signal
  }

  subject(node: string): AgentSubject | undefined {
    const { records } = this.#options.store
    const entry = records.nodes.get(node)
    return entry && { node: entry.record, ports: records.portsOf(node) }
  }

  #situation(node: Readonly<NodeRecord>): Situation {
    const { store, clock, random, host, conf, ironicUrl, servedImages } = this.#options
    const templates = templatesOf(store.records, node)
    return {
      node,
      templates,
      ports: store.records.portsOf(node.uuid),
      at: clock.now(),
      host,
      conf,
      ironicUrl: ironicUrl(),
      servedImages,
      newToken: () => urlSafeToken(random),
      runbook: (ident) => store.records.resources('runbook').find(ident),
      readList: (kind) => store.nodeListNow(node.uuid, kind),
    }
  }

  /** Handles a heartbeat that waited for the end of the reservation, once the reservation has ended. */
  #takeWaitingHeartbeat(node: string): void {
    const { records } = this.#options.store
    const waits = records.deadlines.get(node)?.has(WAITING_HEARTBEAT) ?? false
    if (!waits || records.nodes.get(node)?.record.reservation !== null) return
    this.#options.clock.queueWork(() => this.#inBackground(node, WAITING_HEARTBEAT, { kind: 'released' }))
  }

  /** Dispatches an event that no caller waits for. When it fails (a full disk), it is repeated later. */
  #inBackground(node: string, kind: string, event: ConductorEvent): void {
    this.dispatch(node, event).catch((error: unknown) => {
      const { clock, conf, store, logger } = this.#options
      if (this.#stop.signal.aborted || !store.records.nodes.has(node)) return
      logger('error', `a ${event.kind} of node ${node} could not be handled`, { error })
      this.#limits.set(node, kind, clock.now() + Math.max(conf.checkInterval, MIN_DEADLINE_DELAY))
    })
  }

  /**
   * Runs the node's effects, one after the other, until none is queued.
   *
   * @param resumed the first may have run before, in a process that died
   */
  #work(node: string, resumed: boolean): void {
    if (this.#working.has(node)) return
    const working = waitInQueue(this.#options.clock)
      .then(() => this.#drain(node, resumed))
      .catch((error: unknown) => {
        if (!this.#stop.signal.aborted) this.#options.logger('error', `the work of node ${node} has stopped`, { error })
      })
      .finally(() => {
        this.#working.delete(node)
        // An effect that was queued after the last check found this node working and started nothing.
        if (this.#options.store.records.effects.has(node) && !this.#stop.signal.aborted) this.#work(node, false)
      })
    this.#working.set(node, working)
  }

  async #drain(node: string, resumed: boolean): Promise<void> {
    const { store, effects, clock, logger } = this.#options
    const { signal } = this.#stop
    let mayHaveRun = resumed
    let repeated: number | undefined
    for (;;) {
      const queued = store.records.effects.get(node)?.[0]
      const subject = this.subject(node)
      if (!queued || !subject || signal.aborted) return
      const job = jobOf(queued)
      const { kind } = job.effect
      const outcome = await runContained(`${kind} of node ${node}`, () =>
        effects.perform(subject, job.effect, mayHaveRun, signal),
      ).catch((error: unknown): EffectOutcome => ({
        ok: false,
        kind,
        reason: 'other',
        error: errorChain(error).join(': '),
      }))
      mayHaveRun = false
      try {
        const settled = await this.#settle(node, queued, { job, outcome, mayRepeat: repeated !== queued.id })
        if (!settled) repeated = queued.id
      } catch (error) {
        if (signal.aborted) return
        logger('error', `the work of node ${node} could not be saved; retrying`, { error })
        await clock.sleep(COMMIT_RETRY_DELAY, { signal })
        mayHaveRun = true
      }
    }
  }

  /**
   * Dispatches an outcome. A flow that throws on it gets a failure instead, so that a defect leaves no node reserved.
   *
   * @returns false when the effect has to run again
   */
  async #settle(
    node: string,
    queued: StoredEffect,
    { job, outcome, mayRepeat }: { job: Job; outcome: EffectOutcome; mayRepeat: boolean },
  ): Promise<boolean> {
    try {
      await this.dispatch(node, { kind: 'outcome', job, outcome }, { done: queued })
    } catch (error) {
      // A deleted node has no work.
      if (!this.#options.store.records.nodes.has(node)) return true
      if (this.#stop.signal.aborted || error instanceof WriteFailed) throw error
      // A client created the same port meanwhile; the repeated effect finds it.
      if (error instanceof Duplicate && mayRepeat) return false
      this.#options.logger('error', `the outcome of ${job.effect.kind} of node ${node} could not be handled`, { error })
      const failed: EffectOutcome = { ok: false, kind: job.effect.kind, reason: 'other', error: String(error) }
      await this.dispatch(node, { kind: 'outcome', job, outcome: failed }, { done: queued })
    }
    return true
  }
}

/** The database refuses all writes; the reaction is not the cause. */
class WriteFailed extends Error {
  override name = 'WriteFailed'
  constructor(node: string, cause: unknown) {
    super(`a change of node ${node} could not be written`, { cause })
  }
}

/** Wait before an effect runs again whose outcome could not be committed. */
const COMMIT_RETRY_DELAY = seconds(10)

const STUCK = new Set<string>(STUCK_STATES)

/** The store holds jobs as JSON, written by {@link commitOf}. */
const jobOf = ({ payload }: StoredEffect): Job => payload as unknown as Job
