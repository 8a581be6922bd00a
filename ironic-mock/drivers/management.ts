import { IronicError, type NodeRecord } from '../../base/wire/index.js'
import { COMMON_BOOT_DEVICES } from './generic.js'
import type { FixedAnswers, ManagementCall } from './hardware-type.js'
import { HARDWARE_TYPES, implementationOf } from './hardware-types.js'
import { describeUnsupported } from './requirements.js'

/** Reason why the node's management interface does not support a call; undefined when it does. */
export function managementProblem(
  node: Readonly<NodeRecord>,
  call: ManagementCall,
  types = HARDWARE_TYPES,
): string | undefined {
  const supported = implementationOf('management', node.management_interface, types)?.calls.includes(call) ?? false
  return supported ? undefined : describeUnsupported(node, call)
}

export const supportedBootDevices = (node: Readonly<NodeRecord>, types = HARDWARE_TYPES): readonly string[] =>
  implementationOf('management', node.management_interface, types)?.bootDevices ?? COMMON_BOOT_DEVICES

/** Answers of the node's management interface that are always the same; undefined when it asks the machine. */
export const fixedAnswers = ({ management_interface }: Readonly<NodeRecord>): FixedAnswers | undefined =>
  implementationOf('management', management_interface)?.fixed

/** @throws IronicError 400 when the node's management interface does not support the boot device */
export function checkBootDevice(node: Readonly<NodeRecord>, device: string): void {
  const supported = supportedBootDevices(node)
  if (supported.includes(device)) return
  const isListed = implementationOf('management', node.management_interface)?.listsBootDevices
  const listed = isListed ? `, supported are ${supported.join(', ')}` : ''
  throw new IronicError(400, `Invalid boot device ${device} specified${listed}.`)
}

export const readsBios = ({ bios_interface }: Readonly<NodeRecord>): boolean =>
  implementationOf('bios', bios_interface)?.reads ?? false
export const readsFirmware = ({ firmware_interface }: Readonly<NodeRecord>): boolean =>
  implementationOf('firmware', firmware_interface)?.reads ?? false
export const readsModes = ({ management_interface }: Readonly<NodeRecord>): boolean =>
  implementationOf('management', management_interface)?.readsModes ?? false
