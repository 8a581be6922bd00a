import { withoutPasswords } from '../../../bytes/index.js'
import type {
  DeployTemplateRecord,
  IronicError,
  JsonObject,
  NodeRecord,
  PortRecord,
  ProvisionState,
  RunbookRecord,
  NodeLists,
  NodeListKind,
} from '../../../wire/index.js'
import type { Deadline, NodePatch } from '../../store/store.js'
import type { DeployImages } from '../flows/deploy/deploy-image-urls.js'
import type { Continuation, FlowMemos, FlowName } from './continuation.js'
import type { EffectBody, Job } from './effects.js'
import type { DeadlineKind } from './events.js'
import type { Policy } from './policy.js'
import { stamp, millis } from './stamp.js'
import { SHORTEST_WAIT } from './time-limits.js'
import { transition, type TransitionEvent } from './transitions.js'

/** What a reaction may look at. */
export interface Situation {
  readonly node: Readonly<NodeRecord>
  readonly ports: readonly PortRecord[]
  /** Deploy templates that the traits in `instance_info` name. */
  readonly templates?: readonly DeployTemplateRecord[]
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly host: string
  readonly policy: Policy
  /** What ramdisks are told as `ipa-api-url`, without trailing slash. */
  readonly ironicUrl: string
  /** Images that are served for a node's ramdisk, where somebody serves some. */
  readonly servedImages?: ((node: Readonly<NodeRecord>) => DeployImages | undefined) | undefined
  /** Makes a token for an agent that is told it before it asks. */
  readonly newToken?: () => string
  /** Finds a runbook by its name or uuid. */
  readonly runbook?: (ident: string) => RunbookRecord | undefined
  /** Reads a list that is kept beside the node. */
  readonly readList?: <Kind extends NodeListKind>(kind: Kind) => NodeLists[Kind]
}

export interface HistoryNote {
  severity: 'INFO' | 'ERROR'
  event: string
  event_type: string
  state: ProvisionState
  target_provision_state: ProvisionState | null
  /** Null when the node has never changed its state. */
  duration_seconds: number | null
}

/** A port to make; the shell gives it uuid and id. */
export interface PortWanted {
  address: string
  pxe_enabled: boolean
  extra?: JsonObject
  local_link_connection?: JsonObject
  physical_network?: string | null
}

/** What an event comes to: committed in one transaction. */
export interface Reaction {
  patch: NodePatch
  job: Job | null
  dropJobs: boolean
  /** Each lies in the future, so that none can pass again in the moment in which it passed. */
  deadlines: Deadline[]
  /** Whether a heartbeat waits for the end of the reservation; null leaves it as it was. */
  heartbeatWaits: boolean | null
  history: HistoryNote[]
  createPorts: PortWanted[]
  updatePorts: PortRecord[]
  removePorts: string[]
  inventory: { inventory: JsonObject; plugin_data: JsonObject } | null
  /** Lists beside the node, each as a whole. */
  lists: Partial<NodeLists>
  /** Sentences for the operator's log. */
  warnings: string[]
  /** Told to the client once what has changed nevertheless is kept. */
  refusal: IronicError | null
}

const WAITING: Partial<Record<ProvisionState, { deadline: DeadlineKind; limit: (policy: Policy) => number }>> = {
  'inspect wait': { deadline: 'inspect callback', limit: (policy) => policy.inspectWaitTimeout },
  'clean wait': { deadline: 'clean callback', limit: (policy) => policy.cleanCallbackTimeout },
  'service wait': { deadline: 'service callback', limit: (policy) => policy.serviceCallbackTimeout },
  'rescue wait': { deadline: 'rescue callback', limit: (policy) => policy.rescueCallbackTimeout },
  'wait call-back': { deadline: 'deploy callback', limit: (policy) => policy.deployCallbackTimeout },
}

/**
 * One reaction being worked out. Flows read and change the node as if it were theirs; {@link reaction} tells what came
 * of it. Nothing outside is touched, so the whole is a function of situation and event.
 */
