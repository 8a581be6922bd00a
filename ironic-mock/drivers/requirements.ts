import { maskedAddress } from '../../bytes/index.js'
import type { NodeRecord, PortRecord } from '../../wire/index.js'

/** What a power interface must find in `driver_info`, as its validation words it. */
const REQUIRED: Readonly<Record<string, { fields: string[]; problem: (missing: string[], uuid: string) => string }>> = {
  redfish: {
    fields: ['redfish_address'],
    problem: (missing, uuid) =>
      `Missing the following Redfish properties in node ${uuid} driver_info: [${quoted(missing)}]`,
  },
  ipmitool: {
    fields: ['ipmi_address'],
    problem: (missing) => `Missing the following IPMI credentials in node's driver_info: [${quoted(missing)}].`,
  },
}
const POWER_DRIVERS: Readonly<Record<string, string>> = {
  redfish: 'redfish',
  'idrac-redfish': 'redfish',
  ipmitool: 'ipmitool',
}

const quoted = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ')

/** Why the node's power cannot be controlled, as far as its record tells; undefined when nothing is wrong. */
export function powerProblem(node: Readonly<NodeRecord>): string | undefined {
  const required = REQUIRED[POWER_DRIVERS[node.power_interface] ?? '']
  if (!required) return undefined
  const missing = required.fields.filter((field) => !node.driver_info[field])
  if (missing.length > 0) return required.problem(missing, node.uuid)
  const address = node.driver_info.redfish_address
  if (typeof address === 'string' && !isAddress(address))
    return `Invalid redfish address ${maskedAddress(address)} set in driver_info/redfish_address on node ${node.uuid}`
  return undefined
}

function isAddress(address: string): boolean {
  return URL.canParse(address.includes('://') ? address : `https://${address}`)
}

/** The noop network needs nothing. */
export function networkProblem(_node: Readonly<NodeRecord>): string | undefined {
  return undefined
}

/** Network booting needs to know a NIC; recorded of a redfish node without ports. */
export function bootProblem(node: Readonly<NodeRecord>, ports: readonly PortRecord[]): string | undefined {
  const fromNetwork = node.boot_interface === 'ipxe' || node.boot_interface === 'pxe'
  if (fromNetwork && ports.length === 0) return `Node ${node.uuid} does not have any port associated with it`
  return undefined
}

/** Boot interfaces by which Ironic itself boots a ramdisk to inspect. */
const INSPECTS = [
  'ipxe',
  'pxe',
  'http',
  'http-ipxe',
  'redfish-virtual-media',
  'idrac-redfish-virtual-media',
  'redfish-https',
]

/** In-band inspection may insist on a boot that Ironic manages (Ironic's source). */
export function inspectProblem(
  node: Readonly<NodeRecord>,
  { requireManagedBoot }: { requireManagedBoot: boolean },
): string | undefined {
  if (node.inspect_interface === 'no-inspect') return unsupported(node, 'inspect')
  if (node.inspect_interface === 'agent' && requireManagedBoot && !INSPECTS.includes(node.boot_interface))
    return unsupported(node, 'inspection')
  return undefined
}

/** Rescue through an agent boots a ramdisk; `fake` needs nothing. */
export const rescueProblem = (node: Readonly<NodeRecord>): string | undefined =>
  node.rescue_interface === 'no-rescue' ? unsupported(node, 'rescue') : undefined

export const unsupported = (node: Readonly<NodeRecord>, what: string): string =>
  `Driver ${node.driver} does not support ${what} (disabled or not implemented).`
