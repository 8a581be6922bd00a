import type { Machine, MachineSpec } from '../../machine/index.js'
import type { BmcAccount } from '../../control/index.js'

/** A machine of a fleet, as a node of an Ironic is made of it. */
export interface FleetHost {
  name: string
  /** URL of all BMCs, `http://127.0.0.1:8000`. */
  bmc: string
  /** `/redfish/v1/Systems/machine-1` */
  system: string
  account: BmcAccount
  /** Where its BMC takes IPMI; null where it does not. */
  ipmi: { host: string; port: number } | null
  /** True if the certificate of the BMCs is one that the fleet has made itself. */
  selfSigned: boolean
  bootMac: string
  macs: readonly string[]
  firmware: 'uefi' | 'bios'
  architecture: string
  cpus: number
  memoryMib: number
  manufacturer: string
  product: string
  serial: string
}

/** Name of the node that an Ironic makes of a machine. */
export const nodeNameOf = ({ name, id }: MachineSpec): string => name ?? id

export function makeFleetHost(
  { spec }: Machine,
  { bmc, account, ipmi, selfSigned }: Pick<FleetHost, 'bmc' | 'account' | 'ipmi' | 'selfSigned'>,
): FleetHost {
  const { id, nics, firmware, architecture, cpus, memoryMib, manufacturer, product, serial } = spec
  return {
    name: nodeNameOf(spec),
    bmc,
    system: `/redfish/v1/Systems/${encodeURIComponent(id)}`,
    account,
    ipmi,
    selfSigned,
    bootMac: (nics.find(({ pxe }) => pxe) ?? nics[0])?.mac ?? '',
    macs: nics.map(({ mac }) => mac),
    firmware,
    architecture,
    cpus,
    memoryMib,
    manufacturer,
    product,
    serial,
  }
}
