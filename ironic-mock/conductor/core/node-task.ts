import { withoutPasswords } from '../../../base/bytes/index.js'
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
} from '../../../base/wire/index.js'
import type { Deadline, NodePatch } from '../../store/store.js'
import type { DeployImages } from '../flows/deploy/deploy-image-urls.js'
import type { Continuation, FlowMemos, FlowName } from './continuation.js'
import type { EffectBody, Job } from './effects.js'
import type { DeadlineKind } from './conductor-events.js'
import type { ConductorConf } from './conductor-conf.js'
import { formatTimestamp, parseTimestamp } from './timestamps.js'
import { MIN_DEADLINE_DELAY } from './deadline-timers.js'
import { transition, type TransitionEvent } from './transitions.js'

/** Input of a reaction. */
export interface Situation {
  readonly node: Readonly<NodeRecord>
  readonly ports: readonly PortRecord[]
  /** Deploy templates that the traits in `instance_info` name. */
  readonly templates?: readonly DeployTemplateRecord[]
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly host: string
  readonly conf: ConductorConf
  /** Kernel parameter `ipa-api-url` of ramdisks, without trailing slash. */
  readonly ironicUrl: string
  /** Ramdisk images of the image service. */
  readonly servedImages?: ((node: Readonly<NodeRecord>) => DeployImages | undefined) | undefined
  /** Makes a token for an agent that gets it with its boot image, before a lookup. */
  readonly newToken?: () => string
  /** Finds a runbook by its name or uuid. */
  readonly runbook?: (ident: string) => RunbookRecord | undefined
  /** True if a verb begins whose image is a container that can be booted, as its registry says. */
  readonly imageIsBootc?: boolean
  /** Reads a list that is stored beside the node. */
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

/** A port to create; {@link commitOf} adds uuid and id. */
export interface PortWanted {
  address: string
  pxe_enabled: boolean
  extra?: JsonObject
  local_link_connection?: JsonObject
  physical_network?: string | null
}

/** Result of an event, committed in one transaction. */
export interface Reaction {
  patch: NodePatch
  job: Job | null
  dropJobs: boolean
  /** Each lies in the future, so that none can pass again in the moment in which it passed. */
  deadlines: Deadline[]
  /** True when a heartbeat waits for the end of the reservation; null for no change. */
  heartbeatWaits: boolean | null
  history: HistoryNote[]
  createPorts: PortWanted[]
  updatePorts: PortRecord[]
  removePorts: string[]
  inventory: { inventory: JsonObject; plugin_data: JsonObject } | null
  /** Changed lists beside the node, each in full. */
  lists: Partial<NodeLists>
  /** Sentences for the operator's log. */
  warnings: string[]
  /** Error for the client, thrown after the changes are committed. */
  refusal: IronicError | null
}

const WAITING: Partial<Record<ProvisionState, { deadline: DeadlineKind; limit: (conf: ConductorConf) => number }>> = {
  'inspect wait': { deadline: 'inspect callback', limit: (conf) => conf.inspectWaitTimeout },
  'clean wait': { deadline: 'clean callback', limit: (conf) => conf.cleanCallbackTimeout },
  'service wait': { deadline: 'service callback', limit: (conf) => conf.serviceCallbackTimeout },
  'rescue wait': { deadline: 'rescue callback', limit: (conf) => conf.rescueCallbackTimeout },
  'wait call-back': { deadline: 'deploy callback', limit: (conf) => conf.deployCallbackTimeout },
}

/**
 * Collects one reaction. Flows read and change its copy of the node; {@link reaction} returns the differences. It has no
 * side effects, so that a reaction is a function of situation and event.
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
  readonly #lists: Partial<NodeLists> = {}

  constructor(situation: Situation) {
    this.situation = situation
    this.node = { ...situation.node }
  }

  get conf(): ConductorConf {
    return this.situation.conf
  }

  get uuid(): string {
    return this.node.uuid
  }

  /** The present in the database's format. */
  get now(): string {
    return formatTimestamp(this.situation.at)
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

  /** Moves the node along {@link transition}, and sets the times and time limits of the new state. */
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

  /** Restarts the time limit of the waiting state after a sign of life of the agent. */
  touch(): void {
    this.node.provision_updated_at = this.now
    this.#limit()
  }

  #limit(): void {
    const waiting = WAITING[this.node.provision_state]
    const limit = waiting?.limit(this.conf) ?? 0
    // Upstream fails nodes that have waited longer than the limit, so not yet at the limit itself.
    if (waiting && limit > 0) this.deadline(waiting.deadline, limit + 1)
  }

