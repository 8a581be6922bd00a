import type { NodeRecord } from '../../wire/index.js'
import { COMMON_BOOT_DEVICES } from './generic.js'
import type { ManagementCall } from './hardware-type.js'
import { HARDWARE_TYPES, implementation } from './hardware-types.js'
import { unsupported } from './requirements.js'

/** Reason why the node's management interface does not support a call; undefined when it does. */
export function managementProblem(
  node: Readonly<NodeRecord>,
  call: ManagementCall,
  types = HARDWARE_TYPES,
): string | undefined {
  const supported = implementation('management', node.management_interface, types)?.calls.includes(call) ?? false
  return supported ? undefined : unsupported(node, call)
}

export const supportedBootDevices = (node: Readonly<NodeRecord>, types = HARDWARE_TYPES): readonly string[] =>
  implementation('management', node.management_interface, types)?.bootDevices ?? COMMON_BOOT_DEVICES

export const readsBios = ({ bios_interface }: Readonly<NodeRecord>): boolean =>
  implementation('bios', bios_interface)?.reads ?? false
export const readsFirmware = ({ firmware_interface }: Readonly<NodeRecord>): boolean =>
  implementation('firmware', firmware_interface)?.reads ?? false
export const readsModes = ({ management_interface }: Readonly<NodeRecord>): boolean =>
  implementation('management', management_interface)?.readsModes ?? false
