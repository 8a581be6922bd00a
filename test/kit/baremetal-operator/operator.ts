import type { Lab } from '../../../lab/index.js'
import type { ApiNode, JsonObject } from '../../../wire/index.js'
import { Calls, Unexpected } from './calls.js'
import { cleanSteps, instanceOf, serviceSteps, type Host, type HostStatus } from './host.js'
import { findNode, registered } from './registration.js'
import { later, NodeRequests, soon, type Outcome } from './requests.js'

/**
 * The requests of BareMetal Operator's provisioner, written from what its source shows: it
 * registers a host before all else, looks at what state the node is in, asks for at most one thing, and looks again.
 */
export class BareMetalOperator {
  readonly calls: Calls
  readonly #lab: Lab
  readonly #hosts = new Map<Host, HostStatus>()
  readonly #prepared = new Set<Host>()
  readonly #requests: NodeRequests
  #isHalted = false

  constructor(lab: Lab, options?: { stopAt?: number }) {
    this.#lab = lab
    this.calls = new Calls(lab, options)
    this.#requests = new NodeRequests(this.calls)
  }

  /** The verbs that it asked of Ironic, in order. */
  get asked(): readonly string[] {
    return this.#requests.asked
  }

  statusOf(host: Host): HostStatus {
    const known = this.#hosts.get(host)
    if (known) return known
    const made: HostStatus = {}
    this.#hosts.set(host, made)
    return made
  }

  /** It goes, whatever it was waiting for; Ironic does not notice. */
  halt(): void {
    this.#isHalted = true
  }

  register = (host: Host) => this.#reconcile(host, async () => 'done')
  inspect = (host: Host) => this.#reconcile(host, (node) => this.#inspect(host, node))
  prepare = (host: Host) => this.#reconcile(host, (node) => this.#prepare(host, node))
  provision = (host: Host) => this.#reconcile(host, (node) => this.#provision(host, node))
  deprovision = (host: Host) => this.#reconcile(host, (node) => this.#deprovision(host, node))
  adopt = (host: Host) => this.#reconcile(host, (node) => this.#adopt(node))
  service = (host: Host) => this.#service(host)
  powerOn = (host: Host) => this.#reconcile(host, (node) => this.#power(node, 'power on'))
  powerOff = (host: Host) => this.#reconcile(host, (node) => this.#power(node, 'power off'))

