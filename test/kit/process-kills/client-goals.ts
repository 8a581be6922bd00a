import { defined, type Random } from '../../../base/runtime/index.js'
import type { ApiNode, IronicClient, ProvisionState, RequestedStep } from '../../../base/wire/index.js'

/** A verb with what goes with it, or a change of power. */
export type Wish =
  { verb: string; more?: Parameters<IronicClient['provision']>[2] } | { power: 'power on' | 'power off' | 'rebooting' }

/** The goals of one client for a node, again and again. */
export interface Itinerary {
  /** Fields that the node has to have; given to it while it is in none but `enroll`, `manageable` and `available`. */
  readonly fields?: Readonly<Record<string, unknown>>
  /** The next request for a node that is at rest; undefined where only waiting helps. */
  next(node: ApiNode, random: Random): Wish | undefined
  /** Told of a wish before it is sent. */
  asking?(wish: Wish, node: ApiNode): void
  /** How often, of all looks at a node that waits for its agent, it is aborted. */
  readonly aborts: number
  /** A state that it reaches in every round, for the last look. */
  readonly end: ProvisionState
}

const of = (verb: string, more?: Parameters<IronicClient['provision']>[2]): Wish => ({
  verb,
  ...defined({ more }),
})

/** A choice by weight. */
function choose<T>(random: Random, choices: readonly (readonly [weight: number, choice: T])[]): T {
  let dice = random.next() * choices.reduce((sum, [weight]) => sum + weight, 0)
  return (choices.find(([weight]) => (dice -= weight) < 0) ?? choices.at(-1)!)[1]
}

type Ways = Partial<Record<ProvisionState, readonly (readonly [number, Wish])[]>>

/** Ways out of states that every itinerary can come to. */
const COMMON: Ways = {
  enroll: [[1, of('manage')]],
  manageable: [[1, of('provide')]],
  'clean failed': [[1, of('manage')]],
  'inspect failed': [
    [1, of('inspect')],
    [1, of('manage')],
  ],
  'adopt failed': [[1, of('adopt')]],
  available: [[1, of('active')]],
  'deploy failed': [
    [2, of('deleted')],
    [3, of('active')],
  ],
  active: [[1, of('deleted')]],
  error: [[1, of('deleted')]],
  rescue: [[1, of('unrescue')]],
  'rescue failed': [[1, of('unrescue')]],
  'unrescue failed': [[1, of('unrescue')]],
  'service failed': [[1, of('abort')]],
  'clean hold': [[1, of('unhold')]],
  'deploy hold': [[1, of('unhold')]],
  'service hold': [[1, of('unhold')]],
}

function byState(ways: Ways): Itinerary['next'] {
  return ({ provision_state: state }, random) => {
    const choices = ways[state] ?? COMMON[state]
    return choices && choose(random, choices)
  }
}

const HOLD: RequestedStep = { interface: 'deploy', step: 'hold', args: {} }
const ERASE: RequestedStep = { interface: 'deploy', step: 'erase_devices_metadata' }
const NO_RAID: RequestedStep = { interface: 'raid', step: 'delete_configuration' }

/** An image that Ironic and the agent write to the disk, again by rebuild. */
export const imaging = (image: string): Itinerary => ({
  fields: { deploy_interface: 'direct', instance_info: { image_source: image } },
  next: byState({
    active: [
      [1, of('rebuild')],
      [2, of('deleted')],
    ],
    'deploy failed': [
      [1, of('deleted')],
      [1, of('active')],
      [1, of('rebuild')],
    ],
  }),
  aborts: 0.002,
  end: 'active',
})

/** The resource class of nodes that allocations are made of. */
export const ALLOCATED = 'allocated'

/** A live system from virtual media. */
export const living: Itinerary = {
  fields: {
    resource_class: ALLOCATED,
    deploy_interface: 'ramdisk',
    boot_interface: 'redfish-virtual-media',
    instance_info: { boot_iso: 'http://images.invalid/live.iso' },
  },
  next: byState({}),
  aborts: 0,
  end: 'active',
}