export class NodeTask {
  readonly situation: Situation
  readonly node: NodeRecord
  #info: JsonObject | undefined
  #job: Job | null = null
  #dropJobs = false
  #deadlines = new Map<DeadlineKind, number | null>()
  #heartbeatWaits: boolean | null = null
  readonly #history: HistoryNote[] = []
  readonly createPorts: PortWanted[] = []
  readonly updatePorts: PortRecord[] = []
  readonly removePorts: string[] = []
  readonly #warnings: string[] = []
  #refusal: IronicError | null = null
  inventory: Reaction['inventory'] = null
  readonly #sheets: Partial<NodeLists> = {}

  constructor(situation: Situation) {
    this.situation = situation
    this.node = { ...situation.node }
  }

  get policy(): Policy {
    return this.situation.policy
  }

  get uuid(): string {
    return this.node.uuid
  }

  /** The present as the database writes it. */
  get now(): string {
    return stamp(this.situation.at)
  }

  /** `driver_internal_info`, for reading. */
  get info(): Readonly<JsonObject> {
    return this.node.driver_internal_info
  }

  setInfo(values: JsonObject): void {
    Object.assign(this.#ownInfo(), values)
  }

  dropInfo(...keys: string[]): void {
    if (keys.some((key) => key in this.info)) for (const key of keys) delete this.#ownInfo()[key]
  }

  #ownInfo(): JsonObject {
    return (this.#info ??= this.node.driver_internal_info = { ...this.node.driver_internal_info })
  }

  /** Moves the node along the table, with what every such move brings: times, time limits. */
  process(event: TransitionEvent): void {
    const from = this.node.provision_state
    const { state, target } = transition({ state: from, target: this.node.target_provision_state }, event)
    const left = WAITING[from]
    if (left) this.#deadlines.set(left.deadline, null)
    this.node.provision_state = state
    this.node.target_provision_state = target
    this.node.provision_updated_at = this.now
    this.#limit()
    if (state === 'inspecting') {
      this.node.inspection_started_at = this.now
      this.node.inspection_finished_at = null
    } else if (from === 'inspecting' || from === 'inspect wait') {
      if (state === 'manageable') this.node.inspection_finished_at = this.now
      if (state !== 'inspect wait') this.node.inspection_started_at = null
    }
  }

  /** The agent lives: the time limit of the waiting state begins anew. */
  touch(): void {
    this.node.provision_updated_at = this.now
    this.#limit()
  }

  #limit(): void {
    const waiting = WAITING[this.node.provision_state]
    const limit = waiting?.limit(this.policy) ?? 0
    // Upstream looks for nodes that have waited longer than the limit, so at the limit itself it is not over yet.
    if (waiting && limit > 0) this.deadline(waiting.deadline, limit + 1)
  }

  /**
   * Sets a time limit, or with null removes it.
   *
   * @param wait milliseconds from now; less than {@link SHORTEST_WAIT} is as long as that
   */
  deadline(kind: DeadlineKind, wait: number | null): void {
    this.#deadlines.set(kind, wait === null ? null : this.situation.at + Math.max(wait, SHORTEST_WAIT))
  }

  /** Marks the node: a heartbeat is taken up when the reservation ends. */
  heartbeatWaits(waits: boolean): void {
    this.#heartbeatWaits = waits
  }

  /** A verb begins its work: the error of the one before is history (Ironic's source). */
  begin(event: TransitionEvent): void {
    this.process(event)
    this.node.last_error = null
  }

  /**
   * Other work begins, or shows that all is well. Upstream forgets every error then; a state that failed keeps its own
   * here: clients that retry by it would go on for ever without saying why.
   */
  forgetError(): void {
    const failed = this.node.provision_state.endsWith(' failed') || this.node.provision_state === 'error'
    if (!failed) this.node.last_error = null
  }

