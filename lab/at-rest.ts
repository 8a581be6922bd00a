import { STABLE_STATES } from '../ironic-mock/index.js'
import type { NodeRecord, ProvisionState } from '../base/wire/index.js'

const AT_REST: ReadonlySet<ProvisionState> = new Set(STABLE_STATES)

/** Whether a node is in a stable or a failed state, unlocked, with no change of power under way. */
export function isAtRest(node: Readonly<NodeRecord>): boolean {
  const { provision_state: state, reservation, target_power_state: power } = node
  return reservation === null && power === null && (AT_REST.has(state) || state.endsWith(' failed'))
}
