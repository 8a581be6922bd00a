import { defined } from '../../../base/runtime/index.js'
import { IronicError, ironicErrors } from '../../../base/wire/index.js'
import type { Heartbeat } from '../core/conductor.js'
import { cleanFailed } from '../flows/clean/cleaning-failure.js'
import { CLEANING } from '../flows/clean/cleaning-steps.js'
import { failDeploymentAndPowerOff } from '../flows/deploy/deployment-failure.js'
import { DEPLOYMENT } from '../flows/deploy/deployment-steps.js'
import { fastTrackable } from './fast-track.js'
import { failRescueAndPowerOff, rescueHeartbeat } from '../flows/rescue/rescue.js'
import { serviceFailed } from '../flows/service/servicing-failure.js'
import { SERVICING } from '../flows/service/servicing.js'
import { stepHeartbeat } from '../steps/step-outcomes.js'
import type { NodeTask } from '../core/node-task.js'
import { HEARTBEAT_STATES } from '../core/transitions.js'

/**
 * Stores an agent's heartbeat and continues the flow. The checks have the order of ironic
 * api/controllers/v1/ramdisk.py HeartbeatController.
 *
 * @throws IronicError 400; 409 when the node is reserved and its agent not known yet
 */
export function receiveHeartbeat(task: NodeTask, heartbeat: Heartbeat): void {
  checkHeartbeat(task, heartbeat)
  if (task.isReserved && task.info.agent_url === undefined)
    throw ironicErrors.nodeLocked(task.uuid, task.node.reservation ?? task.situation.host)
  // In other states upstream answers 202 and ignores the heartbeat.
  if (!HEARTBEAT_STATES.includes(task.node.provision_state) && !fastTrackable(task)) return
  task.setInfo({
    agent_url: heartbeat.callback_url,
    agent_version: heartbeat.agent_version,
    agent_last_heartbeat: task.now,
    ...defined({
      agent_verify_ca: heartbeat.agent_verify_ca,
      agent_status: heartbeat.agent_status,
      agent_status_message: heartbeat.agent_status_message,
    }),
  })
  followHeartbeat(task)
}

/**
 * Continues the flow after a heartbeat. Upstream skips a heartbeat that comes while the node is reserved, and the agent's
 * next one is minutes away; here it waits for the end of the reservation.
 */
export function followHeartbeat(task: NodeTask): void {
  task.heartbeatWaits(task.isReserved)
  if (task.isReserved) return
  if (task.info.agent_url === undefined) return
  if (task.node.maintenance) return heartbeatInMaintenance(task)
  switch (task.node.provision_state) {
    case 'clean wait':
      return stepHeartbeat(CLEANING, task)
    case 'rescue wait':
      return rescueHeartbeat(task)
    case 'service wait':
      return stepHeartbeat(SERVICING, task)
    case 'wait call-back':
      return stepHeartbeat(DEPLOYMENT, task)
    default:
  }
}

/** The flow waits for the end of maintenance, unless the operator wants it to fail. */
function heartbeatInMaintenance(task: NodeTask): void {
  if (task.conf.allowProvisioningInMaintenance) return
  const aborted = (flow: string): string => `${flow} aborted as node is in maintenance mode`
  switch (task.node.provision_state) {
    case 'clean wait':
      return cleanFailed(task, aborted('Cleaning'))
    case 'wait call-back':
      return failDeploymentAndPowerOff(task, aborted('Deploy'))
    case 'rescue wait':
      return failRescueAndPowerOff(task, aborted('Rescue'))
    case 'service wait':
      return serviceFailed(task, aborted('Service'))
    default:
  }
}

function checkHeartbeat({ info, conf }: NodeTask, heartbeat: Heartbeat): void {
  const { callback_url, agent_token, agent_status, agent_version, agent_verify_ca } = heartbeat
  // An agent that only sends heartbeats has an empty callback URL.
  if (callback_url !== '' && !callback_url.split(':')[0]?.includes('http')) throw ironicErrors.callbackUrl()
  if (info.agent_url !== undefined && info.agent_url !== callback_url) throw ironicErrors.callbackUrlChanged()
  if (agent_status !== undefined && !['start', 'end', 'error'].includes(agent_status)) throw ironicErrors.agentStatus()
  if (agent_version === undefined && agent_status === undefined) throw ironicErrors.agentVersionMissing()
  if (info.agent_secret_token !== agent_token) throw new IronicError(400, 'Invalid or missing agent token received.')
  if (conf.requireTls && callback_url.startsWith('http://'))
    throw new IronicError(400, 'TLS is required by configuration')
  if (info.agent_verify_ca !== undefined && info.agent_verify_ca !== agent_verify_ca)
    throw new IronicError(400, 'Detected change in ramdisk provided "agent_verify_ca"')
}