  /** Power off, then the node goes; in a state that it cannot go from, by maintenance. */
  async delete(host: Host): Promise<void> {
    await this.#looking(host, async () => {
      const node = await findNode(this.calls, host, this.statusOf(host))
      return node ? this.#remove(node) : 'done'
    })
  }

  /** An image for a virtual drive, attached or taken out; gives what the drives have then, where it can ask. */
  async dataImage(host: Host, url: string | null): Promise<JsonObject[] | undefined> {
    const path = `/nodes/${this.statusOf(host).id}/vmedia`
    await this.#free(host)
    if (url === null) await this.calls.call('DELETE', `${path}?device_types=cdrom`)
    else await this.calls.call('POST', path, { device_type: 'cdrom', image_url: url })
    await this.#free(host)
    return this.calls.version >= 93 ? this.calls.call<JsonObject[]>('GET', path) : undefined
  }

  async #free(host: Host): Promise<void> {
    await this.#looking(host, async () => {
      const { reservation } = await this.calls.call<ApiNode>('GET', `/nodes/${this.statusOf(host).id}`)
      return reservation === null ? 'done' : soon
    })
  }

  /** Makes a subscription to events of the BMC; gives how to end it. */
  async subscribe(host: Host, destination: string): Promise<() => Promise<unknown>> {
    const path = `/nodes/${this.statusOf(host).id}/vendor_passthru?method=`
    const body = { Destination: destination, Context: host.name, HttpHeaders: [] }
    const { Id: id } = await this.calls.call<{ Id: string }>('POST', `${path}create_subscription`, body)
    return () => this.calls.call('DELETE', `${path}delete_subscription`, { id })
  }

  /** What its other controllers read: BIOS settings and firmware. */
  async settings(host: Host): Promise<{ bios: JsonObject[]; firmware: JsonObject[] }> {
    const path = `/nodes/${this.statusOf(host).id}`
    const { bios } = await this.calls.call<{ bios: JsonObject[] }>('GET', `${path}/bios?detail=true`)
    const { firmware } = await this.calls.call<{ firmware: JsonObject[] }>('GET', `${path}/firmware`)
    return { bios, firmware }
  }

  #reconcile(host: Host, act: (node: ApiNode) => Promise<Outcome>): Promise<HostStatus> {
    return this.#looking(host, async () => {
      const found = await registered(this.#requests, host, this.statusOf(host))
      return 'uuid' in found ? act(found) : found.outcome
    })
  }

  /** Looks again and again, as a controller that is woken; a conflict is taken for a lock and tried again in silence. */
  async #looking(host: Host, look: () => Promise<Outcome>): Promise<HostStatus> {
    const status = this.statusOf(host)
    delete status.errorMessage
    const { wait, clock } = this.#lab
    await wait(
      (async () => {
        for (let looks = 0; !this.#isHalted; looks++) {
          if (looks > 500) throw new Error(`${host.name} gets nowhere: ${this.calls.made.slice(-5).join(', ')}`)
          await this.calls.ready()
          const outcome = await look().catch((error: unknown) => {
            if (error instanceof Unexpected && error.status === 409) return soon
            throw error
          })
          if (outcome === 'done') return
          if ('error' in outcome) return void (status.errorMessage = outcome.error)
          await clock.sleep(outcome.again)
        }
      })(),
    )
    return status
  }

  async #inspect(host: Host, node: ApiNode): Promise<Outcome> {
    switch (node.provision_state) {
      case 'available':
        return this.#requests.ask(node, 'manage')
      case 'inspecting':
      case 'inspect wait':
        return later
      case 'inspect failed':
        return node.last_error?.includes('aborted')
          ? this.#requests.ask(node, 'inspect')
          : { error: node.last_error ?? 'Inspection failed' }
      case 'manageable': {
        const found = await this.calls.find<JsonObject>(`/nodes/${node.uuid}/inventory`)
        if (!found) return this.#requests.ask(node, 'inspect')
        this.statusOf(host).hardware = found
        return 'done'
      }
      default:
        throw new Error(`unexpected provision state ${node.provision_state}`)
    }
  }

  async #prepare(host: Host, node: ApiNode): Promise<Outcome> {
    const clean_steps = cleanSteps(host)
    switch (node.provision_state) {
      case 'manageable':
        if (clean_steps.length === 0 || this.#prepared.has(host)) return 'done'
        if (host.raid) await this.calls.call('PUT', `/nodes/${node.uuid}/states/raid`, host.raid)
        this.#prepared.add(host)
        return this.#requests.ask(node, 'clean', { clean_steps })
      case 'available':
        return clean_steps.length === 0 ? 'done' : this.#requests.ask(node, 'manage')
      case 'clean failed':
        return { error: node.last_error! }
      default:
        return later
    }
  }

  async #provision(host: Host, node: ApiNode): Promise<Outcome> {
    switch (node.provision_state) {
      case 'manageable':
        return this.#requests.ask(node, 'provide')
      case 'clean failed':
        if (node.maintenance) await this.calls.call('DELETE', `/nodes/${node.uuid}/maintenance`)
        return this.#requests.ask(node, 'manage')
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
    const node = await this.#requests.patch(before, instanceOf(host))
    type Checked = Record<'boot' | 'deploy', { result: boolean; reason?: string }>
    const { boot, deploy } = await this.calls.call<Checked>('GET', `/nodes/${node.uuid}/validate`)
    if (!boot.result || !deploy.result)
      return { error: `host validation error: ${boot.reason ?? ''}${deploy.reason ?? ''}` }
    const names = {
      name: host.name,
      'local-hostname': host.name,
      'metal3-name': host.name,
      'metal3-namespace': 'metal3',
    }
    const isLive = host.image?.format === 'live-iso'
    const configdrive = isLive ? {} : { meta_data: names, user_data: host.userData ?? '' }
    const steps = host.customDeploy && [{ interface: 'deploy', step: host.customDeploy.method, args: {}, priority: 80 }]
    return this.#requests.ask(node, 'active', { configdrive, ...(steps ? { deploy_steps: steps } : {}) })
  }

  async #deprovision(host: Host, node: ApiNode): Promise<Outcome> {
    switch (node.provision_state) {
      case 'available':
        return 'done'
      case 'active':
      case 'deploy failed':
      case 'wait call-back':
        this.#prepared.delete(host)
        return this.#requests.ask(node, 'deleted')
      case 'clean failed':
      case 'error':
        return { error: node.last_error! }
      default:
        return later
    }
  }

  async #adopt(node: ApiNode): Promise<Outcome> {
    switch (node.provision_state) {
      case 'manageable':
        return this.#requests.ask(node, 'adopt')
      case 'adopt failed':
        return { error: node.last_error! }
      case 'active':
        return 'done'
      default:
        return soon
    }
  }

  /** Asked for while the host is being switched on, when its settings have changed. */
  async #service(host: Host): Promise<HostStatus> {
    let isAsked = false
    return this.#reconcile(host, async (node) => {
      switch (node.provision_state) {
        case 'active':
          if (isAsked) return 'done'
          isAsked = true
          return this.#requests.ask(node, 'service', { service_steps: serviceSteps(host) })
        case 'service failed':
          return { error: node.last_error! }
        default:
          return later
      }
    })
  }

  async #power(node: ApiNode, target: 'power on' | 'power off'): Promise<Outcome> {
    if (node.target_provision_state !== null) return soon
    if (node.target_power_state !== null) return soon
    if (node.power_state === target) return 'done'
    if (node.last_error) return { error: node.last_error }
    const path = `/nodes/${node.uuid}/states/power`
    if (target === 'power on') await this.calls.call('PUT', path, { target })
    else {
      await this.calls.call('PUT', path, { target: 'soft power off', timeout: 180 }).catch(async (error: unknown) => {
        // It cannot be asked to: then it is switched off.
        if (!(error instanceof Unexpected && error.status === 400)) throw error
        await this.calls.call('PUT', path, { target })
      })
    }
    return soon
  }

  async #remove(node: ApiNode): Promise<Outcome> {
    switch (node.provision_state) {
      case 'enroll':
        break
      case 'manageable':
      case 'available':
        await this.#requests.patch(node, { '/instance_uuid': undefined })
        break
      case 'verifying':
      case 'deploying':
      case 'cleaning':
      case 'inspecting':
      case 'servicing':
      case 'deleting':
        return soon
      case 'wait call-back':
        return this.#requests.ask(node, this.calls.version >= 110 ? 'abort' : 'deleted')
      case 'inspect wait':
      case 'clean wait':
      case 'service wait':
        return this.#requests.ask(node, 'abort')
      default: {
        const reason = 'forcing deletion in baremetal-operator'
        await this.calls.call('PUT', `/nodes/${node.uuid}/maintenance`, { reason })
      }
    }
    await this.calls.call('DELETE', `/nodes/${node.uuid}`)
    // It looks until the node is gone.
    return soon
  }
}
