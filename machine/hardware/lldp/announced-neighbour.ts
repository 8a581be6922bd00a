import type { NicSpec } from '../../machine-spec.js'
import { linkLocalAddress } from '../link-local.js'
import type { LldpVlan } from './lldp-neighbour.js'
import { PLAIN_SWITCH, SWITCH_SYSTEMS, type SwitchSystem } from './switch-systems.js'

/** The switch at which every NIC has a port, unless its hardware names another one. */
const DEFAULT_CHASSIS = '02:00:5e:00:53:01'
const DEFAULT_NAME = 'switch-1'

/** A switch port with all that its frames say. */
export interface AnnouncedNeighbour {
  readonly system: SwitchSystem
  readonly chassis: string
  readonly port: string
  readonly name: string
  readonly portDescription: string | null
  readonly untaggedVlan: number | null
  readonly vlans: readonly Required<LldpVlan>[]
  readonly mtu: number | null
  readonly managementAddresses: readonly string[]
}

/**
 * The switch port at which a NIC is, as LLDP announces it; null for a port that sends no LLDP.
 *
 * @param index of the NIC among those of its machine, from 0
 */
export function announcedNeighbour({ lldp }: Pick<NicSpec, 'lldp'>, index: number): AnnouncedNeighbour | null {
  if (lldp === null) return null
  const neighbour = lldp ?? {}
  const system: SwitchSystem = neighbour.switch === undefined ? PLAIN_SWITCH : SWITCH_SYSTEMS[neighbour.switch]
  const chassis = neighbour.chassis ?? DEFAULT_CHASSIS
  return {
    system,
    chassis,
    port: neighbour.port ?? system.port(index + 1),
    name: neighbour.name ?? DEFAULT_NAME,
    portDescription: neighbour.portDescription ?? system.portDescription?.(index + 1) ?? null,
    untaggedVlan: neighbour.untaggedVlan ?? system.untaggedVlan,
    vlans: (neighbour.vlans ?? []).map(({ id, name }) => ({ id, name: name ?? `vlan-${id}` })),
    mtu: neighbour.mtu ?? system.mtu,
    managementAddresses:
      neighbour.managementAddresses ?? (system.hasLinkLocalAddress ? [linkLocalAddress(chassis)] : []),
  }
}
