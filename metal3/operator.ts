import type { ApiNode, JsonObject } from '../wire/index.js'
import type { StagedLab } from '../lab/index.js'
import { Calls, Unexpected, type CallsOptions } from './calls.js'
import { serviceSteps, type Host, type HostStatus, type RamdiskSource } from './host.js'
import { Phases } from './phases.js'
import { findNode, registered } from './registration.js'
import { later, NodeRequests, soon, type Outcome } from './requests.js'

export interface OperatorOptions extends CallsOptions {
  /** Without: some that nobody fetches. */
  ramdisk?: RamdiskSource
}

const SOME_RAMDISK: Required<RamdiskSource> = {
  deployIso: 'http://images.invalid/ironic-python-agent.iso',
  deployKernel: 'http://images.invalid/ironic-python-agent.kernel',
  deployRamdisk: 'http://images.invalid/ironic-python-agent.initramfs',
}

/**
 * The requests of BareMetal Operator's provisioner, written from what its source shows: it
 * registers a host before all else, looks at what state the node is in, asks for at most one thing, and looks again.
 */
export class BareMetalOperator {
  readonly calls: Calls
  readonly #lab: Pick<StagedLab, 'transport' | 'url' | 'clock' | 'wait'>
  readonly #ramdisk: RamdiskSource
  readonly #hosts = new Map<Host, HostStatus>()
  readonly #phases: Phases
  readonly #requests: NodeRequests
  #isHalted = false

  constructor(lab: Pick<StagedLab, 'transport' | 'url' | 'clock' | 'wait'>, options: OperatorOptions = {}) {
    this.#lab = lab
    this.#ramdisk = options.ramdisk ?? SOME_RAMDISK
    this.calls = new Calls(lab, options)
    this.#requests = new NodeRequests(this.calls)
    this.#phases = new Phases(this.#requests, (host) => this.statusOf(host))
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

  get isHalted(): boolean {
    return this.#isHalted
  }

  /** It goes, whatever it was waiting for; Ironic does not notice. */
  halt(): void {
    this.#isHalted = true
  }

  register = (host: Host) => this.#reconcile(host, async () => 'done')
  inspect = (host: Host) => this.#reconcile(host, (node) => this.#phases.inspect(host, node))
  prepare = (host: Host) => this.#reconcile(host, (node) => this.#phases.prepare(host, node))
  provision = (host: Host) => {
    this.statusOf(host).hasInstance = true
    return this.#reconcile(host, (node) => this.#phases.provision(host, node))
  }
  deprovision = (host: Host) => this.#reconcile(host, (node) => this.#phases.deprovision(host, node))
  adopt = (host: Host) => {
    this.statusOf(host).hasInstance = true
    return this.#reconcile(host, (node) => this.#phases.adopt(node))
  }
  service = (host: Host) => this.#service(host)
  powerOn = (host: Host) => this.#reconcile(host, (node) => this.#phases.power(node, 'power on'))
  powerOff = (host: Host) => this.#reconcile(host, (node) => this.#phases.power(node, 'power off'))

  /** Power off, then the node goes; in a state that it cannot go from, by maintenance. */
  async delete(host: Host): Promise<void> {
    await this.#looking(host, async () => {
      const node = await findNode(this.calls, host, this.statusOf(host))
      return node ? this.#phases.remove(node) : 'done'
    })
  }

  /** An image for a virtual drive, attached or taken out; gives what the drives have then, where it can ask. */
  async dataImage(host: Host, url: string | null): Promise<JsonObject[] | undefined> {
    const path = `/nodes/${this.statusOf(host).id}/vmedia`
    await this.#free(host)
    if (url === null) await this.calls.call('the image comes out', 'DELETE', `${path}?device_types=cdrom`)
    else await this.calls.call('the image goes in', 'POST', path, { device_type: 'cdrom', image_url: url })
    await this.#free(host)
    return this.calls.version >= 93 ? this.calls.call<JsonObject[]>('what is in it?', 'GET', path) : undefined
  }

  async #free(host: Host): Promise<void> {
    await this.#looking(host, async () => {
      const { reservation } = await this.calls.call<ApiNode>('is it free?', 'GET', `/nodes/${this.statusOf(host).id}`)
      return reservation === null ? 'done' : soon
    })
  }

  /** Makes a subscription to events of the BMC; gives how to end it. */
  async subscribe(host: Host, destination: string): Promise<() => Promise<unknown>> {
    const path = `/nodes/${this.statusOf(host).id}/vendor_passthru?method=`
    const body = { Destination: destination, Context: host.name, HttpHeaders: [] }
    const created = `${path}create_subscription`
    const { Id: id } = await this.calls.call<{ Id: string }>('it is to tell of its events', 'POST', created, body)
    return () => this.calls.call('and no longer', 'DELETE', `${path}delete_subscription`, { id })
  }

  /** What its other controllers read: BIOS settings and firmware. */
  async settings(host: Host): Promise<{ bios: JsonObject[]; firmware: JsonObject[] }> {
    const path = `/nodes/${this.statusOf(host).id}`
    const { bios } = await this.calls.call<{ bios: JsonObject[] }>('its settings', 'GET', `${path}/bios?detail=true`)
    const { firmware } = await this.calls.call<{ firmware: JsonObject[] }>('its firmware', 'GET', `${path}/firmware`)
    return { bios, firmware }
  }

  #reconcile(host: Host, act: (node: ApiNode) => Promise<Outcome>): Promise<HostStatus> {
    return this.#looking(host, async () => {
      const found = await registered(this.#requests, host, this.statusOf(host), this.#ramdisk)
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
}
