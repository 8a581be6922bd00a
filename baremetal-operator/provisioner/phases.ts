import { defined } from '../../base/runtime/index.js'
import type { ApiNode, JsonObject } from '../../base/wire/index.js'
import {
  capabilitiesWith,
  cleanSteps,
  configDriveOf,
  hasImageOf,
  imageText,
  inspectInterface,
  instanceOf,
  nodePropertiesOf,
  raidInterface,
  serviceSteps,
  type RequestedHost,
  type HostStatus,
} from './host-data-model.js'
import { PowerPhases } from './power-phases.js'
import { retryLater, retrySoon, type NodeRequests, type HostPassResult } from './node-requests.js'

/** Firmware that a host is to have while it runs. */
export interface Servicing {
  settings?: { name: string; value: string }[]
  updates?: { component: string; url: string }[]
  /** True if something is to be changed. */
  isDue: boolean
  /** True if anything is asked for, changed or not. */
  isAsked: boolean
}

/**
 * Requests of each host state, by the provision state of the node (baremetal-operator 02aa505 pkg/provisioner/ironic:
 * inspecthardware.go, ironic.go).
 */
export class Phases extends PowerPhases {
  readonly #statusOf: (host: RequestedHost) => HostStatus

  constructor(requests: NodeRequests, statusOf: (host: RequestedHost) => HostStatus) {
    super(requests)
    this.#statusOf = statusOf
  }

  async inspect(host: RequestedHost, node: ApiNode): Promise<HostPassResult> {
    const status = this.#statusOf(host)
    switch (node.provision_state) {
      case 'available':
        return this.requests.ask(node, 'manage')
      case 'inspect wait':
        if (status.isForced) return this.requests.ask(node, 'abort')
        return host.isInspectedByBmc ? retrySoon : retryLater
      case 'inspecting':
        return host.isInspectedByBmc ? retrySoon : retryLater
      case 'inspect failed':
        return node.last_error?.includes('aborted') || status.isRetry
          ? this.#beginInspection(host, node)
          : { error: node.last_error || 'Inspection failed' }
      case 'manageable': {
        if (status.isInspectionDue) return this.#beginInspection(host, node)
        const why = 'was the node inspected? 404 until then'
        const found = await this.requests.calls.find<JsonObject>(why, `/nodes/${node.uuid}/inventory`)
        if (!found) return this.#beginInspection(host, node)
        status.hardware = found
        this.requests.publish('InspectionComplete', 'Hardware inspection completed')
        return 'done'
      }
      default:
        throw new Error(`unexpected provision state ${node.provision_state}`)
    }
  }

