import { defined, errorChain, seconds } from '../../base/runtime/index.js'
import {
  copyJson,
  isRefusal,
  kubeTime,
  type ActorParts,
  type BareMetalHost,
  type ObjectName,
  type ReconcileResult,
  type ResourceController,
  type Secret,
  type WatchedKind,
} from '../../base/kubernetes/index.js'
import { Unexpected, type Calls } from '../provisioner/ironic-calls.js'
import { HOST_FINALIZER } from './actions.js'
import { isPaused } from './annotations.js'
import { publishEvents } from './host-events.js'
import { setConditions } from './host-conditions.js'
import { takesHostData } from './host-data.js'
import { hostInputs, secretsOf } from './host-inputs.js'
import { HostPass, type OperatorSettings, type PassParts, type Result } from './host-pass.js'
import { hostAccountOf, type AccountError } from './host-account.js'
import { claimSecret } from './host-secrets.js'
import { asManagedHost, setError, type ManagedHost } from './host-status.js'
import { HostStates } from './host-states.js'
import { OperatorMetrics } from './operator-metrics.js'
import { SeenObjects } from './seen-objects.js'

const BAREMETAL_OPERATOR = 'baremetal-operator'

export interface HostControllerParts extends ActorParts {
  metrics?: OperatorMetrics
  settings?: Partial<OperatorSettings>
}

/** Ramdisk of operators whose environment names none: simulated machines fetch none. */
const PLACEHOLDER_RAMDISK = {
  deployIso: 'http://images.invalid/ironic-python-agent.iso',
  deployKernel: 'http://images.invalid/ironic-python-agent.kernel',
  deployRamdisk: 'http://images.invalid/ironic-python-agent.initramfs',
}

/** The controller of BareMetalHosts (baremetalhost_controller.go); nothing that it keeps in memory outlives it with a meaning. */
export class HostController implements ResourceController {
  readonly name = BAREMETAL_OPERATOR
  readonly watches: readonly WatchedKind[] = [
    { kind: 'BareMetalHost', keysOf: (at) => this.#changed(at) },
    { kind: 'Secret', keysOf: (at) => this.#hostsOf(at) },
    // One is made for each host, and has its name.
    { kind: 'PreprovisioningImage' },
  ]
  /** Provisioning verbs that were requested, in order. */
  readonly asked: string[] = []
  readonly #parts: HostControllerParts
  readonly #calls: Calls
  readonly #settings: OperatorSettings
  readonly #metrics: OperatorMetrics
  /** Hosts as they were seen last, without their status. */
  readonly #seen = new SeenObjects()
  /** Errors of requests in a row, by host, and the last of them. */
  readonly #failures = new Map<string, { count: number; text: string }>()

  constructor(parts: HostControllerParts, calls: Calls) {
    this.#parts = parts
    this.#calls = calls
    this.#metrics = parts.metrics ?? new OperatorMetrics()
    this.#settings = {
      ramdisk: PLACEHOLDER_RAMDISK,
      buildsImages: false,
      mostDeployments: 5,
      mostBusy: 20,
      claimsHosts: false,
      ...parts.settings,
    }
  }

  /** updateEventHandler: a change of the status alone is no reason to look at a host again. */
  async #changed(at: ObjectName): Promise<ObjectName[]> {
    const found = await this.#parts.kube.find('BareMetalHost', at)
    const { uid, generation, finalizers, annotations, deletionTimestamp } = found?.metadata ?? {}
    return this.#seen.hasChanged(at, found && [uid, generation, finalizers, annotations, deletionTimestamp]) ? [at] : []
  }

