import {
  IronicError,
  ironicErrors,
  type JsonObject,
  type NodeRecord,
  type PortgroupRecord,
  type PortRecord,
} from '../../../base/wire/index.js'
import type { StoreView } from '../../store/open-store.js'
import type { Store } from '../../store/store.js'
import type { NetworkCalls, VifInfo } from './network-calls.js'
import type { RetryWhileLocked } from '../core/retry-while-locked.js'
import type { CheckServed } from './check-served.js'
import { checkUnlocked } from './node-admin.js'

/** Field of `internal_info` with the tenant's VIF. */
const KEY = 'tenant_vif_port_id'
type PortLike = { kind: 'Port'; record: PortRecord } | { kind: 'Portgroup'; record: PortgroupRecord }
const vifOf = ({ record }: PortLike): string | undefined => record.internal_info[KEY] as string | undefined

export function networkCalls(
  store: Store & StoreView,
  checkServed: CheckServed,
  whileLocked: RetryWhileLocked,
): NetworkCalls {
  const nodeOf = (uuid: string): Readonly<NodeRecord> => {
    checkServed(uuid, 400)
    const entry = store.records.nodes.get(uuid)
    if (!entry) throw ironicErrors.nodeNotFound(uuid)
    return entry.record
  }
  const portsOf = (uuid: string): PortLike[] => store.records.portsOf(uuid).map((record) => ({ kind: 'Port', record }))
  const groupsOf = (uuid: string): PortLike[] =>
    store.records
      .resources('portgroup')
      .of(uuid)
      .map((record) => ({ kind: 'Portgroup', record }))
  const updateInfo = async (
    { kind, record: { uuid } }: PortLike,
    change: (info: JsonObject) => JsonObject,
  ): Promise<void> => {
    const update = <T extends { internal_info: JsonObject }>({ internal_info }: T) => ({
      internal_info: change(internal_info),
    })
    if (kind === 'Port') await store.updatePort(uuid, update)
    else await store.updateResource('portgroup', uuid, update)
  }

  const attachVif = async (uuid: string, vif: VifInfo): Promise<void> => {
    const node = nodeOf(uuid)
    checkUnlocked(node)
    if (node.network_interface === 'noop') return
    const free = freeFor(vif, portsOf(uuid), groupsOf(uuid))
    await updateInfo(free, (info) => ({ ...info, [KEY]: vif.id }))
  }
  const detachVif = async (uuid: string, id: string): Promise<void> => {
    const node = nodeOf(uuid)
    checkUnlocked(node)
    if (node.network_interface === 'noop') return
    const holder = [...groupsOf(uuid), ...portsOf(uuid)].find((each) => vifOf(each) === id)
    if (!holder)
      throw new IronicError(400, `Unable to detach VIF ${id} from node ${uuid} because it is not attached to it.`)
    await updateInfo(holder, ({ [KEY]: _, ...info }) => info)
  }

  return {
    vifs: async (uuid) => {
      const { network_interface } = nodeOf(uuid)
      if (network_interface === 'noop') return []
      return [...portsOf(uuid), ...groupsOf(uuid)].flatMap((each) => {
        const id = vifOf(each)
        return id === undefined ? [] : [{ id }]
      })
    },
    attachVif: (uuid, vif) => whileLocked(() => attachVif(uuid, vif)),
    detachVif: (uuid, id) => whileLocked(() => detachVif(uuid, id)),
  }
}

/**
 * Chooses the port or portgroup for a VIF (ironic drivers/modules/network/common.py get_free_port_like_object): a portgroup
 * before a port, a PXE-enabled port before others. Of a portgroup with an attached member the other members are free too;
 * a member cannot be requested by its uuid.
 */
function freeFor(vif: VifInfo, ports: readonly PortLike[], groups: readonly PortLike[]): PortLike {
  const free: PortLike[] = []
  const members = new Map<number, PortLike[]>()
  const unusable = new Set<number | null>()
  const taken = (each: PortLike): boolean => {
    const attached = vifOf(each)
    if (attached === vif.id)
      throw new IronicError(
        409,
        `Unable to attach VIF because VIF ${vif.id} is already attached to Ironic ${each.kind} ${each.record.uuid}`,
      )
    return attached !== undefined
  }
  for (const port of ports) {
    const { portgroup_id, uuid } = port.record as PortRecord
    if (vif.port_uuid !== undefined && vif.port_uuid !== uuid) continue
    if (taken(port)) unusable.add(portgroup_id)
    else if (portgroup_id === null) {
      if (vif.portgroup_uuid === undefined) free.push(port)
    } else members.set(portgroup_id, [...(members.get(portgroup_id) ?? []), port])
  }
  for (const group of vif.port_uuid === undefined ? groups : []) {
    const { id, uuid } = group.record
    if ((vif.portgroup_uuid !== undefined && vif.portgroup_uuid !== uuid) || taken(group)) continue
    const own = members.get(id) ?? []
    if (!unusable.has(id)) free.push(...(own.length > 0 ? [group] : []))
    else if (vif.portgroup_uuid === undefined) free.push(...own)
  }
  const [best] = free.sort((a, b) => rank(b) - rank(a))
  if (!best) throw new IronicError(400, `Unable to attach VIF ${vif.id}, not enough free physical ports.`)
  return best
}

const rank = ({ kind, record }: PortLike): number => (kind === 'Portgroup' ? 3 : record.pxe_enabled ? 1 : 0)
