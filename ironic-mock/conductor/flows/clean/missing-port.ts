import type { NodeRecord, PortRecord, ProvisionState } from '../../../../base/wire/index.js'
import { usesAgent } from '../../steps/driver-steps.js'
import type { NodeTask } from '../../core/node-task.js'

const WAITING: readonly ProvisionState[] = [
  'inspect wait',
  'clean wait',
  'wait call-back',
  'service wait',
  'rescue wait',
]

/**
 * Reason why no agent can find its node: a lookup needs the MAC address of a port; inspection also accepts the address of
 * the BMC. Null when an agent can.
 */
export function missingPort(node: Readonly<NodeRecord>, ports: readonly Pick<PortRecord, 'address'>[]): string | null {
  const { provision_state: state, driver_internal_info: info } = node
  if (ports.length > 0 || info.agent_url !== undefined || !WAITING.includes(state) || !usesAgent(node)) return null
  if (state === 'inspect wait' && info.lookup_bmc_addresses !== undefined) return null
  const name = node.name ?? node.uuid
  return `${name} has no port, so its ramdisk is not recognised: create one with a MAC address of the machine, as "baremetal port create --node ${name} MAC" does`
}

/** Warns at the start of a wait without ports; upstream waits in silence. */
export function warnOfMissingPort(task: NodeTask): void {
  const { situation, node } = task
  if (node.provision_state === situation.node.provision_state) return
  const why = missingPort(node, situation.ports)
  if (why !== null) task.warn(why)
}
