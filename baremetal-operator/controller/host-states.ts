import type { ProvisioningState } from '../../base/kubernetes/index.js'
import * as actions from './actions.js'
import { detachmentOf, isInspectionAsked, isInspectionDisabled } from './annotations.js'
import { LIMITS_BUSY_HOSTS } from './baremetal-behaviours.js'
import { clearSettings, isCancelled, isManaged, needsProvisioning, wantedInstance } from './host-inputs.js'
import { COMPLETE, NeedsRegistration, continueAfter, type HostPass, type Result } from './host-pass.js'
import { beginOperation, clearError } from './host-status.js'
import { managePower } from './host-power.js'
import { ensureRegistered } from './register.js'

/** Failures after which a host that is deleted goes without what fails. */
const MAX_TOLERATED_FAILURES = 3

/** The state machine of a BareMetalHost (host_state_machine.go of baremetal-operator 02aa505). */
export class HostStates {
  readonly #pass: HostPass
  #next: ProvisioningState

  constructor(pass: HostPass) {
    this.#pass = pass
    this.#next = pass.status.provisioning.state
  }

  async reconcile(): Promise<Result> {
    const result = await this.#reconcile()
    return (await this.#enter()) ?? result
  }

  async #reconcile(): Promise<Result> {
    const pass = this.#pass
    const delayed = await this.#delayed()
    if (delayed) return delayed
    if (this.#beginsDelete()) return COMPLETE
    const detached = await this.#detached()
    if (detached) return detached
    const registered = await ensureRegistered(pass)
    if (!registered) return this.#handle()
    pass.parts.metrics.count('metal3_host_registration_required_total')
    return registered
  }

  /** updateHostStateFrom: the next state is entered, unless there are too many hosts in it. */
  async #enter(): Promise<Result | undefined> {
    const { status, parts, managed } = this.#pass
    const { provisioning } = status
    const before = provisioning.state
    const next = this.#next
    if (next === before) return undefined
    if (BUSY_HOST_STATES.has(next)) {
      const delayed = await this.#capacity(next)
      if (delayed) return delayed
    }
    this.#pass.endOperation(before)
    beginOperation(status, next, parts.clock)
    this.#pass.countSaved('metal3_provisioning_state_change_total', { prev_state: before, new_state: next })
    provisioning.state = next
    parts.event(`moves ${managed.metadata.name} ${before === '' ? '' : `from ${before} `}to ${next}`)
    if (['registering', 'inspecting', 'provisioning'].includes(next))
      provisioning.bootMode = (managed.spec['bootMode'] as string | undefined) ?? 'UEFI'
    return undefined
  }

  /** ensureCapacity: hosts that boot over the network are worked on few at a time. */
  async #capacity(next: ProvisioningState): Promise<Result | undefined> {
    const { host, parts, managed, status } = this.#pass
    if (host.bmc.takesIso || !parts.behaviours.has(LIMITS_BUSY_HOSTS)) return undefined
    const path = '/nodes?fields=uuid%2Cname%2Cprovision_state%2Cboot_interface'
    const { nodes } = await parts.calls.call<{ nodes: BusyNode[] }>('how many hosts are worked on?', 'GET', path)
    const busy = nodes.filter(
      ({ provision_state: state, boot_interface: boot }) =>
        BUSY_NODE_STATES.has(state) && !boot.includes('virtual-media'),
    )
    const { name, namespace = '' } = managed.metadata
    if (busy.length < parts.settings.mostBusy || busy.some((node) => node.name === `${namespace}~${name}`))
      return undefined
    parts.event(`delays ${name}`, `${busy.length} hosts boot over the network at once`)
    const counter =
      next === 'deprovisioning' ? 'metal3_delayed__deprovisioning_total' : 'metal3_delayed__provisioning_total'
    this.#pass.countSaved(counter, this.#pass.hostLabels)
    status.operationalStatus = 'delayed'
    return continueAfter(this.#pass.backOff(1), true)
  }

