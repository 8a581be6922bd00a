import type { Clock, Random } from '../../base/runtime/index.js'
import { defined, seconds } from '../../base/runtime/index.js'
import { NodeRequests, type HostPassResult } from '../provisioner/node-requests.js'
import { Phases } from '../provisioner/phases.js'
import type { Calls } from '../provisioner/ironic-calls.js'
import type { RequestedHost, HostStatus, RamdiskSource } from '../provisioner/host-data-model.js'
import type { ApiNode } from '../../base/wire/index.js'
import type { Secret, HostErrorType, KubeClient, Behaviours, ProvisioningState } from '../../base/kubernetes/index.js'
import { BACKS_OFF } from './baremetal-behaviours.js'
import { badRebootValues, rebootRequest } from './annotations.js'
import { FAILURE_REASONS } from './host-events.js'
import type { MetricLabels, MetricName, OperatorMetrics } from './operator-metrics.js'
import { inventoryOf, type HardwareDetails } from './hardware-details.js'
import { clearError, endOperation, setError, type ManagedHost } from './host-status.js'
import type { SwitchSettings } from './switch-config.js'

/** Settings of the operator: its command line and environment. */
export interface OperatorSettings {
  /** URLs of the ramdisk, where none is made for each host. */
  ramdisk: RamdiskSource
  /** A PreprovisioningImage is asked for each host (`-build-preprov-image`). */
  buildsImages: boolean
  /** Failed deployments in a row after which none is tried until the image changes (`-max-provisioning-retries`). */
  mostDeployments: number
  /** Hosts that boot over the network at once (`PROVISIONING_LIMIT`). */
  mostBusy: number
  /** HostClaims get hosts (`-hostclaims`). */
  claimsHosts: boolean
  /** Where the switches of Ironic's network service are written; undefined without it. */
  networking?: SwitchSettings | undefined
}

export interface PassParts {
  kube: KubeClient
  calls: Calls
  clock: Clock
  random: Random
  behaviours: Behaviours
  settings: OperatorSettings
  metrics: OperatorMetrics
  /** An act that the operator would publish as an event of the host. */
  event: (does: string, because?: string, document?: string) => void
  /** Verbs that Ironic was asked for. */
  onAsk: (verb: string) => void
}

/** How a pass over a host ended: action_result.go of the controller. */
export type Result =
  | { kind: 'continue'; again: number; isDirty: boolean }
  /** The state is done, or another one follows. */
  | { kind: 'complete' }
  | { kind: 'failed'; again: number }
  /** The host is deleted. */
  | { kind: 'gone' }

export const COMPLETE: Result = { kind: 'complete' }
export const GONE: Result = { kind: 'gone' }
export const continueAfter = (again: number, isDirty = false): Result => ({ kind: 'continue', again, isDirty })

/** The host has no node. Its status stays as it is, and the pass is repeated. */
export class NeedsRegistration extends Error {
  override name = 'NeedsRegistration'
}

/** Work on one host, from reading it to writing its status. */
export class HostPass {
  readonly parts: PassParts
  readonly managed: ManagedHost
  /** Undefined for a host without a BMC. */
  readonly host: RequestedHost
  readonly problems: ReadonlyMap<string, string>
  readonly withoutKey: ReadonlySet<string>
  /** Undefined when the host is deleted and its account is unknown. */
  readonly credentials: Secret | undefined
  /** Secrets that the host names, by name. */
  readonly secrets: ReadonlyMap<string, Secret>
  readonly requests: NodeRequests
  readonly phases: Phases
  /** State that the requests to Ironic go by. */
  readonly working: HostStatus
  readonly #afterSave: (() => void)[] = []
  #node: ApiNode | undefined

  constructor(
    parts: PassParts,
    managed: ManagedHost,
    inputs: Pick<HostPass, 'host' | 'problems' | 'withoutKey' | 'credentials' | 'secrets'>,
  ) {
    Object.assign(this, inputs)
    this.host = inputs.host
    this.problems = inputs.problems
    this.withoutKey = inputs.withoutKey
    this.credentials = inputs.credentials
    this.secrets = inputs.secrets
    this.parts = parts
    this.managed = managed
    this.requests = new NodeRequests(parts.calls)
    const { provisioning, hardware } = managed.status
    const inventory = inventoryOf(hardware as HardwareDetails | undefined)
    this.working = defined({ id: provisioning.ID === '' ? undefined : provisioning.ID, hardware: inventory })
    this.phases = new Phases(this.requests, () => this.working)
  }

  get status(): ManagedHost['status'] {
    return this.managed.status
  }

