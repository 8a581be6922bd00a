import {
  runContained,
  errorChain,
  waitInQueue,
  seconds,
  sharedAbort,
  urlSafeToken,
  UserError,
  type SharedAbort,
  type Clock,
  type Logger,
  type Random,
} from '../../../base/runtime/index.js'
import { ironicErrors, type NodeRecord } from '../../../base/wire/index.js'
import type { StoreView } from '../../store/open-store.js'
import { DanglingReference, Duplicate, StaleRevision, type Store, type StoredEffect } from '../../store/store.js'
import type { PlacedNode } from '../../members/shards.js'
import type { LeftWork, NodesOfShare, WorkShare } from '../../members/work-share.js'
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
  /** The nodes whose work is carried out here. */
  share: WorkShare
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
  readonly #working = new Map<string, NodeWork>()
  /** Nodes whose work is being taken up from an earlier process. */
  readonly #resuming = new Set<string>()
  readonly #stop = sharedAbort()
  readonly #watching: Disposable

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.queues = new NodeQueues(options.clock)
    this.#limits = new DeadlineTimers(options.clock, (node, kind) => {
      if (!this.#isOwn(node)) return
      if (kind === WAITING_HEARTBEAT) this.#takeWaitingHeartbeat(node)
      else this.#inBackground(node, kind, { kind: 'deadline', deadline: kind as DeadlineKind })
    })
    this.#watching = options.share.watch({
      gained: (nodes, left) => this.#takeUp(nodes, left),
      finishing: (nodes) => this.#finish(nodes),
      lost: (nodes) => this.#abandon(nodes),
      changed: (nodes) => {
        for (const node of nodes) this.follow(node)
      },
      gone: (hosts) => this.#releaseOf(new Set(hosts)),
      busy: () => this.#busyNodes(),
    })
  }

  /** True if the work of a node is this process's; true for one that is gone. */
  #isOwn(node: string): boolean {
    const { store, share } = this.#options
    const record = store.records.nodes.get(node)?.record
    return !record || share.owns(record)
  }

  #isAmong(node: string, nodes: NodesOfShare): boolean {
    const record = this.#options.store.records.nodes.get(node)?.record
    return record !== undefined && nodes(record)
  }

  *#busyNodes(): Iterable<PlacedNode> {
    for (const node of this.#working.keys()) {
      const record = this.#options.store.records.nodes.get(node)?.record
      if (record) yield record
    }
  }

  /** Takes over deadlines, reservations and jobs of an earlier process, as {@link recover} decides. */
  async #takeUp(nodes: NodesOfShare, left: LeftWork): Promise<void> {
    const { store } = this.#options
    for (const { node, kind, at } of await store.deadlines())
      if (kind !== WAITING_HEARTBEAT && this.#isAmong(node, nodes)) this.#limits.set(node, kind, at)
    const unfinished = [...store.records.nodes.values()].filter(
      ({ record }) => this.#isUnfinished(record, left) && nodes(record),
    )
    for (const { record } of unfinished) this.#resuming.add(record.uuid)
    await Promise.all(unfinished.map(({ record }) => this.#resume(record.uuid, left)))
    for (const node of [...store.records.deadlines.keys()])
      if (this.#isAmong(node, nodes)) this.#takeWaitingHeartbeat(node)
  }

  #isUnfinished({ uuid, reservation, ...node }: Readonly<NodeRecord>, left: LeftWork): boolean {
    const { store, share } = this.#options
    const hasWork = store.records.effects.has(uuid)
    if (reservation !== null) return share.mayRelease(reservation, left) || (hasWork && !share.isWhole)
    return hasWork || node.target_power_state !== null || STUCK.has(node.provision_state)
  }

  /** Takes over a node's reservation and job. */
  async #resume(node: string, left: LeftWork): Promise<void> {
    const { store, share } = this.#options
    const goesOn = left !== 'abandoned'
    try {
      const restarted = (): ConductorEvent => {
        const queued = store.records.effects.get(node)?.[0]
        // A job of an earlier version without a continuation here is dropped, like work that a kill interrupted.
        const job = queued && isKnownJob(jobOf(queued)) ? jobOf(queued) : null
        return { kind: 'restarted', job, goesOn }
      }
      await this.dispatch(node, restarted, { resumed: left !== 'rested' })
    } finally {
      this.#resuming.delete(node)
    }
    if (!share.isWhole) this.follow(node)
  }

  /** Goes on where a node was changed otherwise than by an event here. */
  follow(node: string): void {
    const { records } = this.#options.store
    if (!records.nodes.has(node) || !this.#isOwn(node)) return
    const limits = records.deadlines.get(node)
    for (const kind of DEADLINE_KINDS) this.#limits.set(node, kind, limits?.get(kind) ?? null)
    if (this.#resuming.has(node)) return
    if (records.effects.has(node)) this.#work(node, false)
    else this.#takeWaitingHeartbeat(node)
  }

  async #finish(nodes: NodesOfShare): Promise<void> {
    const running = [...this.#working].filter(([node]) => this.#isAmong(node, nodes))
    await Promise.all(running.map(([, { ended }]) => ended))
  }

  #abandon(nodes: NodesOfShare): void {
    for (const [node, { stop }] of this.#working) if (this.#isAmong(node, nodes)) stop.abort(new ShareLost(node))
    this.#limits.drop((node) => !this.#options.store.records.nodes.has(node) || this.#isAmong(node, nodes))
  }

  /** Releases the nodes that dead processes had reserved for calls of their own (ironic 39.0.0 _check_orphan_nodes). */
  #releaseOf(hosts: ReadonlySet<string>): void {
    const { store, share, logger } = this.#options
    const { nodes, effects } = store.records
    for (const { record } of nodes.values()) {
      const { uuid, reservation } = record
      if (reservation === null || !hosts.has(reservation) || effects.has(uuid)) continue
      if (this.#resuming.has(uuid) || !share.owns(record)) continue
      this.#resuming.add(uuid)
      this.#resume(uuid, 'abandoned').catch((error: unknown) => {
        if (!this.#stop.aborted)
          logger('error', `node ${uuid}, which ${reservation} had reserved, stays locked`, { error })
      })
    }
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
   * @param event a function makes it anew for each attempt, from what is stored then
   * @throws IronicError for an impossible request of a client; 404 when the node is gone
   */
  async dispatch(
    node: string,
    event: ConductorEvent | (() => ConductorEvent),
    { resumed = false, done, signal = this.#stop.signal }: DispatchOptions = {},
  ): Promise<Readonly<NodeRecord>> {
    const { queues } = this
    const { store, share, clock, logger } = this.#options
    // Taken only where others wait for the node: without them nothing is to be later than it was.
    let isQueued = queues.isBusy(node)
    if (isQueued) await queues.enter(node)
    try {
      for (;;) {
        signal.throwIfAborted()
        const entry = store.records.nodes.get(node)
        if (!entry) throw ironicErrors.nodeNotFound(node)
        // The job of this outcome was dropped while it ran.
        if (done && store.records.effects.get(node)?.[0]?.id !== done.id) return entry.record
        const situation = this.#situation(entry.record)
        const reaction = react(situation, typeof event === 'function' ? event() : event)
        const commit = commitOf(this.#options, situation.host, entry, reaction, done)
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
        if (share.owns(entry.record)) {
          for (const { kind, at } of reaction.deadlines) this.#limits.set(node, kind, at)
          if (reaction.job) this.#work(node, resumed)
          else this.#takeWaitingHeartbeat(node)
        }
        if (reaction.refusal) throw reaction.refusal
        return store.records.nodes.get(node)?.record ?? { ...entry.record, ...reaction.patch }
      }
    } finally {
      if (isQueued) queues.leave(node)
    }
  }

  /** Stops writing at once; resolves when no effect runs any more. */
  async close(): Promise<void> {
    const stopped = new UserError('conductor-stopped', 'the conductor has been stopped')
    this.#stop.abort(stopped)
    this.#watching[Symbol.dispose]()
    this.#limits.close()
    const running = [...this.#working.values()]
    for (const { stop } of running) if (!stop.aborted) stop.abort(stopped)
    await Promise.all(running.map(({ ended }) => ended))
  }

  /** Resolves when no effect of the node runs, here or in another process. */
  async idle(node: string, signal: AbortSignal): Promise<void> {
    await this.#working.get(node)?.ended
    const { store, clock } = this.#options
    while (!this.#isOwn(node) && store.records.effects.has(node)) await clock.sleep(IDLE_POLL_INTERVAL, { signal })
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
    const { store, clock, random, share, conf, ironicUrl, servedImages } = this.#options
    const templates = templatesOf(store.records, node)
    return {
      node,
      templates,
      ports: store.records.portsOf(node.uuid),
      at: clock.now(),
      host: share.holderOf(node) ?? share.host,
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
    if (!waits || records.nodes.get(node)?.record.reservation !== null || !this.#isOwn(node)) return
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
    const { store, share, clock, logger } = this.#options
    const stop = share.isWhole ? this.#stop : sharedAbort()
    const ended = waitInQueue(clock)
      .then(() => this.#drain(node, resumed, stop.signal))
      .catch((error: unknown) => {
        if (!stop.aborted) logger('error', `the work of node ${node} has stopped`, { error })
      })
      .finally(() => {
        this.#working.delete(node)
        // An effect that was queued after the last check found this node working and started nothing.
        if (store.records.effects.has(node) && !this.#stop.aborted && this.#isOwn(node) && !this.#resuming.has(node))
          this.#work(node, stop.aborted)
      })
    this.#working.set(node, { ended, stop })
  }

  async #drain(node: string, resumed: boolean, signal: AbortSignal): Promise<void> {
    const { store, share, effects, clock, logger } = this.#options
    let mayHaveRun = resumed
    let repeated: number | undefined
    for (;;) {
      const queued = store.records.effects.get(node)?.[0]
      const subject = this.subject(node)
      if (!queued || !subject || signal.aborted || !share.owns(subject.node)) return
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
        const settled = await this.#settle(node, queued, {
          job,
          outcome,
          mayRepeat: repeated !== queued.id,
          signal,
        })
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
    { job, outcome, mayRepeat, signal }: EffectSettlement,
  ): Promise<boolean> {
    try {
      await this.dispatch(node, { kind: 'outcome', job, outcome }, { done: queued, signal })
    } catch (error) {
      // A deleted node has no work.
      if (!this.#options.store.records.nodes.has(node)) return true
      if (signal.aborted || error instanceof WriteFailed) throw error
      // A client created the same port meanwhile; the repeated effect finds it.
      if (error instanceof Duplicate && mayRepeat) return false
      this.#options.logger('error', `the outcome of ${job.effect.kind} of node ${node} could not be handled`, { error })
      const failed: EffectOutcome = { ok: false, kind: job.effect.kind, reason: 'other', error: String(error) }
      await this.dispatch(node, { kind: 'outcome', job, outcome: failed }, { done: queued, signal })
    }
    return true
  }
}

interface DispatchOptions {
  /** The node's first effect may have run before, in a process that died. */
  resumed?: boolean
  /** The effect whose outcome is the event. Nothing changes when it is queued no more. */
  done?: StoredEffect
  /** Ends the attempts; default: the end of this conductor. */
  signal?: AbortSignal
}

/** The effects of a node as they run, one after the other. */
interface NodeWork {
  readonly ended: Promise<void>
  readonly stop: SharedAbort
}

interface EffectSettlement {
  readonly job: Job
  readonly outcome: EffectOutcome
  readonly mayRepeat: boolean
  readonly signal: AbortSignal
}

/** Another process works on the node. */
class ShareLost extends Error {
  override name = 'ShareLost'
  constructor(node: string) {
    super(`node ${node} is another process's now`)
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

/** Milliseconds between looks whether the effects of another process's node have ended. */
const IDLE_POLL_INTERVAL = 100

const DEADLINE_KINDS: readonly DeadlineKind[] = [
  'inspect callback',
  'clean callback',
  'deploy callback',
  'service callback',
  'rescue callback',
]

const STUCK = new Set<string>(STUCK_STATES)

/** The store holds jobs as JSON, written by {@link commitOf}. */
const jobOf = ({ payload }: StoredEffect): Job => payload as unknown as Job
