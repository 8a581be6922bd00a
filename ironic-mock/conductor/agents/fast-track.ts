import { textOf } from '../../../wire/index.js'
import type { NodeRecord } from '../../../wire/index.js'
import type { Policy } from '../core/policy.js'
import { millis } from '../core/stamp.js'
import type { NodeTask } from '../core/node-task.js'

/** Whether agents are kept running between operations on this node; its own `driver_info.fast_track` wins. */
export function fastTrackEnabled({ driver_info }: Pick<NodeRecord, 'driver_info'>, { fastTrack }: Policy): boolean {
  const own = driver_info.fast_track
  if (own === undefined || own === null) return fastTrack
  return ['true', '1', 't', 'y', 'yes', 'on'].includes(textOf(own).toLowerCase())
}

/** Whether this operation could use an agent that is there: not after a failure, and never to service. */
export const fastTrackable = ({ node, policy }: NodeTask): boolean =>
  fastTrackEnabled(node, policy) && node.last_error === null && !node.provision_state.startsWith('servic')

/**
 * Whether the node's agent was heard of lately, as upstream judges; but an inspection that has ended tells nothing of an
 * agent whose token was dropped since (by a deployment that failed): nobody can command that one any more.
 */
function agentAlive({ node, info, policy, situation }: NodeTask): boolean {
  const known = info.agent_url !== undefined || info.agent_secret_token !== undefined
  const within = (stamped: unknown): boolean =>
    typeof stamped === 'string' && millis(stamped) >= situation.at - policy.fastTrackTimeout
  if (known && node.power_state === 'power on' && within(node.inspection_finished_at)) return true
  const inspecting = node.provision_state === 'inspecting' || node.provision_state === 'inspect wait'
  if (info.agent_url === undefined && !inspecting) return false
  return within(info.agent_last_heartbeat)
}

/** Whether an agent is there that can go on without a reboot. The power is what was last known of it. */
export const fastTracked = (task: NodeTask): boolean =>
  fastTrackable(task) && task.node.power_state === 'power on' && agentAlive(task)
