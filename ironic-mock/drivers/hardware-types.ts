import { DRIVER_INTERFACES, IronicError, pythonRepr, type DriverInterface, type NodeRecord } from '../../wire/index.js'
import { driverProperties } from './properties.js'

export interface HardwareType {
  readonly name: string
  /** The class as upstream's sentences name it. */
  readonly className: string
  /** Enabled implementations by interface, the default first; the sets are those recorded. */
  readonly interfaces: Readonly<Record<DriverInterface, readonly string[]>>
  readonly properties: Readonly<Record<string, string>>
}

const AGENT_DEPLOY = ['custom-agent', 'direct', 'ramdisk', 'autodetect', 'bootc']

const FAKE: HardwareType = {
  name: 'fake-hardware',
  className: 'FakeHardware',
  interfaces: {
    bios: ['fake', 'no-bios'],
    boot: ['fake', 'ipxe'],
    console: ['fake', 'no-console'],
    deploy: [...AGENT_DEPLOY, 'fake', 'noop'],
    firmware: ['fake', 'no-firmware'],
    inspect: ['agent', 'fake', 'no-inspect'],
    management: ['fake'],
    network: ['noop', 'flat', 'neutron'],
    power: ['fake'],
    raid: ['fake', 'agent', 'no-raid'],
    rescue: ['fake', 'agent', 'no-rescue'],
    storage: ['noop', 'fake'],
    vendor: ['fake', 'no-vendor'],
  },
  properties: driverProperties('fake'),
}

const GENERIC = {
  bios: ['no-bios'],
  boot: ['ipxe'],
  console: ['no-console'],
  deploy: AGENT_DEPLOY,
  firmware: ['no-firmware'],
  inspect: ['agent', 'no-inspect'],
  network: ['noop', 'flat', 'neutron'],
  raid: ['no-raid', 'agent'],
  rescue: ['no-rescue', 'agent'],
  storage: ['noop'],
}

const IPMI: HardwareType = {
  name: 'ipmi',
  className: 'IPMIHardware',
  interfaces: {
    ...GENERIC,
    management: ['ipmitool', 'noop'],
    power: ['ipmitool'],
    vendor: ['ipmitool', 'no-vendor'],
  },
  properties: driverProperties('ipmi'),
}

const MANUAL: HardwareType = {
  name: 'manual-management',
  className: 'ManualManagementHardware',
  interfaces: {
    ...GENERIC,
    deploy: [...AGENT_DEPLOY, 'noop'],
    management: ['noop', 'fake'],
    power: ['agent', 'fake'],
    vendor: ['no-vendor'],
  },
  properties: driverProperties('manual'),
}

const REDFISH_INTERFACES = {
  ...GENERIC,
  bios: ['redfish', 'no-bios'],
  boot: ['ipxe', 'redfish-virtual-media', 'redfish-https'],
  firmware: ['redfish', 'no-firmware'],
  inspect: ['agent', 'no-inspect', 'redfish'],
  management: ['redfish', 'noop'],
  power: ['redfish'],
  raid: ['redfish', 'agent', 'no-raid'],
  vendor: ['redfish', 'no-vendor'],
}

const REDFISH: HardwareType = {
  name: 'redfish',
  className: 'RedfishHardware',
  interfaces: REDFISH_INTERFACES,
  properties: driverProperties('redfish'),
}

/** Redfish under its vendor's names, as BareMetal Operator asks for them. */
const IDRAC: HardwareType = {
  name: 'idrac',
  className: 'IDRACHardware',
  interfaces: {
    ...REDFISH_INTERFACES,
    bios: ['idrac-redfish', 'no-bios'],
    boot: ['ipxe', 'idrac-redfish-virtual-media', 'redfish-https'],
    management: ['idrac-redfish'],
    power: ['idrac-redfish'],
    raid: ['idrac-redfish', 'agent', 'no-raid'],
    vendor: ['idrac-redfish', 'no-vendor'],
  },
  properties: driverProperties('redfish'),
}

/** In the order in which they are listed. */
export const HARDWARE_TYPES: readonly HardwareType[] = [FAKE, IDRAC, IPMI, MANUAL, REDFISH]

/**
 * @param types those that are enabled
 * @throws IronicError 400, as when no conductor supports the driver
 */
export function hardwareType(driver: string, group: string, types = HARDWARE_TYPES): HardwareType {
  const found = types.find((type) => type.name === driver)
  if (found && group === '') return found
  throw new IronicError(
    400,
    `No valid host was found. Reason: No conductor service registered which supports driver ${driver} for conductor group "${group}". Ensure the driver is valid and enabled.`,
  )
}

type InterfaceField = `${DriverInterface}_interface`
export type Interfaces = Pick<NodeRecord, InterfaceField>
export const interfaceField = (name: DriverInterface): InterfaceField => `${name}_interface`

/**
 * The interfaces of a node: what was asked for, the driver's defaults for the rest.
 *
 * @throws IronicError 400 for one that does not exist or that the driver does not support
 */
export function chooseInterfaces(type: HardwareType, wanted: Partial<Interfaces>, types = HARDWARE_TYPES): Interfaces {
  const chosen: Partial<Interfaces> = {}
  for (const name of DRIVER_INTERFACES) {
    const field = interfaceField(name)
    const value = wanted[field] ?? type.interfaces[name][0]!
    if (!allowed(type, name, value, types)) throw unsupportedInterface(type, name, value, types)
    chosen[field] = value
  }
  return chosen as Interfaces
}

/** `fake-hardware` takes whatever is enabled for any driver, so that everything can be combined. */
function allowed(type: HardwareType, name: DriverInterface, value: string, types: readonly HardwareType[]): boolean {
  if (type.name !== 'fake-hardware') return type.interfaces[name].includes(value)
  return types.some((other) => other.interfaces[name].includes(value))
}

function unsupportedInterface(
  type: HardwareType,
  name: DriverInterface,
  value: string,
  types: readonly HardwareType[],
): IronicError {
  const known = [...new Set(types.flatMap((other) => other.interfaces[name]))].sort()
  if (known.includes(value))
    return new IronicError(
      400,
      `${name} interface implementation '${value}' is not supported by hardware type ${type.className}.`,
    )
  return new IronicError(
    400,
    `Could not find the following interface in the 'ironic.hardware.interfaces.${name}' entrypoint: ${value}. Valid interfaces are ${pythonRepr(known)}.`,
  )
}
