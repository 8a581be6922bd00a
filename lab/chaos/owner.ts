import { seconds } from '../../base/runtime/index.js'
import { ConnectionFailed, IronicRefused, type ApiNode, type IronicClient } from '../../base/wire/index.js'
import { findNodeMachine } from '../bmcs/bmcs.js'
import { installCoreos, type StagedLab } from '../create-lab.js'
import type { ChaosAction, NodeGoal } from './chaos-plan.js'

/** Lab time between two looks at a node. */
const NODE_POLL_INTERVAL = seconds(15)
/** Pause once no fault can strike any more: less happens then. */
const LAST_POLL_INTERVAL = seconds(45)

/** The parts of a lab that an owner uses. */
export interface OwnerParts {
  lab: StagedLab
  client: IronicClient
  /** Registers the node and its machine, or finds it; resolves with the uuid. */
  enroll: (node: string) => Promise<string>
  /** Called before a config is sent. */
  asks: (node: string, config: string) => void
  /** Called when the node is active with the config that was sent last. */
  reached: (node: string, config: string) => void
  signal: AbortSignal
}

const ONCE: readonly NodeGoal[] = ['rebooted', 'powered off', 'aborted']

/**
 * The owner of a node: looks at it every 15 s, and does what brings it nearer to what is wanted, as BareMetal Operator does.
 * What Ironic refuses, or what gets no answer, is tried again at the next look.
 */
export class Owner {
  readonly #parts: OwnerParts
  /** Name of the node. */
  readonly node: string
  readonly #actions: ChaosAction[]
  #uuid: string | undefined
  #wanted: 'deployed' | 'available' = 'available'
  /** Counts up with each deployment that is wanted. */
  #config = 0
  #sent: string | undefined
  #isReached = true
  #pace = NODE_POLL_INTERVAL
  #deployments = 0

  constructor(node: string, actions: readonly ChaosAction[], parts: OwnerParts) {
    this.node = node
    this.#parts = parts
    this.#actions = actions.filter((action) => action.node === node).sort((a, b) => a.at - b.at)
  }

  /** How often a deployment was asked for. */
  get deployments(): number {
    return this.#deployments
  }

  /** Path of a file that only the present deployment writes. */
  get #marker(): string {
    return `/etc/chaos-${this.node}-${this.#config}`
  }

  /** Wants one more deployment, which nothing disturbs. */
  wantLast(): void {
    this.#actions.length = 0
    this.#pace = LAST_POLL_INTERVAL
    this.#want('deployed')
  }

  /** Whether the node is as it was wanted last. */
  get isReached(): boolean {
    return this.#isReached && this.#actions.length === 0
  }

  /** Registers the node. */
  async enroll(): Promise<void> {
    this.#uuid = await this.#parts.enroll(this.node)
  }

  /** Sentence about a node that is not in its wanted state. */
  async standing(): Promise<string> {
    const record = (await this.#parts.lab.store.node(this.#uuid ?? ''))?.node
    if (!record) return 'it could not be registered'
    const error = record.last_error === null ? '' : `: ${record.last_error}`
    return `it is ${record.provision_state} and not ${this.#wanted === 'deployed' ? 'active' : this.#wanted}${error}`
  }

  /** Works until it is stopped. */
  async work(): Promise<void> {
    const { lab, signal } = this.#parts
    while (!signal.aborted) {
      await this.#look().catch((error: unknown) => {
        if (!canRepeatCall(error)) throw error
      })
      await lab.clock.sleep(this.#pace, { signal }).catch(() => {})
    }
  }

  async #look(): Promise<void> {
    const { lab, client } = this.#parts
    if (this.#uuid === undefined) await this.enroll()
    while (this.#actions.length > 0 && this.#actions[0]!.at <= lab.clock.elapsed()) {
      const { wish } = this.#actions.shift()!
      if (wish === 'replaced') return this.#replace()
      if (ONCE.includes(wish)) await this.#doOnce(wish)
      else this.#want(wish as 'deployed')
    }
    await this.#nearer(await client.node(this.#uuid!))
  }

  #want(wish: 'deployed' | 'available'): void {
    this.#wanted = wish
    this.#isReached = false
    if (wish === 'deployed') this.#config++
  }

  async #doOnce(wish: NodeGoal): Promise<void> {
    const { client } = this.#parts
    if (wish === 'aborted') return client.provision(this.#uuid!, 'abort')
    const { provision_state: state } = await client.node(this.#uuid!)
    if (state === 'active' || state === 'available')
      await client.power(this.#uuid!, wish === 'rebooted' ? 'rebooting' : 'power off')
  }

  /** Deletes the node as it stands, takes its machine away, and enrolls another. */
  async #replace(): Promise<void> {
    const { lab, client } = this.#parts
    const uuid = this.#uuid!
    this.#isReached = false
    const machine = await lab.store.node(uuid).then((found) => found && findNodeMachine(found.node, lab.machines))
    try {
      await client.setMaintenance(uuid, true)
      await client.deleteNode(uuid)
    } catch (error) {
      // Locked, or the answer was lost: the owner lets it be, unless it is gone.
      if (!canRepeatCall(error) || (await lab.store.node(uuid))) throw error
    }
    if (machine) await lab.machines.remove(machine.spec.id)
    this.#uuid = this.#sent = undefined
  }

  async #nearer(node: ApiNode): Promise<void> {
    const { client } = this.#parts
    const uuid = node.uuid
    if (node.reservation !== null || node.target_power_state !== null) return
    if (node.maintenance) return client.setMaintenance(uuid, false)
    switch (node.provision_state) {
      case 'enroll':
      case 'clean failed':
        return client.provision(uuid, 'manage')
      case 'inspect failed':
        return client.provision(uuid, 'inspect')
      case 'manageable':
        return client.provision(uuid, node.inspection_finished_at === null ? 'inspect' : 'provide')
      case 'available':
        if (this.#wanted === 'deployed') return this.#deploy(uuid)
        this.#isReached = true
        return
      case 'deploy failed':
        return this.#wanted === 'deployed' ? this.#deploy(uuid) : client.provision(uuid, 'deleted')
      case 'active':
        return this.#active(node)
      case 'error':
        return client.provision(uuid, 'deleted')
      default:
      // The node is on its way to the wanted state.
    }
  }

  async #active({ uuid, power_state: power }: ApiNode): Promise<void> {
    const { client, reached } = this.#parts
    if (this.#wanted === 'available' || this.#sent !== this.#marker) return client.provision(uuid, 'deleted')
    if (power !== 'power on') return client.power(uuid, 'power on')
    reached(this.node, this.#marker)
    this.#isReached = true
  }

  #deploy(uuid: string): Promise<void> {
    const { client, asks } = this.#parts
    const path = (this.#sent = this.#marker)
    this.#deployments++
    asks(this.node, path)
    const file = { path, mode: 420, contents: { source: 'data:,chaos' } }
    const ignition = { ignition: { version: '3.4.0' }, storage: { files: [file] } }
    return client.provision(uuid, 'active', { deploy_steps: [installCoreos({ ignition })] })
  }
}

/** Whether a call may do better when it is made again: what it asked was refused, or its answer did not come whole. */
const canRepeatCall = (error: unknown): boolean =>
  error instanceof IronicRefused || error instanceof SyntaxError || error instanceof ConnectionFailed