/** A deployed node that is serviced and rescued. */
export const caring: Itinerary = {
  fields: { deploy_interface: 'custom-agent', raid_interface: 'agent', rescue_interface: 'agent' },
  next: byState({
    available: [
      [1, of('active', { deploy_steps: [{ interface: 'deploy', step: 'install_coreos', priority: 80, args: {} }] })],
    ],
    'deploy failed': [[1, of('deleted')]],
    active: [
      [4, of('service', { service_steps: [NO_RAID] })],
      [1, of('service', { service_steps: [HOLD, NO_RAID] })],
      [4, of('rescue', { rescue_password: 'open sesame' })],
      [1, of('deleted')],
    ],
    'service failed': [
      [2, of('abort')],
      [1, of('rescue', { rescue_password: 'open sesame' })],
      [1, of('service', { service_steps: [NO_RAID] })],
    ],
    'rescue failed': [
      [2, of('unrescue')],
      [1, of('rescue', { rescue_password: 'open sesame' })],
      [1, of('deleted')],
    ],
  }),
  aborts: 0.004,
  end: 'active',
}

/** Cleaning, asked for and automatic, with pauses. */
export const cleaning: Itinerary = {
  fields: { automated_clean: true },
  next: byState({
    manageable: [
      [3, of('clean', { clean_steps: [ERASE] })],
      [1, of('clean', { clean_steps: [ERASE, HOLD] })],
      [1, of('inspect')],
      [2, of('provide')],
    ],
    available: [[1, of('manage')]],
    'clean hold': [
      [2, of('unhold')],
      [1, of('abort')],
    ],
  }),
  aborts: 0.006,
  end: 'available',
}

/** A node whose system is there already, and whose power changes. */
export const adopting: Itinerary = {
  fields: { automated_clean: false },
  next: byState({
    manageable: [
      [2, of('adopt')],
      [1, { power: 'power on' }],
      [1, { power: 'power off' }],
    ],
    available: [[1, of('manage')]],
    active: [
      [2, of('deleted')],
      [2, { power: 'rebooting' }],
      [1, { power: 'power off' }],
      [1, { power: 'power on' }],
    ],
  }),
  aborts: 0,
  end: 'active',
}

export type Config = { ignition: { version: string }; [section: string]: unknown }

/** Deploys one machine again and again with `install_coreos`, every other round after an inspection. */
export class Installing implements Itinerary {
  readonly aborts = 0
  readonly end = 'active'
  readonly #node: string
  #generation = 0
  #inspected = false

  constructor(node: string) {
    this.#node = node
  }

  /** The arguments of the last deployment. */
  get wanted(): { ignition: Config; karg: string } {
    const generation = this.#generation
    return {
      ignition: {
        ignition: { version: '3.4.0' },
        storage: {
          files: [{ path: '/etc/generation', contents: { source: `data:,${this.#node}-${generation}` } }],
        },
      },
      karg: `rehearsal.generation=${generation}`,
    }
  }

  next(node: ApiNode, random: Random): Wish | undefined {
    const verb = this.#verb(node, random)
    if (verb !== 'active') return verb === undefined ? undefined : of(verb)
    this.#generation++
    const { ignition, karg } = this.wanted
    const args = { ignition, append_karg: [karg], hostname: false }
    return of('active', { deploy_steps: [{ interface: 'deploy', step: 'install_coreos', priority: 80, args }] })
  }

  asking(wish: Wish, { provision_state: from }: ApiNode): void {
    if (!('verb' in wish)) return
    if (wish.verb === 'inspect') this.#inspected = true
    if (wish.verb === 'manage' && from === 'available') this.#inspected = false
  }

  #verb({ provision_state: state, inspection_finished_at: inspected }: ApiNode, random: Random): string | undefined {
    switch (state) {
      case 'enroll':
      case 'clean failed':
        return 'manage'
      case 'inspect failed':
        return 'inspect'
      case 'manageable':
        return this.#inspected && inspected !== null ? 'provide' : 'inspect'
      case 'available':
        return random.next() < 0.3 ? 'manage' : 'active'
      case 'deploy failed':
        return random.next() < 0.4 ? 'deleted' : 'active'
      case 'active':
      case 'error':
        return 'deleted'
      default:
        return undefined
    }
  }
}
