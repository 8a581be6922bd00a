import type { HardwareType, Implementations } from './hardware-type.js'
import { REDFISH } from './redfish.js'

const OWN = 'idrac-redfish'
const { bios, boot, management, power, raid, vendor } = REDFISH.implementations

/** Renames the implementations of Redfish to the vendor's name. */
const renameImplementations = <T>(implementations: Readonly<Record<string, T>> | undefined): Record<string, T> =>
  implementations?.redfish === undefined ? {} : { [OWN]: implementations.redfish }

const implementations: Implementations = {
  bios: renameImplementations(bios),
  boot: { 'idrac-redfish-virtual-media': boot!['redfish-virtual-media']! },
  management: renameImplementations(management),
  power: renameImplementations(power),
  raid: renameImplementations(raid),
  vendor: renameImplementations(vendor),
}

/** Redfish under the vendor's names, which BareMetal Operator uses. */
export const IDRAC: HardwareType = {
  ...REDFISH,
  name: 'idrac',
  className: 'IDRACHardware',
  interfaces: {
    ...REDFISH.interfaces,
    bios: [OWN, 'no-bios'],
    boot: ['ipxe', 'idrac-redfish-virtual-media', 'redfish-https'],
    management: [OWN],
    power: [OWN],
    raid: [OWN, 'agent', 'no-raid'],
    vendor: [OWN, 'no-vendor'],
  },
  implementations,
}