  /** Queues effects; the node stays reserved until {@link rest}. */
  run<Flow extends FlowName, After extends keyof FlowMemos[Flow]>(
    effects: readonly [EffectBody, ...EffectBody[]],
    then: Continuation & { flow: Flow; after: After },
    ...[memo]: JsonObject extends FlowMemos[Flow][After] ? [] : [FlowMemos[Flow][After]]
  ): void {
    const [effect, ...rest] = effects
    this.runAgain({ effect, rest, then, memo: { ...memo } })
  }

  /** Queues a job that is there already. */
  runAgain(job: Job): void {
    this.#job = job
    this.node.reservation = this.situation.host
    if (job.effect.kind === 'power') this.#announcePower(job.effect.target)
  }

  #announcePower(target: string): void {
    const wanted = target === 'power off' || target === 'soft power off' ? 'power off' : 'power on'
    // Nothing is announced for a state that is thought to be reached already, as recorded.
    if (this.node.power_state === wanted && (target === 'power on' || target === 'power off')) return
    this.node.target_power_state = wanted
    this.setInfo({ last_power_state_change: this.now })
  }

  /** The work is over: nobody holds the node any more. */
  rest(): void {
    this.#job = null
    this.node.reservation = null
  }

  get resting(): boolean {
    return this.node.reservation === null
  }

  /** Forgets work that was queued earlier. */
  dropJobs(): void {
    this.#dropJobs = true
  }

  fail(error: string, event_type: string): void {
    this.node.last_error = error
    this.record('ERROR', error, event_type)
  }

  record(severity: HistoryNote['severity'], event: string, event_type: string): void {
    if (!this.policy.nodeHistory) return
    const { provision_state, target_provision_state, provision_updated_at } = this.node
    const since = provision_updated_at === null ? null : millis(provision_updated_at)
    const duration_seconds = since === null ? null : Math.max(0, Math.floor((this.situation.at - since) / 1000))
    this.#history.push({
      severity,
      event: withoutPasswords(event),
      event_type,
      state: provision_state,
      target_provision_state,
      duration_seconds,
    })
  }

  /** A list that is kept beside the node, as this turn leaves it. */
  list<Kind extends NodeListKind>(kind: Kind): Readonly<NodeLists[Kind]> {
    return this.#sheets[kind] ?? this.situation.readList?.(kind) ?? ([] as unknown as NodeLists[Kind])
  }

  setList<Kind extends NodeListKind>(kind: Kind, list: NodeLists[Kind]): void {
    if (JSON.stringify(list) !== JSON.stringify(this.list(kind))) Object.assign(this.#sheets, { [kind]: list })
  }

  /** Turns a request down without taking back what was written so far, as upstream now and then does. */
  refuse(error: IronicError): void {
    this.#refusal = error
  }

  warn(sentence: string): void {
    this.#warnings.push(withoutPasswords(sentence))
  }

  reaction(): Reaction {
    const patch: NodePatch = {}
    for (const key of Object.keys(this.node) as (keyof NodeRecord)[])
      if (this.node[key] !== this.situation.node[key]) Object.assign(patch, { [key]: this.node[key] })
    // Errors repeat URLs that the record has.
    if (typeof patch.last_error === 'string') patch.last_error = withoutPasswords(patch.last_error)
    if (typeof patch.maintenance_reason === 'string' && this.node.fault !== null)
      patch.maintenance_reason = withoutPasswords(patch.maintenance_reason)
    if (Object.keys(patch).length > 0) patch.updated_at = this.now
    return {
      patch,
      job: this.#job,
      dropJobs: this.#dropJobs,
      deadlines: [...this.#deadlines].map(([kind, at]) => ({ kind, at })),
      heartbeatWaits: this.#heartbeatWaits,
      history: this.#history,
      createPorts: this.createPorts,
      updatePorts: this.updatePorts,
      removePorts: this.removePorts,
      inventory: this.inventory,
      lists: this.#sheets,
      warnings: this.#warnings,
      refusal: this.#refusal,
    }
  }
}