  /**
   * Sets a time limit, or with null removes it.
   *
   * @param wait milliseconds from now; less than {@link MIN_DEADLINE_DELAY} is as long as that
   */
  deadline(kind: DeadlineKind, wait: number | null): void {
    this.#deadlines.set(kind, wait === null ? null : this.situation.at + Math.max(wait, MIN_DEADLINE_DELAY))
  }

  /** Marks that a heartbeat waits for the end of the reservation, or no longer does. */
  heartbeatWaits(waits: boolean): void {
    this.#heartbeatWaits = waits
  }

  /** Starts the work of a verb and clears the last error, as ironic conductor/task_manager.py process_event does. */
  begin(event: TransitionEvent): void {
    this.process(event)
    this.node.last_error = null
  }

  /**
   * Clears the last error when other work starts or succeeds. Upstream clears it always; a failed state keeps its error
   * here, since clients that retry in that state would otherwise never show a reason.
   */
  forgetError(): void {
    const failed = this.node.provision_state.endsWith(' failed') || this.node.provision_state === 'error'
    if (!failed) this.node.last_error = null
  }

  /** Queues effects; the node stays reserved until {@link release}. */
  run<Flow extends FlowName, After extends keyof FlowMemos[Flow]>(
    effects: readonly [EffectBody, ...EffectBody[]],
    then: Continuation & { flow: Flow; after: After },
    ...[memo]: JsonObject extends FlowMemos[Flow][After] ? [] : [FlowMemos[Flow][After]]
  ): void {
    const [effect, ...rest] = effects
    this.runAgain({ effect, rest, then, memo: { ...memo } })
  }

  /** Queues an existing job. */
  runAgain(job: Job): void {
    this.#job = job
    this.node.reservation = this.situation.host
    if (job.effect.kind === 'power') this.#announcePower(job.effect.target)
  }

  #announcePower(target: string): void {
    const wanted = target === 'power off' || target === 'soft power off' ? 'power off' : 'power on'
    // A state that the record shows already gets no target power state, as recorded.
    if (this.node.power_state === wanted && (target === 'power on' || target === 'power off')) return
    this.node.target_power_state = wanted
    this.setInfo({ last_power_state_change: this.now })
  }

  /** Ends the work and the reservation. */
  release(): void {
    this.#job = null
    this.node.reservation = null
  }

  get isReserved(): boolean {
    return this.node.reservation !== null
  }

  /** Drops jobs that were queued earlier. */
  dropJobs(): void {
    this.#dropJobs = true
  }

  fail(error: string, event_type: string): void {
    this.node.last_error = error
    this.record('ERROR', error, event_type)
  }

  record(severity: HistoryNote['severity'], event: string, event_type: string): void {
    if (!this.conf.nodeHistory) return
    const { provision_state, target_provision_state, provision_updated_at } = this.node
    const since = provision_updated_at === null ? null : parseTimestamp(provision_updated_at)
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

  /** A list that is stored beside the node, with the changes of this reaction. */
  list<Kind extends NodeListKind>(kind: Kind): Readonly<NodeLists[Kind]> {
    return this.#lists[kind] ?? this.situation.readList?.(kind) ?? ([] as unknown as NodeLists[Kind])
  }

  setList<Kind extends NodeListKind>(kind: Kind, list: NodeLists[Kind]): void {
    if (JSON.stringify(list) !== JSON.stringify(this.list(kind))) Object.assign(this.#lists, { [kind]: list })
  }

  /** Refuses a request but keeps the changes made so far, as upstream does in places. */
  refuse(error: IronicError): void {
    this.#refusal = error
  }

  warn(sentence: string): void {
    this.#warnings.push(withoutPasswords(sentence))
  }

  reaction(): Reaction {
    const patch: NodePatch = {}
    for (const key of Object.keys(this.node) as (keyof NodeRecord)[])
      if (this.node[key] !== this.situation.node[key]) (patch as Record<string, unknown>)[key] = this.node[key]
    // Error messages quote URLs of the record, with their passwords.
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
      lists: this.#lists,
      warnings: this.#warnings,
      refusal: this.#refusal,
    }
  }
}