  async #beginInspection(host: RequestedHost, before: ApiNode): Promise<HostPassResult> {
    const node = await this.requests.patch('properties and interface for the inspection', before, {
      '/properties/capabilities': capabilitiesWith(before.properties['capabilities'], host),
      '/properties/cpu_arch': nodePropertiesOf(host).cpu_arch,
      '/inspect_interface': inspectInterface(host),
    })
    delete this.#statusOf(host).isInspectionDue
    const outcome = await this.requests.ask(node, 'inspect')
    if (this.requests.asked.at(-1) === 'inspect')
      this.requests.publish('InspectionStarted', 'Hardware inspection started')
    return outcome
  }

  isPrepared(host: RequestedHost): boolean {
    const steps = cleanSteps(host)
    return steps.length === 0 || this.#statusOf(host).prepared === JSON.stringify(steps)
  }

  /**
   * @param isUnprepared whether something is to be set up; by default, whether there are steps that were not asked for
   * @param volumes RAID volumes that are sent to Ironic whenever something is set up; by default those that are to be made
   */
  async prepare(
    host: RequestedHost,
    before: ApiNode,
    {
      isUnprepared = !this.isPrepared(host),
      volumes = host.raid,
    }: { isUnprepared?: boolean; volumes?: RequestedHost['raid'] } = {},
  ): Promise<HostPassResult> {
    const clean_steps = cleanSteps(host)
    const status = this.#statusOf(host)
    switch (before.provision_state) {
      case 'manageable': {
        if (!isUnprepared) return 'done'
        const node = volumes ? await this.#setRaid({ ...host, raid: volumes }, before) : before
        if (clean_steps.length === 0) return 'done'
        const outcome = await this.requests.ask(node, 'clean', { clean_steps })
        if (this.requests.asked.at(-1) === 'clean') status.prepared = JSON.stringify(clean_steps)
        return outcome
      }
      case 'available':
        return isUnprepared && clean_steps.length > 0 ? this.requests.ask(before, 'manage') : 'done'
      case 'clean failed':
        if (!status.isRetry) return { error: before.last_error ?? '' }
        if (before.maintenance) return this.requests.endMaintenance(before)
        delete status.prepared
        return this.requests.ask(before, 'manage')
      default:
        return retryLater
    }
  }

  /** Changes the firmware of a host that runs (servicing.go). */
  async service(
    { settings, updates, isDue, isAsked }: Servicing,
    node: ApiNode,
    { isRetry = false }: HostStatus,
  ): Promise<HostPassResult> {
    switch (node.provision_state) {
      case 'service failed':
        if (!isAsked) return this.requests.ask(node, 'abort')
        if (!isRetry) return { error: node.last_error ?? '' }
        if (node.maintenance) return this.requests.endMaintenance(node)
        break
      case 'active':
        if (!isDue) return 'done'
        break
      case 'service wait':
        return isAsked ? retryLater : this.requests.ask(node, 'abort')
      case 'servicing':
        return retryLater
      default:
        throw new Error(`have unexpected ironic node state ${node.provision_state}`)
    }
    const service_steps = serviceSteps(defined({ biosSettings: settings, firmwareUpdates: updates }))
    return service_steps.length === 0 ? 'done' : this.requests.ask(node, 'service', { service_steps })
  }

  /** Sets the RAID interface and the wanted volumes; without volumes cleaning only deletes the existing ones. */
  async #setRaid(host: RequestedHost, before: ApiNode): Promise<ApiNode> {
    const logical_disks = host.raid!.logicalDisks
    if (logical_disks.length === 0) return before
    const wanted = { '/raid_interface': raidInterface(host) }
    const node = await this.requests.patch('the interface that makes the volumes', before, wanted)
    await this.requests.change('the wanted volumes', 'PUT', `/nodes/${node.uuid}/states/raid`, { logical_disks })
    return node
  }

  async provision(host: RequestedHost, node: ApiNode): Promise<HostPassResult> {
    switch (node.provision_state) {
      case 'manageable':
        return this.requests.ask(node, 'provide')
      case 'clean failed':
        return this.requests.ask(node, 'manage')
      case 'deploy failed':
        if (!hasImageOf(node, host)) return this.#deploy(host, node)
        // The error follows the state.
        if (!node.last_error) return { again: 0 }
        return { error: `Image provisioning failed (${imageText(host)}): ${node.last_error}` }
      case 'available':
        return this.#deploy(host, node)
      case 'active':
        this.requests.publish('ProvisioningComplete', `Image provisioning completed for ${host.image?.url ?? ''}`)
        return 'done'
      case 'wait call-back':
        return this.#statusOf(host).isForced ? this.requests.ask(node, 'deleted') : retryLater
      default:
        return retryLater
    }
  }

  async #deploy(host: RequestedHost, before: ApiNode): Promise<HostPassResult> {
    const node = await this.requests.patch('the instance: image and root device', before, instanceOf(host))
    type Validation = Record<'boot' | 'deploy', { result: boolean; reason?: string }>
    const why = 'can Ironic boot and deploy this? Of the answer only boot and deploy are read'
    const { boot, deploy } = await this.requests.calls.call<Validation>(why, 'GET', `/nodes/${node.uuid}/validate`)
    const refusals = [boot, deploy].flatMap(({ result, reason = '' }) => (result ? [] : [reason]))
    if (refusals.length > 0) return { error: `host validation error: ${refusals.join('; ')}` }
    this.requests.publish('ProvisioningStarted', `Image provisioning started for ${host.image?.url ?? ''}`)
    const { method: step, args = {} } = host.customDeploy ?? {}
    const steps = step === undefined ? {} : { deploy_steps: [{ interface: 'deploy', step, args, priority: 80 }] }
    return this.requests.ask(node, 'active', { configdrive: configDriveOf(host), ...steps })
  }

  async deprovision(host: RequestedHost, before: ApiNode): Promise<HostPassResult> {
    const status = this.#statusOf(host)
    switch (before.provision_state) {
      case 'available':
        this.requests.publish('DeprovisioningComplete', 'Image deprovisioning completed')
        return 'done'
      case 'manageable':
        return this.requests.ask(before, 'provide')
      case 'active':
      case 'deploy failed':
      case 'wait call-back': {
        delete status.prepared
        delete status.hasInstance
        const node = await this.requests.patch('automated cleaning on or off', before, {
          '/automated_clean': host.automatedCleaning ?? true,
        })
        if (node !== before) return { again: 0 }
        this.requests.publish('DeprovisioningStarted', 'Image deprovisioning started')
        return this.requests.ask(node, 'deleted')
      }
      case 'clean failed':
        return status.isRetry
          ? this.requests.ask(before, 'manage')
          : { error: `Cleaning failed: ${before.last_error ?? ''}` }
      case 'error':
        if (!status.isRetry) return { error: before.last_error || 'Deprovisioning failed' }
        this.requests.publish('DeprovisioningStarted', 'Image deprovisioning restarted')
        return this.requests.ask(before, 'deleted')
      case 'deleting':
      case 'cleaning':
      case 'clean wait':
      case 'deploying':
        return retryLater
      default:
        throw new Error(`unhandled ironic state ${before.provision_state}`)
    }
  }

  async adopt(host: RequestedHost, node: ApiNode): Promise<HostPassResult> {
    switch (node.provision_state) {
      case 'enroll':
      case 'verifying':
        throw new Error(`invalid state for adopt: ${node.provision_state}`)
      case 'manageable':
        return this.requests.ask(node, 'adopt')
      case 'adopting':
        return retrySoon
      case 'adopt failed':
        return this.#statusOf(host).isRetry
          ? this.requests.ask(node, 'adopt')
          : { error: `Host adoption failed: ${node.last_error ?? ''}` }
      case 'active':
        // A fault is Ironic's own maintenance.
        return node.maintenance && !node.fault ? this.requests.endMaintenance(node) : 'done'
      default:
        return 'done'
    }
  }
}
