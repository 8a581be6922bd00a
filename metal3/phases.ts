import type { ApiNode, JsonObject } from '../wire/index.js'
import { Unexpected } from './calls.js'
import {
  capabilitiesWith,
  cleanSteps,
  configdrive,
  instanceOf,
  properties,
  raidInterface,
  type Host,
  type HostStatus,
} from './host.js'
import { later, soon, type NodeRequests, type Outcome } from './requests.js'

/** Requests of each host state, by the provision state of the node. */
export class Phases {
  readonly #requests: NodeRequests
  readonly #statusOf: (host: Host) => HostStatus

  constructor(requests: NodeRequests, statusOf: (host: Host) => HostStatus) {
    this.#requests = requests
    this.#statusOf = statusOf
  }

  async inspect(host: Host, node: ApiNode): Promise<Outcome> {
    switch (node.provision_state) {
      case 'available':
        return this.#requests.ask(node, 'manage')
      case 'inspecting':
      case 'inspect wait':
        return later
      case 'inspect failed':
        return node.last_error?.includes('aborted') || this.#statusOf(host).isRetry
          ? this.#beginInspection(host, node)
          : { error: node.last_error ?? 'Inspection failed' }
      case 'manageable': {
        if (this.#statusOf(host).isInspectionDue) return this.#beginInspection(host, node)
        const why = 'was the node inspected? 404 until then'
        const found = await this.#requests.calls.find<JsonObject>(why, `/nodes/${node.uuid}/inventory`)
        if (!found) return this.#beginInspection(host, node)
        this.#statusOf(host).hardware = found
        return 'done'
      }
      default:
        throw new Error(`unexpected provision state ${node.provision_state}`)
    }
  }

  async #beginInspection(host: Host, before: ApiNode): Promise<Outcome> {
    const node = await this.#requests.patch('properties and interface for the inspection', before, {
      '/properties/capabilities': capabilitiesWith(before.properties['capabilities'], host),
      '/properties/cpu_arch': properties(host).cpu_arch,
      '/inspect_interface': 'agent',
    })
    delete this.#statusOf(host).isInspectionDue
    return this.#requests.ask(node, 'inspect')
  }

  isPrepared(host: Host): boolean {
    const steps = cleanSteps(host)
    return steps.length === 0 || this.#statusOf(host).prepared === JSON.stringify(steps)
  }

  async prepare(host: Host, before: ApiNode): Promise<Outcome> {
    const clean_steps = cleanSteps(host)
    const status = this.#statusOf(host)
    const isPrepared = this.isPrepared(host)
    switch (before.provision_state) {
      case 'manageable': {
        if (isPrepared) return 'done'
        const node = host.raid ? await this.#setRaid(host, before) : before
        status.prepared = JSON.stringify(clean_steps)
        return this.#requests.ask(node, 'clean', { clean_steps })
      }
      case 'available':
        return isPrepared ? 'done' : this.#requests.ask(before, 'manage')
      case 'clean failed':
        if (!status.isRetry) return { error: before.last_error! }
        delete status.prepared
        return this.#recover(before)
      default:
        return later
    }
  }

  /** Sets the RAID interface and the wanted volumes; without volumes cleaning only deletes the existing ones. */
  async #setRaid(host: Host, before: ApiNode): Promise<ApiNode> {
    const wanted = { '/raid_interface': raidInterface(host) }
    const node = await this.#requests.patch('the interface that makes the volumes', before, wanted)
    const logical_disks = host.raid!.logicalDisks
    if (logical_disks.length > 0)
      await this.#requests.calls.call('the wanted volumes', 'PUT', `/nodes/${node.uuid}/states/raid`, { logical_disks })
    return node
  }

  /** Takes a node whose cleaning failed back to `manageable`. */
  async #recover(node: ApiNode): Promise<Outcome> {
    if (node.maintenance)
      await this.#requests.calls.call('ends maintenance', 'DELETE', `/nodes/${node.uuid}/maintenance`)
    return this.#requests.ask(node, 'manage')
  }

  async provision(host: Host, node: ApiNode): Promise<Outcome> {
    switch (node.provision_state) {
      case 'manageable':
        return this.#requests.ask(node, 'provide')
      case 'clean failed':
        return this.#recover(node)
      case 'deploy failed': {
        const { image_source: source, boot_iso: iso } = node.instance_info
        const isSame = host.image !== undefined && [source, iso].includes(host.image.url)
        if (!isSame) return this.#deploy(host, node)
        return { error: `Image provisioning failed (${host.image!.url}): ${node.last_error}` }
      }
      case 'available':
        return this.#deploy(host, node)
      case 'active':
        return 'done'
      default:
        return later
    }
  }

  async #deploy(host: Host, before: ApiNode): Promise<Outcome> {
    const node = await this.#requests.patch('the instance: image and root device', before, instanceOf(host))
    type Validation = Record<'boot' | 'deploy', { result: boolean; reason?: string }>
    const why = 'can Ironic boot and deploy this? Of the answer only boot and deploy are read'
    const { boot, deploy } = await this.#requests.calls.call<Validation>(why, 'GET', `/nodes/${node.uuid}/validate`)
    if (!boot.result || !deploy.result)
      return { error: `host validation error: ${boot.reason ?? ''}${deploy.reason ?? ''}` }
    const { method: step, args = {} } = host.customDeploy ?? {}
    const steps = step === undefined ? {} : { deploy_steps: [{ interface: 'deploy', step, args, priority: 80 }] }
    return this.#requests.ask(node, 'active', { configdrive: configdrive(host), ...steps })
  }

  async deprovision(host: Host, node: ApiNode): Promise<Outcome> {
    const status = this.#statusOf(host)
    switch (node.provision_state) {
      case 'available':
        return 'done'
      case 'manageable':
        return this.#requests.ask(node, 'provide')
      case 'active':
      case 'deploy failed':
      case 'wait call-back':
        delete status.prepared
        delete status.hasInstance
        await this.#requests.patch('automated cleaning on or off', node, {
          '/automated_clean': host.automatedCleaning ?? true,
        })
        return this.#requests.ask(node, 'deleted')
      case 'clean failed':
        return status.isRetry ? this.#recover(node) : { error: node.last_error! }
      case 'error':
        return status.isRetry ? this.#requests.ask(node, 'deleted') : { error: node.last_error! }
      default:
        return later
    }
  }

  async adopt(host: Host, node: ApiNode): Promise<Outcome> {
    switch (node.provision_state) {
      case 'manageable':
        return this.#requests.ask(node, 'adopt')
      case 'adopt failed':
        return this.#statusOf(host).isRetry ? this.#requests.ask(node, 'adopt') : { error: node.last_error! }
      case 'active':
        return 'done'
      default:
        return soon
    }
  }

  async power(host: Host, node: ApiNode, target: 'power on' | 'power off'): Promise<Outcome> {
    if (node.target_provision_state !== null) return soon
    if (node.target_power_state !== null) return soon
    if (node.power_state === target) return 'done'
    if (node.last_error && !this.#statusOf(host).isRetry) return { error: node.last_error }
    const path = `/nodes/${node.uuid}/states/power`
    if (target === 'power on') await this.#requests.calls.call('powers the host on', 'PUT', path, { target })
    else {
      const soft = { target: 'soft power off', timeout: 180 }
      await this.#requests.calls
        .call('powers the host off: its system is asked to shut down', 'PUT', path, soft)
        .catch(async (error: unknown) => {
          if (!(error instanceof Unexpected && error.status === 400)) throw error
          await this.#requests.calls.call('soft power off is not supported: hard power off', 'PUT', path, { target })
        })
    }
    return soon
  }

  async remove(node: ApiNode): Promise<Outcome> {
    switch (node.provision_state) {
      case 'enroll':
        break
      case 'manageable':
      case 'available':
        await this.#requests.patch('removes the instance', node, { '/instance_uuid': undefined })
        break
      case 'verifying':
      case 'deploying':
      case 'cleaning':
      case 'inspecting':
      case 'servicing':
      case 'deleting':
        return soon
      case 'wait call-back':
        return this.#requests.ask(node, this.#requests.calls.version >= 110 ? 'abort' : 'deleted')
      case 'inspect wait':
      case 'clean wait':
      case 'service wait':
        return this.#requests.ask(node, 'abort')
      default: {
        const reason = 'forcing deletion in baremetal-operator'
        const why = 'only a node in maintenance can be deleted in this state'
        await this.#requests.calls.call(why, 'PUT', `/nodes/${node.uuid}/maintenance`, { reason })
      }
    }
    await this.#requests.calls.call('deletes the node and its ports', 'DELETE', `/nodes/${node.uuid}`)
    // The next pass checks that the node is gone.
    return soon
  }
}
