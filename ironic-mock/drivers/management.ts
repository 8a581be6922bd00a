import type { NodeRecord } from '../../wire/index.js'
import { unsupported } from './requirements.js'

/** What a management interface may be asked for, by the names that Ironic's refusals give. */
export type ManagementCall =
  | 'set_boot_mode'
  | 'set_secure_boot_state'
  | 'inject_nmi'
  | 'get_supported_indicators'
  | 'get_indicator_state'
  | 'set_indicator_state'
  | 'get_virtual_media'
  | 'attach_virtual_media'
  | 'detach_virtual_media'

const REDFISH: readonly ManagementCall[] = [
  'set_boot_mode',
  'set_secure_boot_state',
  'inject_nmi',
  'get_supported_indicators',
  'get_indicator_state',
  'set_indicator_state',
  'get_virtual_media',
  'attach_virtual_media',
  'detach_virtual_media',
]

/** What was asked of a real Ironic's interfaces and not refused. */
const SUPPORTED: Readonly<Record<string, readonly ManagementCall[]>> = {
  fake: ['get_supported_indicators', 'get_indicator_state'],
  ipmitool: ['inject_nmi'],
  redfish: REDFISH,
  'idrac-redfish': REDFISH,
}

/** Why the node's management interface cannot do it; undefined when it can. */
export function managementProblem(node: Readonly<NodeRecord>, call: ManagementCall): string | undefined {
  return SUPPORTED[node.management_interface]?.includes(call) ? undefined : unsupported(node, call)
}

const IN_ANY_ORDER = ['pxe', 'disk', 'cdrom', 'bios'] as const
/** In the order in which real Ironic lists them. */
const BOOT_DEVICES: Readonly<Record<string, readonly string[]>> = {
  fake: ['pxe'],
  noop: ['pxe', 'disk'],
  ipmitool: [...IN_ANY_ORDER, 'safe'],
  redfish: [...IN_ANY_ORDER, 'uefihttp'],
  'idrac-redfish': [...IN_ANY_ORDER, 'uefihttp'],
}

export const supportedBootDevices = (node: Readonly<NodeRecord>): readonly string[] =>
  BOOT_DEVICES[node.management_interface] ?? IN_ANY_ORDER

/** Whose BMC knows settings, components and modes: Redfish under either name. */
const TELLING = ['redfish', 'idrac-redfish']
export const readsBios = ({ bios_interface }: Readonly<NodeRecord>): boolean => TELLING.includes(bios_interface)
export const readsFirmware = ({ firmware_interface }: Readonly<NodeRecord>): boolean =>
  TELLING.includes(firmware_interface)
export const readsModes = ({ management_interface }: Readonly<NodeRecord>): boolean =>
  TELLING.includes(management_interface)
