import type { NodeDeadline } from '../../ironic-mock/index.js'
import type { NodeRecord } from '../../base/wire/index.js'
import type { AwaitedEvent } from '../../control/index.js'

const WAITED: Readonly<Record<string, string>> = {
  'inspect wait': "the agent's inspection data",
  'clean wait': "the agent's next heartbeat",
  'wait call-back': "the agent's next heartbeat",
  'service wait': "the agent's next heartbeat",
  'rescue wait': "the agent's next heartbeat",
  'clean hold': 'unhold',
  'deploy hold': 'unhold',
  'service hold': 'unhold',
}

/** Event that a node waits for, and until when; null for one that rests. */
export function waitingOf(
  node: Readonly<NodeRecord>,
  deadlines: readonly NodeDeadline[],
  known: string | null,
): AwaitedEvent | null {
  const [first] = deadlines
  const until = first ? new Date(first.at).toISOString() : null
  const { provision_state: state, reservation, target_power_state: power } = node
  if (known !== null) return { what: known, until }
  const waited = WAITED[state]
  if (waited !== undefined) return { what: waited, until }
  if (power) return { what: `the machine to be ${power}`, until }
  if (reservation) return { what: `the conductor ${reservation}, which works on it`, until }
  return null
}
