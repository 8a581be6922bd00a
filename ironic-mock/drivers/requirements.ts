import type { NodeRecord, PortRecord } from '../../base/wire/index.js'
import { HARDWARE_TYPES, implementationOf } from './hardware-types.js'

/** Reason why the node's power cannot be controlled; undefined when it can be. */
export function powerProblem(node: Readonly<NodeRecord>, types = HARDWARE_TYPES): string | undefined {
  const bmc = implementationOf('power', node.power_interface, types)?.bmc
  if (!bmc) return undefined
  const missing = bmc.required.filter((field) => !node.driver_info[field])
  return missing.length > 0 ? bmc.missing(missing, node) : bmc.invalid?.(node)
}

/** Reason why the node cannot boot: network booting needs a port (recorded with a redfish node). */
export function bootProblem(node: Readonly<NodeRecord>, ports: readonly PortRecord[]): string | undefined {
  if (implementationOf('boot', node.boot_interface)?.needsPort && ports.length === 0)
    return `Node ${node.uuid} does not have any port associated with it`
  return undefined
}

/**
 * Reason why the node cannot be inspected: in-band inspection may require a boot that Ironic manages (Ironic's source).
 */
export function inspectProblem(
  node: Readonly<NodeRecord>,
  { requireManagedBoot }: { requireManagedBoot: boolean },
): string | undefined {
  if (node.inspect_interface === 'no-inspect') return describeUnsupported(node, 'inspect')
  if (
    node.inspect_interface === 'agent' &&
    requireManagedBoot &&
    !implementationOf('boot', node.boot_interface)?.managesInspection
  )
    return describeUnsupported(node, 'inspection')
  return undefined
}

/** Reason why the node cannot be rescued; only `no-rescue` has one. */
export const rescueProblem = (node: Readonly<NodeRecord>): string | undefined =>
  node.rescue_interface === 'no-rescue' ? describeUnsupported(node, 'rescue') : undefined

export const describeUnsupported = (node: Readonly<NodeRecord>, what: string): string =>
  `Driver ${node.driver} does not support ${what} (disabled or not implemented).`