  /** Hosts whose BMC is asked with a Secret, or whose ramdisk has its network configuration. */
  async #hostsOf({ name, namespace = '' }: ObjectName): Promise<ObjectName[]> {
    const { items } = await this.#parts.kube.list('BareMetalHost', { namespace })
    return items
      .map(asManagedHost)
      .filter(({ spec }) => spec.bmc?.credentialsName === name || spec['preprovisioningNetworkDataName'] === name)
      .map(({ metadata }) => ({ name: metadata.name, namespace }))
  }

  async reconcile(at: ObjectName, signal: AbortSignal): Promise<ReconcileResult> {
    const key = `${at.namespace ?? ''}/${at.name}`
    this.#metrics.count('metal3_reconcile_total', { namespace: at.namespace ?? '', host: at.name })
    try {
      const result = await this.pass(at)
      this.#failures.delete(key)
      return result
    } catch (error) {
      if (signal.aborted) return undefined
      this.#metrics.count('metal3_reconcile_error_total')
      // A locked node.
      if (error instanceof Unexpected && error.status === 409) return { again: seconds(3) }
      // Another host has marked the same Secret meanwhile, or a client has written the host.
      if (isRefusal(error, 409)) return { again: seconds(1) }
      return { again: this.#failed(key, error) }
    }
  }

  /** One pass over a host. @throws Error if the pass is to be repeated and the host shows no error */
  async pass(at: ObjectName): Promise<ReconcileResult> {
    const found = await this.#parts.kube.find('BareMetalHost', at)
    return found && this.#reconcileHost(asManagedHost(copyJson(found)))
  }

  /** The operator only logs such an error; the host shows none. Then the rate limiter of controller-runtime waits. */
  #failed(key: string, error: unknown): number {
    const text = errorChain(error).join(': ')
    const { count, text: last } = this.#failures.get(key) ?? { count: 0, text: '' }
    if (text !== last) this.#parts.logger('warn', `host ${key}: ${text}`)
    this.#failures.set(key, { count: count + 1, text })
    return Math.min(5 * 2 ** count, 1000_000)
  }

  async #reconcileHost(host: ManagedHost): Promise<ReconcileResult> {
    if (isPaused(host)) return undefined
    const dataParts = {
      kube: this.#parts.kube,
      save: (each: ManagedHost) => this.#save(each),
      publish: (each: ManagedHost, reason: string, message: string) =>
        publishEvents(this.#parts, each, [{ reason, message }]),
    }
    if (await takesHostData(dataParts, host)) return { again: 0 }
    const { kube } = this.#parts
    const { finalizers = [], deletionTimestamp } = host.metadata
    if (deletionTimestamp === undefined && !finalizers.includes(HOST_FINALIZER)) {
      const metadata = { ...host.metadata, finalizers: [...finalizers, HOST_FINALIZER] }
      await kube.update<'BareMetalHost'>({ ...host, spec: asWritten(host.spec), metadata })
      return { again: 0 }
    }
    const before = JSON.stringify(host.status)
    const secrets = await secretsOf(kube, host)
    const account = await this.#account(host, secrets)
    if ('error' in account) return this.#credentialsError(host, account)
    if (!(await this.#isReady())) {
      this.#metrics.count('metal3_provisioner_not_ready_total')
      return { again: seconds(30) }
    }
    const inputs = host.spec.bmc?.address ? hostInputs(host, secrets) : undefined
    const pass = new HostPass(this.#passParts(), host, {
      // A host without a BMC comes to no state that asks for it.
      host: inputs?.host as HostPass['host'],
      problems: inputs?.problems ?? new Map<string, string>(),
      withoutKey: inputs?.withoutKey ?? new Set<string>(),
      credentials: account.secret,
      secrets,
    })
    const result = await new HostStates(pass).reconcile()
    return this.#ended(pass, result, before)
  }

  #passParts(): PassParts {
    const { kube, clock, random, behaviours, announce } = this.#parts
    return {
      kube,
      calls: this.#calls,
      clock,
      random,
      behaviours,
      settings: this.#settings,
      metrics: this.#metrics,
      event: (does, because, document) =>
        announce({ actor: BAREMETAL_OPERATOR, does, ...defined({ because: because || undefined, document }) }),
      onAsk: (verb) => void this.asked.push(verb),
    }
  }

  async #ended(pass: HostPass, result: Result, before: string): Promise<ReconcileResult> {
    const { managed: host } = pass
    if (result.kind === 'gone') {
      await publishEvents(this.#parts, host, pass.requests.events)
      return undefined
    }
    const isOther = setConditions(host, await pass.knownNode(), this.#parts.clock)
    const isDirty = result.kind !== 'continue' || result.isDirty || isOther
    if (isDirty) {
      if (JSON.stringify(host.status) !== before) await this.#save(host)
      pass.saved()
    }
    await publishEvents(this.#parts, host, pass.requests.events)
    return { again: result.kind === 'complete' ? 0 : result.again }
  }

  async #save(host: ManagedHost): Promise<void> {
    const { kube, clock } = this.#parts
    host.status.lastUpdated = kubeTime(clock.now())
    await kube.updateStatus<'BareMetalHost'>(host)
  }

  /** buildAndValidateBMCCredentials; a host that is deleted does without. */
  async #account(
    host: ManagedHost,
    secrets: Map<string, Secret>,
  ): Promise<{ secret: Secret | undefined } | AccountError> {
    const { spec, metadata, status } = host
    const { state } = status.provisioning
    if (state === '' || state === 'unmanaged') return { secret: undefined }
    const isHeld = state !== 'deleting'
    const claim = async (name = '', owner: { owner?: ManagedHost } = {}): Promise<void> => {
      const found = secrets.get(name)
      if (found) secrets.set(name, await claimSecret(this.#parts.kube, found, { ...owner, isHeld }))
    }
    await claim(spec.bmc?.credentialsName, { owner: host })
    const account = hostAccountOf(host, secrets)
    if ('error' in account) return metadata.deletionTimestamp === undefined ? account : { secret: undefined }
    await claim(spec['preprovisioningNetworkDataName'] as string | undefined)
    return account
  }

  async #credentialsError(host: ManagedHost, { error, isMissing }: AccountError): Promise<ReconcileResult> {
    this.#metrics.count(isMissing ? 'metal3_credentials_missing_total' : 'metal3_credentials_invalid_total')
    if (host.status.errorMessage !== error || host.status.errorType !== 'registration error') {
      setError(host.status, 'registration error', error)
      await this.#save(host)
      this.#parts.announce({
        actor: BAREMETAL_OPERATOR,
        does: `waits for the account of ${host.metadata.name}`,
        because: error,
      })
    }
    await publishEvents(this.#parts, host, [{ reason: 'BMCCredentialError', message: error }])
    return isMissing ? { again: seconds(10) } : undefined
  }

  /** Any failure of the discovery means that Ironic is not ready: hosts keep their status. */
  async #isReady(): Promise<boolean> {
    try {
      await this.#calls.readyFor(this.#parts.clock)
      return true
    } catch (error) {
      this.#parts.logger('debug', `Ironic is not ready: ${errorChain(error).join(': ')}`)
      return false
    }
  }
}

/** A spec as Go writes it: with structures and lists that are not there. */
const asWritten = (spec: BareMetalHost['spec']): BareMetalHost['spec'] => ({
  bmc: { address: '', credentialsName: '' },
  ...spec,
  ...defined({
    raid: spec['raid'] ? { hardwareRAIDVolumes: null, softwareRAIDVolumes: null, ...spec['raid'] } : undefined,
  }),
})
