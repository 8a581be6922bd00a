import type { ApiNode, JsonObject } from '../wire/index.js'
import type { StagedLab } from '../lab/index.js'
import { Calls, Unexpected, type CallsOptions } from './calls.js'
import { serviceSteps, type Host, type HostStatus, type RamdiskSource } from './host.js'
import { Phases } from './phases.js'
import { findNode, registerHost } from './registration.js'
import { later, NodeRequests, soon, type Outcome } from './requests.js'

export interface OperatorOptions extends CallsOptions {
  /** Default: made-up URLs, since a simulated machine fetches none. */
  ramdisk?: RamdiskSource
}

const PLACEHOLDER_RAMDISK: Required<RamdiskSource> = {
  deployIso: 'http://images.invalid/ironic-python-agent.iso',
  deployKernel: 'http://images.invalid/ironic-python-agent.kernel',
  deployRamdisk: 'http://images.invalid/ironic-python-agent.initramfs',
}

/**
 * The requests of BareMetal Operator's Ironic provisioner. Each pass registers the host when needed, reads the node's
 * state, makes at most one request for a change, and is repeated until the state is the wanted one.
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
    this.#ramdisk = options.ramdisk ?? PLACEHOLDER_RAMDISK
    this.calls = new Calls(lab, options)
    this.#requests = new NodeRequests(this.calls)
    this.#phases = new Phases(this.#requests, (host) => this.statusOf(host))
  }

  /** Provisioning verbs that were requested, in order. */
  get asked(): readonly string[] {
    return this.#requests.asked
  }

  statusOf(host: Host): HostStatus {
    const known = this.#hosts.get(host)
    if (known) return known
    const created: HostStatus = {}
    this.#hosts.set(host, created)
    return created
  }

  get isHalted(): boolean {
    return this.#isHalted
  }

  /** Ends all waiting, as when the operator's process ends. */
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

  /** Deletes the node; in a state that forbids it, maintenance comes first. */
  async delete(host: Host): Promise<void> {
    await this.#repeat(host, async () => {
      const node = await findNode(this.calls, host, this.statusOf(host))
      return node ? this.#phases.remove(node) : 'done'
    })
  }

  /** Attaches an image to the virtual drive, or detaches it; returns the drives where the microversion has them. */
  async dataImage(host: Host, url: string | null): Promise<JsonObject[] | undefined> {
    const path = `/nodes/${this.statusOf(host).id}/vmedia`
    await this.#waitUntilUnlocked(host)
    if (url === null) await this.calls.call('detaches the image', 'DELETE', `${path}?device_types=cdrom`)
    else await this.calls.call('attaches the image', 'POST', path, { device_type: 'cdrom', image_url: url })
    await this.#waitUntilUnlocked(host)
    return this.calls.version >= 93 ? this.calls.call<JsonObject[]>('reads the virtual drives', 'GET', path) : undefined
  }

  async #waitUntilUnlocked(host: Host): Promise<void> {
    await this.#repeat(host, async () => {
      const path = `/nodes/${this.statusOf(host).id}`
      const { reservation } = await this.calls.call<ApiNode>('is the node locked?', 'GET', path)
      return reservation === null ? 'done' : soon
    })
  }

  /** Subscribes to events of the BMC; returns the function that ends the subscription. */
  async subscribe(host: Host, destination: string): Promise<() => Promise<unknown>> {
    const path = `/nodes/${this.statusOf(host).id}/vendor_passthru?method=`
    const body = { Destination: destination, Context: host.name, HttpHeaders: [] }
    const { Id: id } = await this.calls.call<{ Id: string }>(
      'subscribes to events of the BMC',
      'POST',
      `${path}create_subscription`,
      body,
    )
    return () => this.calls.call('ends the subscription', 'DELETE', `${path}delete_subscription`, { id })
  }

  /** BIOS settings and firmware, as its other controllers read them. */
  async settings(host: Host): Promise<{ bios: JsonObject[]; firmware: JsonObject[] }> {
    const path = `/nodes/${this.statusOf(host).id}`
    const { bios } = await this.calls.call<{ bios: JsonObject[] }>('BIOS settings', 'GET', `${path}/bios?detail=true`)
    const { firmware } = await this.calls.call<{ firmware: JsonObject[] }>('firmware', 'GET', `${path}/firmware`)
    return { bios, firmware }
  }

  #reconcile(host: Host, act: (node: ApiNode) => Promise<Outcome>): Promise<HostStatus> {
    return this.#repeat(host, async () => {
      const found = await registerHost(this.#requests, host, this.statusOf(host), this.#ramdisk)
      return 'uuid' in found ? act(found) : found.outcome
    })
  }

  /** Runs passes until one is done or fails. A 409 means a locked node: the pass is repeated without an error. */
  async #repeat(host: Host, pass: () => Promise<Outcome>): Promise<HostStatus> {
    const status = this.statusOf(host)
    delete status.errorMessage
    const { wait, clock } = this.#lab
    await wait(
      (async () => {
        for (let passes = 0; !this.#isHalted; passes++) {
          if (passes > 500) throw new Error(`${host.name} makes no progress: ${this.calls.made.slice(-5).join(', ')}`)
          await this.calls.ready()
          const outcome = await pass().catch((error: unknown) => {
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

  /** Services the host; BareMetal Operator does this before a power-on when the settings changed. */
  async #service(host: Host): Promise<HostStatus> {
    let isRequested = false
    return this.#reconcile(host, async (node) => {
      switch (node.provision_state) {
        case 'active':
          if (isRequested) return 'done'
          isRequested = true
          return this.#requests.ask(node, 'service', { service_steps: serviceSteps(host) })
        case 'service failed':
          return { error: node.last_error! }
        default:
          return later
      }
    })
  }
}
