import { anyText, wordList } from '../../base/runtime/index.js'
import { DRIVER_INTERFACES, type DriverInterface } from '../../base/wire/index.js'
import { HARDWARE_TYPES } from '../drivers/hardware-types.js'
import { confOption, type IronicOption } from './option.js'

export const HARDWARE_TYPES_OPTION = confOption('DEFAULT', 'enabled_hardware_types', wordList)

const each = <T>(make: (kind: DriverInterface) => IronicOption<T>) =>
  Object.fromEntries(DRIVER_INTERFACES.map((kind) => [kind, make(kind)])) as Record<DriverInterface, IronicOption<T>>

export const ENABLED_OPTIONS = each((kind) => confOption('DEFAULT', `enabled_${kind}_interfaces`, wordList))
export const DEFAULT_OPTIONS = each((kind) => confOption('DEFAULT', `default_${kind}_interface`, anyText))

/** Names that Ironic 39.0.0 also knows, of which some are simulated. */
const UPSTREAM_NAMES: Readonly<Record<DriverInterface | 'types', readonly string[]>> = {
  types: ['ibmc', 'ilo', 'ilo5', 'intel-ipmi', 'irmc', 'snmp', 'xclarity'],
  bios: ['idrac-redfish', 'idrac-wsman', 'ilo', 'irmc'],
  boot: ['http', 'http-ipxe', 'ilo-virtual-media', 'irmc-virtual-media', 'pxe'],
  console: ['fake', 'fake-graphical', 'ilo', 'ipmitool-shellinabox', 'ipmitool-socat', 'redfish-graphical'],
  deploy: ['anaconda', 'ansible', 'autodetect', 'bootc', 'noop'],
  firmware: [],
  inspect: ['idrac-redfish', 'idrac-wsman', 'ilo', 'inspector', 'irmc'],
  management: ['idrac-wsman', 'ilo', 'intel-ipmitool', 'irmc'],
  network: ['flat', 'ironic-networking', 'neutron'],
  power: ['idrac-wsman', 'ilo', 'irmc', 'snmp'],
  raid: ['idrac-wsman', 'ilo5', 'irmc'],
  rescue: [],
  storage: ['cinder', 'external'],
  vendor: ['idrac', 'idrac-wsman', 'ilo', 'irmc'],
}

/** Names that an operator can enable: `simulated` ones, and `others` that are not simulated. */
export function driverNames(kind: DriverInterface | 'types'): { simulated: string[]; others: readonly string[] } {
  const simulated =
    kind === 'types'
      ? HARDWARE_TYPES.map(({ name }) => name)
      : [...new Set(HARDWARE_TYPES.flatMap(({ interfaces }) => interfaces[kind]))].sort()
  return { simulated, others: UPSTREAM_NAMES[kind].filter((name) => !simulated.includes(name)) }
}
