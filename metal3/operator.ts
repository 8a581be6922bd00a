import type { ApiNode, JsonObject } from '../base/wire/index.js'
import type { StagedLab } from '../lab/index.js'
import { Calls, Unexpected, type CallsOptions } from './metal3-calls.js'
import { nodeName, serviceSteps, type RequestedHost, type HostStatus, type RamdiskSource } from './host-data-model.js'
import { Phases } from './phases.js'
import { findHostNode, readFirmware, registerHost } from './registration.js'
import { retryLater, NodeRequests, retrySoon, type HostPassResult } from './node-requests.js'

export interface OperatorOptions extends CallsOptions {
  /** Default: made-up URLs, since a simulated machine fetches none. */
  ramdisk?: RamdiskSource
}

const PLACEHOLDER_RAMDISK: RamdiskSource = {
  deployIso: 'http://images.invalid/ironic-python-agent.iso',
  deployKernel: 'http://images.invalid/ironic-python-agent.kernel',
  deployRamdisk: 'http://images.invalid/ironic-python-agent.initramfs',
}

/** An aim of BareMetal Operator's controller for a host, beside deleting it. */
export type HostAction =
  'register' | 'inspect' | 'prepare' | 'provision' | 'deprovision' | 'adopt' | 'power on' | 'power off'

/**
 * The requests of BareMetal Operator's Ironic provisioner. Each pass registers the host when needed, reads the node's
 * state, makes at most one request for a change, and is repeated until the state is the wanted one.
 */
export class BareMetalOperator {
  readonly calls: Calls
  readonly #lab: Pick<StagedLab, 'transport' | 'url' | 'headers' | 'clock' | 'wait'>
  readonly #ramdisk: RamdiskSource
  readonly #hosts = new Map<string, HostStatus>()
  readonly #phases: Phases
  readonly #requests: NodeRequests
  #isHalted = false

  constructor(lab: Pick<StagedLab, 'transport' | 'url' | 'headers' | 'clock' | 'wait'>, options: OperatorOptions = {}) {
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

  statusOf(host: RequestedHost): HostStatus {
    const name = nodeName(host)
    const known = this.#hosts.get(name)
    if (known) return known
    const created: HostStatus = {}
    this.#hosts.set(name, created)
    return created
  }

  /** Forgets a host that is gone. */
  forget(host: RequestedHost): void {
    this.#hosts.delete(nodeName(host))
  }

  get isHalted(): boolean {
    return this.#isHalted
  }

  /** Ends all waiting, as when the operator's process ends. */
  halt(): void {
    this.#isHalted = true
  }

  register = (host: RequestedHost) => this.#until(host, 'register')
  inspect = (host: RequestedHost) => this.#until(host, 'inspect')
  prepare = (host: RequestedHost) => this.#until(host, 'prepare')
  provision = (host: RequestedHost) => this.#until(host, 'provision')
  deprovision = (host: RequestedHost) => this.#until(host, 'deprovision')
  adopt = (host: RequestedHost) => this.#until(host, 'adopt')
  powerOn = (host: RequestedHost) => this.#until(host, 'power on')
  powerOff = (host: RequestedHost) => this.#until(host, 'power off')

  /** One pass towards the end of an action: what its outcome asks for is up to the caller. */
  pass(host: RequestedHost, action: HostAction): Promise<HostPassResult> {
    if (action === 'provision' || action === 'adopt') this.statusOf(host).hasInstance = true
    return this.#registered(host, (node) => this.#act(host, action, node))
  }

  #act(host: RequestedHost, action: HostAction, node: ApiNode): Promise<HostPassResult> {
    switch (action) {
      case 'register':
        return Promise.resolve('done')
      case 'power on':
        return this.#phases.powerOn(node, this.statusOf(host))
      case 'power off':
        return this.#phases.powerOff(host, node, 'soft', this.statusOf(host))
      default:
        return this.#phases[action](host, node)
    }
  }

  /** Whether the hardware is set up as the spec asks, or nothing of it is asked for. */
  isPrepared = (host: RequestedHost): boolean => this.#phases.isPrepared(host)

