import { randomUuid as newUuid } from '../../../base/runtime/index.js'
import {
  IronicError,
  ironicErrors,
  formatClientValue,
  type NodeRecord,
  type PortRecord,
} from '../../../base/wire/index.js'
import type { NewPort } from '../core/conductor.js'
import { newPort } from './new-records.js'
import type { CheckServed } from './check-served.js'
import { checkUnlocked } from './node-admin.js'
import { toApiError } from './store-errors.js'
import type { ResourceAdminOptions } from './resource-admin.js'
import { formatTimestamp } from '../core/timestamps.js'

/** Fields that only change in RECONNECTABLE states or in maintenance, in the order of upstream's error. */
const CONNECTIVITY = ['portgroup_id', 'pxe_enabled', 'local_link_connection', 'physical_network'] as const
const RECONNECTABLE = ['enroll', 'inspecting', 'inspect wait', 'manageable']

/** Creates, updates and deletes ports. */
export class PortAdmin {
  readonly #options: ResourceAdminOptions
  readonly #checkServed: CheckServed

  constructor(options: ResourceAdminOptions, checkServed: CheckServed) {
    this.#options = options
    this.#checkServed = checkServed
  }

  async create(fields: NewPort): Promise<PortRecord> {
    const { store, random } = this.#options
    const node = this.#node(fields.node_uuid)
    this.#checkServed(node.uuid)
    const port = newPort(fields, node.id, this.#now, fields.uuid ?? newUuid(random))
    await this.#joinNetwork({ ...port, id: -1 })
    return store.createPort(port).catch(toApiError())
  }

  async update(uuid: string, change: (port: PortRecord) => Partial<PortRecord>): Promise<PortRecord> {
    const { store } = this.#options
    const known = await store.port(uuid)
    if (!known) throw ironicErrors.portNotFound(uuid)
    const checked = (port: PortRecord): Partial<PortRecord> => {
      const node = this.#node(port.node_uuid)
      const patch = change(port)
      this.#checkServed(patch.node_uuid ?? node.uuid)
      checkUnlocked(node)
      const moved = patch.address === undefined ? patch : { ...patch, address: patch.address.toLowerCase() }
      checkChange(node, port, moved)
      return moved
    }
    const patch = checked(known)
    if ('portgroup_id' in patch || 'physical_network' in patch) await this.#joinNetwork({ ...known, ...patch })
    const updated = await store
      .updatePort(uuid, (port) => ({ ...checked(port), updated_at: this.#now }))
      .catch(toApiError())
    if (!updated) throw ironicErrors.portNotFound(uuid)
    return updated
  }

  async remove(uuid: string): Promise<void> {
    const { store } = this.#options
    const port = await store.port(uuid)
    if (!port) throw ironicErrors.portNotFound(uuid)
    const node = this.#node(port.node_uuid)
    this.#checkServed(node.uuid)
    checkUnlocked(node)
    const vif = port.internal_info.tenant_vif_port_id
    if (vif != null && !node.maintenance)
      throw new IronicError(
        409,
        `Cannot delete the port ${uuid} as it is bound to VIF ${formatClientValue(vif)} for use.`,
      )
    await store.removePort(uuid)
  }

  /** All ports of a portgroup are in one physical network; the first port sets it. */
  async #joinNetwork(port: PortRecord): Promise<void> {
    const { store } = this.#options
    const group = store.records.resources('portgroup').byId(port.portgroup_id)
    if (!group) return
    const members = store.records
      .portsOf(port.node_uuid)
      .filter(({ id, portgroup_id }) => portgroup_id === group.id && id !== port.id)
    const network = members.length > 0 ? members[0]!.physical_network : group.physical_network
    if (members.length === 0 && network === null) {
      if (port.physical_network !== null)
        await store.updateResource('portgroup', group.uuid, () => ({ physical_network: port.physical_network }))
      return
    }
    if (network !== port.physical_network)
      throw new IronicError(
        409,
        `Port with physical network ${port.physical_network ?? 'None'} cannot become a member of port group ${group.uuid} which has ports in physical network ${network ?? 'None'}.`,
      )
  }

  #node(uuid: string): Readonly<NodeRecord> {
    const entry = this.#options.store.records.nodes.get(uuid)
    if (!entry) throw ironicErrors.nodeNotFound(uuid)
    return entry.record
  }

  get #now(): string {
    return formatTimestamp(this.#options.clock.now())
  }
}

function checkChange(node: Readonly<NodeRecord>, port: PortRecord, patch: Partial<PortRecord>): void {
  const changed = (name: keyof PortRecord) =>
    name in patch && JSON.stringify(patch[name]) !== JSON.stringify(port[name])
  if (changed('address') && !node.maintenance && (node.provision_state === 'active' || node.instance_uuid !== null))
    throw new IronicError(
      409,
      `Cannot update hardware address for port ${port.uuid} as node ${node.uuid} is active or has instance UUID assigned`,
    )
  if (CONNECTIVITY.some(changed) && !node.maintenance && !RECONNECTABLE.includes(node.provision_state))
    throw new IronicError(
      409,
      `Port ${port.uuid} can not have any connectivity attributes (${CONNECTIVITY.join(', ')}) updated unless node ${node.uuid} is in a ${RECONNECTABLE.join(', ')} state or in maintenance mode. The current state is ${node.provision_state}.`,
    )
}
