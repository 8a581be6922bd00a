import {
  DRIVER_INTERFACES,
  IronicError,
  pythonRepr,
  type DriverInterface,
  type NodeRecord,
} from '../../base/wire/index.js'
import { FAKE_HARDWARE } from './fake-hardware.js'
import type { HardwareType, ImplementationKinds, Implementations } from './hardware-type.js'
import { IDRAC } from './idrac.js'
import { IPMI } from './ipmi.js'
import { MANUAL_MANAGEMENT } from './manual-management.js'
import { REDFISH } from './redfish.js'

export type { HardwareType }

/** Hardware types, one row each, in the order of `GET /v1/drivers`. */
export const HARDWARE_TYPES: readonly HardwareType[] = [FAKE_HARDWARE, IDRAC, IPMI, MANUAL_MANAGEMENT, REDFISH]

/** Implementation of an interface, from its hardware type; undefined for one without behaviour of its own. */
export function implementationOf<Kind extends keyof ImplementationKinds>(
  kind: Kind,
  name: string,
  types: readonly HardwareType[] = HARDWARE_TYPES,
): ImplementationKinds[Kind] | undefined {
  for (const { implementations } of types) {
    const found: Implementations[Kind] = implementations[kind]
    if (found && Object.hasOwn(found, name)) return found[name]
  }
  return undefined
}

/**
 * Hardware type of a driver.
 *
 * @param types the enabled ones
 * @param isServed true if a conductor has the nodes of this group and driver
 * @throws IronicError 400, as when no conductor supports the driver
 */
export function hardwareType(driver: string, group: string, types = HARDWARE_TYPES, isServed = true): HardwareType {
  const found = types.find((type) => type.name === driver)
  if (found && isServed) return found
  throw noConductor(driver, group, 400)
}

/** There is no conductor that has a node. @param status 400 where the API reads a new or changed node, else 404 */
export function noConductor(driver: string, group: string, status: 400 | 404): IronicError {
  return new IronicError(
    status,
    `No valid host was found. Reason: No conductor service registered which supports driver ${driver} for conductor group "${group}". Ensure the driver is valid and enabled.`,
  )
}

type InterfaceField = `${DriverInterface}_interface`
export type NodeInterfaces = Pick<NodeRecord, InterfaceField>
export const interfaceField = (name: DriverInterface): InterfaceField => `${name}_interface`

/**
 * Interfaces of a node: the requested ones, and the driver's defaults for the rest.
 *
 * @throws IronicError 400 for one that does not exist or that the driver does not support
 */
export function chooseInterfaces(
  type: HardwareType,
  wanted: Partial<NodeInterfaces>,
  types = HARDWARE_TYPES,
): NodeInterfaces {
  const chosen: Partial<NodeInterfaces> = {}
  for (const name of DRIVER_INTERFACES) {
    const field = interfaceField(name)
    const value = wanted[field] ?? type.interfaces[name][0]!
    if (!isInterfaceAllowed(type, name, value, types)) throw unsupportedInterface(type, name, value, types)
    chosen[field] = value
  }
  return chosen as NodeInterfaces
}

function isInterfaceAllowed(
  type: HardwareType,
  name: DriverInterface,
  value: string,
  types: readonly HardwareType[],
): boolean {
  if (!type.takesAllInterfaces) return type.interfaces[name].includes(value)
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
