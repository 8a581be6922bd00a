import { PROVISION_VERBS, type StoreView } from '../../../ironic-mock/index.js'
import { defined, type Random } from '../../../base/runtime/index.js'
import type { NodeRecord } from '../../../base/wire/index.js'
import type { Asked, System } from './system.js'

/** How many nodes a session has, and looks after that it has. */
const NODES = 10
const POWER = ['power on', 'power off', 'rebooting', 'soft power off', 'soft rebooting']
const RARE_VERBS = ['rescue', 'unrescue', 'service', 'clean', 'unhold']
const headers = { 'x-openstack-ironic-api-version': '1.115' }
const ask = (method: string, target: string, body?: unknown): Asked => ({
  method,
  target,
  headers,
  ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
})

/** A sensible client, which takes nodes through all states while other requests are nonsense. */
export class Walker {
  readonly #system: System
  readonly #random: Random
  #made = 0

  constructor(system: System, random: Random) {
    this.#system = system
    this.#random = random
  }

  next(): Asked {
    const { records } = this.#system.view()
    if (records.nodes.size < NODES) return this.#register()
    const node = this.#pick([...records.nodes.values()])!.record
    if (node.maintenance && this.#often(0.5)) return ask('DELETE', `/v1/nodes/${node.uuid}/maintenance`)
    if (node.protected || node.retired)
      return ask('PATCH', `/v1/nodes/${node.uuid}`, [
        { op: 'add', path: '/protected', value: false },
        { op: 'add', path: '/retired', value: false },
      ])
    if (records.portsOf(node.uuid).length === 0) return this.#port(node)
    if (this.#often(0.1)) return this.#aside(node, records)
    return this.#verb(node)
  }

  #register(): Asked {
    return ask('POST', '/v1/nodes', {
      ...this.#system.newNode(this.#random.next()),
      name: `walked-${++this.#made}`,
      resource_class: 'walked',
      automated_clean: this.#often(0.7),
    })
  }

  #port({ uuid }: Readonly<NodeRecord>): Asked {
    const octets = Array.from(this.#random.bytes(3), (byte) => byte.toString(16).padStart(2, '0'))
    return ask('POST', '/v1/ports', { node_uuid: uuid, address: ['02', '00', '00', ...octets].join(':') })
  }

  /** A request that changes no provision state. */
  #aside({ uuid, instance_uuid }: Readonly<NodeRecord>, records: StoreView['records']): Asked {
    const dice = this.#random.next()
    if (dice < 0.4) return ask('PUT', `/v1/nodes/${uuid}/states/power`, { target: this.#pick(POWER) })
    if (dice < 0.6) return ask('POST', '/v1/allocations', { resource_class: 'walked' })
    const allocation = this.#pick([...records.resources('allocation').byUuid.keys()])
    if (dice < 0.75 && allocation !== undefined) return ask('DELETE', `/v1/allocations/${allocation}`)
    if (dice < 0.8 && instance_uuid !== null)
      return ask('PATCH', `/v1/nodes/${uuid}`, [{ op: 'remove', path: '/instance_uuid' }])
    return ask('GET', `/v1/nodes/${uuid}/states`)
  }

  #verb({ uuid, provision_state: state }: Readonly<NodeRecord>): Asked {
    const known = Object.keys(PROVISION_VERBS).filter((verb) => PROVISION_VERBS[verb]!.from.includes(state))
    // A node that waits is mostly left alone.
    const hasty = known.includes('abort') && this.#often(0.85) ? known.filter((verb) => verb === 'unhold') : known
    // Prefer verbs that few states allow.
    const rare = hasty.filter((verb) => RARE_VERBS.includes(verb))
    const target = this.#pick(rare.length > 0 && this.#often(0.6) ? rare : hasty)
    if (target === undefined) return ask('GET', `/v1/nodes/${uuid}`)
    return ask('PUT', `/v1/nodes/${uuid}/states/provision`, { target, ...this.#arguments(target) })
  }

  #arguments(target: string): Record<string, unknown> {
    const step = (of: string, name: string, more = {}) => ({ interface: of, step: name, args: {}, ...more })
    const pause = (more = {}) =>
      this.#pick([step('deploy', 'hold', more), { ...step('deploy', 'wait', more), args: { seconds: 5 } }])!
    const held = (more = {}) => (this.#often(0.2) ? [pause(more)] : [])
    switch (target) {
      case 'active':
      case 'deploy':
      case 'rebuild':
        return this.#often(0.5)
          ? { deploy_steps: [step('deploy', 'install_coreos', { priority: 80 }), ...held({ priority: 70 })] }
          : {}
      case 'clean':
        // A hold alone is also for nodes whose hardware knows no step.
        return { clean_steps: [...(this.#often(0.3) ? [] : [step('deploy', 'erase_devices_metadata')]), pause()] }
      case 'service':
        return { service_steps: [...held(), step('raid', 'delete_configuration')] }
      case 'rescue':
        return { rescue_password: 'open sesame' }
      default:
        return {}
    }
  }

  #often(share: number): boolean {
    return this.#random.next() < share
  }

  #pick<T>(of: readonly T[]): T | undefined {
    return of[Math.floor(this.#random.next() * of.length)]
  }
}