  async #delayed(): Promise<Result | undefined> {
    const { status } = this.#pass
    const isDelayed = status.operationalStatus === 'delayed'
    if (!isDelayed && !BUSY_HOST_STATES.has(status.provisioning.state)) return undefined
    const result = await this.#capacity(status.provisioning.state)
    if (result || !isDelayed) return result
    clearError(status)
    return continueAfter(0, true)
  }

  /** checkInitiateDelete: the state from which a deleted host goes on. */
  #beginsDelete(): boolean {
    const { managed, status } = this.#pass
    if (managed.metadata.deletionTimestamp === undefined) return false
    const to = (state: ProvisioningState): true => {
      this.#next = state
      return true
    }
    const detached = detachmentOf(managed)
    if (this.#next !== 'deleting' && (status.operationalStatus === 'detached' || detached)) {
      // Without the annotation the host is about to have a node again.
      if (!(detached?.delaysDelete ?? true)) return to('deleting')
      this.#pass.parts.metrics.count('metal3_delete_delayed_for_detached_total')
      return false
    }
    switch (this.#next) {
      case '':
      case 'unmanaged':
      case 'registering':
        return to('deleting')
      case 'provisioning':
      case 'provisioned':
        return to('deprovisioning')
      case 'deleting':
        return false
      case 'deprovisioning':
      case 'powering off before delete':
        return this.#pass.hasError('registration error') && status.errorCount > MAX_TOLERATED_FAILURES
          ? to('deleting')
          : false
      default:
        return to('powering off before delete')
    }
  }

  /** checkDetachedHost: a host with the annotation has no node, and keeps its state. */
  async #detached(): Promise<Result | undefined> {
    const { managed, status } = this.#pass
    const wanted = detachmentOf(managed)
    const { state } = status.provisioning
    const isSteady = ['provisioned', 'externally provisioned', 'available'].includes(state)
    if (wanted && state !== 'deleting' && (isSteady || wanted.isForced))
      return actions.detachHost(this.#pass, wanted.isForced && !isSteady)
    if (status.operationalStatus !== 'detached') return undefined
    status.operationalStatus = status.errorType === undefined ? 'OK' : 'error'
    return continueAfter(0, true)
  }

  async #handle(): Promise<Result> {
    const pass = this.#pass
    const { managed, status } = pass
    const then = async (action: Promise<Result>, next: ProvisioningState): Promise<Result> => {
      const result = await action
      return result === COMPLETE ? this.#to(next) : result
    }
    const isExternal = managed.spec['externallyProvisioned'] === true
    switch (status.provisioning.state) {
      case '':
        if (isManaged(managed)) return this.#to('registering')
        pass.publish('Discovered', 'Discovered host with no BMC details')
        pass.parts.metrics.count('metal3_host_unmanaged_total')
        status.operationalStatus = 'discovered'
        return this.#to('unmanaged')
      case 'unmanaged':
        return isManaged(managed) ? this.#to('registering') : continueAfter(actions.DETACHED_HOST_INTERVAL)
      case 'registering':
        return this.#to(
          isExternal ? 'externally provisioned' : isInspectionDisabled(managed) ? 'preparing' : 'inspecting',
        )
      case 'inspecting':
        return then(actions.inspectHost(pass), 'preparing')
      case 'preparing':
        return then(actions.prepareHost(pass), 'available')
      case 'available':
        return this.#available(isExternal)
      case 'externally provisioned':
        if (isExternal) return (await actions.adoptHost(pass)) ?? managePower(pass)
        Object.assign(status.provisioning, wantedInstance(managed))
        return this.#to('provisioned', false)
      case 'provisioning':
        return this.#provisioning()
      case 'provisioned':
        if (isCancelled(managed)) return this.#to('deprovisioning', false)
        return (await actions.adoptHost(pass)) ?? managePower(pass)
      case 'deprovisioning':
        return this.#leaving(
          actions.deprovisionHost(pass),
          managed.metadata.deletionTimestamp === undefined ? 'available' : 'powering off before delete',
        )
      case 'powering off before delete':
        return this.#leaving(actions.powerOffBeforeDelete(pass), 'deleting')
      case 'deleting':
        return actions.removeHost(pass)
    }
  }

  #to(next: ProvisioningState, isSuccess = true): Result {
    this.#next = next
    if (isSuccess) this.#pass.status.errorCount = 0
    return COMPLETE
  }

  async #available(isExternal: boolean): Promise<Result> {
    const pass = this.#pass
    const { managed, status, parts } = pass
    if (isExternal) {
      clearSettings(status)
      return this.#to('externally provisioned', false)
    }
    if (isInspectionAsked(managed)) return this.#to('inspecting', false)
    if (await actions.isUnprepared(pass)) return this.#to('preparing', false)
    if (!wantedInstance(managed).image?.url) {
      status.provisioningFailCount = 0
      delete status.lastAttemptedImage
    }
    if (!needsProvisioning(managed)) return managePower(pass)
    if (actions.isNewAttempt(pass)) status.provisioningFailCount = 0
    const { provisioningFailCount: failures = 0 } = status
    const { mostDeployments: most } = parts.settings
    if (most > 0 && failures >= most)
      return pass.fail(
        'provisioning error',
        `provisioning failed ${failures} times, retry limit (${most}) reached; ` +
          'change image or reset provisioningFailCount to retry',
      )
    clearError(status)
    return this.#to('provisioning', false)
  }

  async #provisioning(): Promise<Result> {
    const pass = this.#pass
    const { managed, status } = pass
    const hasFailed = status.errorType !== undefined
    if (hasFailed || isCancelled(managed)) {
      if (hasFailed) status.provisioningFailCount = (status.provisioningFailCount ?? 0) + 1
      return this.#to('deprovisioning', false)
    }
    const { image } = wantedInstance(managed)
    if (image) status.lastAttemptedImage = image
    const result = await actions.provisionHost(pass)
    if (result !== COMPLETE) return result
    status.provisioningFailCount = 0
    return this.#to('provisioned')
  }

  /** A host that is deleted goes also when what comes before it fails, or cannot be asked for. */
  async #leaving(action: Promise<Result>, next: ProvisioningState): Promise<Result> {
    const { managed, status, credentials } = this.#pass
    const isDeleted = managed.metadata.deletionTimestamp !== undefined
    try {
      const result = await action
      if (result === COMPLETE) return this.#to(next)
      if (!isDeleted || result.kind !== 'failed' || status.errorCount <= MAX_TOLERATED_FAILURES) return result
      if (status.provisioning.state === 'deprovisioning')
        this.#pass.countSaved('metal3_delete_without_deprovisioning_total')
      return this.#to(next, false)
    } catch (error) {
      if (!isDeleted || credentials || !(error instanceof NeedsRegistration)) throw error
      return this.#to('deleting', false)
    }
  }
}

interface BusyNode {
  name: string | null
  provision_state: string
  boot_interface: string
}

const BUSY_HOST_STATES: ReadonlySet<string> = new Set<ProvisioningState>([
  'inspecting',
  'provisioning',
  'deprovisioning',
])
const BUSY_NODE_STATES: ReadonlySet<string> = new Set([
  'cleaning',
  'clean wait',
  'inspecting',
  'inspect wait',
  'deploying',
  'wait call-back',
  'deleting',
])