  /** Secrets that stay for as long as the host does. */
  get held(): readonly Secret[] {
    const { spec } = this.managed
    const names = [spec.bmc?.credentialsName, spec['preprovisioningNetworkDataName'] as string | undefined]
    return names.flatMap((name) => this.secrets.get(name ?? '') ?? [])
  }

  hasError(type: HostErrorType): boolean {
    return this.status.errorType === type
  }

  /** Keeps the node that registering read: it is read once in a pass. */
  found(node: ApiNode): void {
    this.#node = node
  }

  /**
   * The node of the host.
   *
   * @throws NeedsRegistration if the host has no node
   */
  async node(): Promise<ApiNode> {
    const node = this.#node ?? (await this.findNode())
    if (!node) throw new NeedsRegistration('the host is not registered')
    return node
  }

  /** The node as far as it is known, for what is only shown. */
  async knownNode(): Promise<ApiNode | undefined> {
    return (this.requests.isStale ? undefined : this.#node) ?? this.findNode()
  }

  async findNode(): Promise<ApiNode | undefined> {
    const { ID: id } = this.status.provisioning
    if (id === '') return undefined
    return this.parts.calls.find<ApiNode>('reads the node', `/nodes/${id}`)
  }

  /** Tells something of the host, once the pass has ended well. */
  publish(reason: string, message: string): void {
    this.requests.publish(reason, message)
  }

  /** Counts something of the host, as soon as its status is written. */
  countSaved(name: MetricName, labels?: MetricLabels): void {
    this.#afterSave.push(() => this.parts.metrics.count(name, labels))
  }

  /** Ends the operation of a state; true if something ended. */
  endOperation(state: ProvisioningState): boolean {
    const ended = endOperation(this.status, state, this.parts.clock)
    if (!ended) return false
    const name: MetricName = `metal3_operation_${ended.operation}_duration_seconds`
    this.#afterSave.push(() => this.parts.metrics.observe(name, this.hostLabels, ended.time / 1000))
    return true
  }

  /** The status is written. */
  saved(): void {
    for (const act of this.#afterSave.splice(0)) act()
  }

  get hostLabels(): MetricLabels {
    const { namespace = '', name } = this.managed.metadata
    return { namespace, host: name }
  }

  /** The reboot that is asked for. @param isForced only one that ends an operation too */
  rebootRequest(options: { isForced: boolean }): ReturnType<typeof rebootRequest> {
    for (const value of badRebootValues(this.managed)) {
      const why = `could not parse reboot annotation (${value}) - invalid json, assuming soft-reboot`
      this.publish('InvalidAnnotationValue', why)
    }
    return rebootRequest(this.managed, options)
  }

  /** recordActionFailure: the host shows an error, and is tried again later and later. */
  fail(type: HostErrorType, message: string): Result {
    setError(this.status, type, message)
    const reason = FAILURE_REASONS[type]
    this.countSaved('metal3_host_error_total', { error_type: reason })
    this.publish(reason, message)
    this.parts.event(`reports ${this.managed.metadata.name}: ${type}`, message)
    return { kind: 'failed', again: this.backOff(this.status.errorCount) }
  }

  /** calculateBackoff of action_result.go: 2^n minutes, less up to the half. */
  backOff(errors: number): number {
    const { behaviours, random } = this.parts
    if (!behaviours.has(BACKS_OFF)) return seconds(1)
    return 2 ** Math.min(errors, 9) * (1 - random.next() / 2) * seconds(60)
  }

  /** An outcome of requests as a result; undefined once they are done. */
  result(outcome: HostPassResult, type: HostErrorType): Result | undefined {
    for (const verb of this.requests.asked.splice(0)) this.parts.onAsk(verb)
    if (outcome === 'done') return undefined
    if ('error' in outcome) return this.fail(type, outcome.error)
    return continueAfter(outcome.again, clearError(this.status))
  }

  /** Writes all but the status. */
  async save(change: (metadata: ManagedHost['metadata']) => Partial<ManagedHost['metadata']>): Promise<void> {
    const { managed, parts } = this
    const metadata = { ...managed.metadata, ...change(managed.metadata) }
    const written = await parts.kube.update<'BareMetalHost'>({ ...managed, metadata })
    managed.metadata = written.metadata
  }

  /** Removes a handled annotation; false if absent. */
  async removeAnnotation(name: string): Promise<boolean> {
    if (this.managed.metadata.annotations?.[name] === undefined) return false
    await this.save(({ annotations = {} }) => {
      const { [name]: _handled, ...rest } = annotations
      return { annotations: rest }
    })
    return true
  }
}