  /** Provision state of the host's node, which must be registered. */
  async provisionState(host: RequestedHost): Promise<string> {
    const { provision_state } = await this.calls.call<ApiNode>(
      'reads the node',
      'GET',
      `/nodes/${this.statusOf(host).id}`,
    )
    return provision_state
  }

  service = (host: RequestedHost) => this.#service(host)

  /** Deletes the node; in a state that forbids it, maintenance comes first. */
  async delete(host: RequestedHost): Promise<void> {
    await this.#repeat(host, () => this.passOfDelete(host))
  }

  /** One pass towards the end of {@link delete}. */
  async passOfDelete(host: RequestedHost): Promise<HostPassResult> {
    const node = await findHostNode(this.calls, host, this.statusOf(host))
    if (node) return this.#phases.remove(node, true)
    delete this.statusOf(host).id
    return 'done'
  }

  /** Attaches an image to the virtual drive, or detaches it; returns the drives where the microversion has them. */
  async dataImage(host: RequestedHost, url: string | null): Promise<JsonObject[] | undefined> {
    const path = `/nodes/${this.statusOf(host).id}/vmedia`
    await this.#waitUntilUnlocked(host)
    if (url === null) await this.calls.call('detaches the image', 'DELETE', `${path}?device_types=cdrom`)
    else await this.calls.call('attaches the image', 'POST', path, { device_type: 'cdrom', image_url: url })
    await this.#waitUntilUnlocked(host)
    return this.calls.version >= 93 ? this.calls.call<JsonObject[]>('reads the virtual drives', 'GET', path) : undefined
  }

  async #waitUntilUnlocked(host: RequestedHost): Promise<void> {
    await this.#repeat(host, async () => {
      const path = `/nodes/${this.statusOf(host).id}`
      const { reservation } = await this.calls.call<ApiNode>('is the node locked?', 'GET', path)
      return reservation === null ? 'done' : retrySoon
    })
  }

  /** Subscribes to events of the BMC; returns the function that ends the subscription. */
  async subscribe(host: RequestedHost, destination: string): Promise<() => Promise<unknown>> {
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
  async settings(host: RequestedHost): Promise<{ bios: JsonObject[]; firmware: JsonObject[] }> {
    const path = `/nodes/${this.statusOf(host).id}`
    const { bios } = await this.calls.call<{ bios: JsonObject[] }>('BIOS settings', 'GET', `${path}/bios?detail=true`)
    const { firmware } = await this.calls.call<{ firmware: JsonObject[] }>('firmware', 'GET', `${path}/firmware`)
    return { bios, firmware }
  }

  #until(host: RequestedHost, action: HostAction): Promise<HostStatus> {
    return this.#repeat(host, () => this.pass(host, action))
  }

  async #registered(host: RequestedHost, act: (node: ApiNode) => Promise<HostPassResult>): Promise<HostPassResult> {
    const status = this.statusOf(host)
    const found = await registerHost({ requests: this.#requests, host, status, ramdisk: this.#ramdisk })
    if ('outcome' in found) return found.outcome
    await readFirmware(this.calls, found)
    return act(found)
  }

  /** Runs passes until one is done or fails. A 409 means a locked node: the pass is repeated without an error. */
  async #repeat(host: RequestedHost, pass: () => Promise<HostPassResult>): Promise<HostStatus> {
    const status = this.statusOf(host)
    delete status.errorMessage
    const { wait, clock } = this.#lab
    await wait(
      (async () => {
        for (let passes = 0; !this.#isHalted; passes++) {
          if (passes > 500) throw new Error(`${host.name} makes no progress: ${this.calls.made.slice(-5).join(', ')}`)
          await this.calls.ready()
          const outcome = await pass().catch((error: unknown) => {
            if (error instanceof Unexpected && error.status === 409) return retrySoon
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
  async #service(host: RequestedHost): Promise<HostStatus> {
    let isRequested = false
    return this.#repeat(host, () =>
      this.#registered(host, async (node) => {
        switch (node.provision_state) {
          case 'active':
            if (isRequested) return 'done'
            isRequested = true
            return this.#requests.ask(node, 'service', { service_steps: serviceSteps(host) })
          case 'service failed':
            return { error: node.last_error! }
          default:
            return retryLater
        }
      }),
    )
  }
}
