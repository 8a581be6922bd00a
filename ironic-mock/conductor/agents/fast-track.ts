import { formatClientValue } from '../../../base/wire/index.js'
import type { NodeRecord } from '../../../base/wire/index.js'
import type { ConductorConf } from '../core/conductor-conf.js'
import { parseTimestamp } from '../core/timestamps.js'
import type { NodeTask } from '../core/node-task.js'

/** True when agents of this node stay on between operations; its own `driver_info.fast_track` wins. */
export function fastTrackEnabled(
  { driver_info }: Pick<NodeRecord, 'driver_info'>,
  { fastTrack }: ConductorConf,
): boolean {
  const own = driver_info.fast_track
  if (own === undefined || own === null) return fastTrack
  return ['true', '1', 't', 'y', 'yes', 'on'].includes(formatClientValue(own).toLowerCase())
}

/** True when this operation could use a running agent: not after a failure, and never for servicing. */
export const fastTrackable = ({ node, conf }: NodeTask): boolean =>
  fastTrackEnabled(node, conf) && node.last_error === null && !node.provision_state.startsWith('servic')

/**
 * True when the node's agent was heard of within the fast-track timeout, as upstream judges. Here a finished inspection
 * does not count when the token was dropped since, by a failed deployment: such an agent refuses all commands.
 */
function agentAlive({ node, info, conf, situation }: NodeTask): boolean {
  const known = info.agent_url !== undefined || info.agent_secret_token !== undefined
  const within = (stamped: unknown): boolean =>
    typeof stamped === 'string' && parseTimestamp(stamped) >= situation.at - conf.fastTrackTimeout
  if (known && node.power_state === 'power on' && within(node.inspection_finished_at)) return true
  const inspecting = node.provision_state === 'inspecting' || node.provision_state === 'inspect wait'
  if (info.agent_url === undefined && !inspecting) return false
  return within(info.agent_last_heartbeat)
}

/** True when a running agent can continue without a reboot, by the last known power. */
export const fastTracked = (task: NodeTask): boolean =>
  fastTrackable(task) && task.node.power_state === 'power on' && agentAlive(task)
