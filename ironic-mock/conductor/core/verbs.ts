import { IronicError, ironicErrors, type JsonObject } from '../../../wire/index.js'
import { startAdoption } from '../flows/verify/adoption.js'
import { abortCleaning } from '../flows/clean/cleaning-failure.js'
import { startManualCleaning, startProvide } from '../flows/clean/cleaning.js'
import type { ProvisionRequest } from './conductor.js'
import { abortDeployment } from '../flows/deploy/deployment-failure.js'
import { startDeployment } from '../flows/deploy/deployment.js'
import { unholdDeployment } from '../flows/deploy/deployment-steps.js'
import { abortInspection, startInspection } from '../flows/inspect/inspection.js'
import { abortRescue, startRescue, startUnrescue } from '../flows/rescue/rescue.js'
import { startTeardown } from '../flows/teardown/teardown.js'
import { abortService } from '../flows/service/servicing-failure.js'
import { startService } from '../flows/service/servicing.js'
import { VERBS } from './transitions.js'
import type { Turn } from './turn.js'
import { startVerification } from '../flows/verify/verification.js'

/**
 * A change of provision state that a client asks for.
 *
 * @throws IronicError 400 for a verb that the state does not know, 409 while the node is reserved, 403 for a protected
 *   node, 400 in maintenance
 */
export function applyVerb(turn: Turn, request: ProvisionRequest): void {
  const { node } = turn
  const { target } = request
  const verb = VERBS[target]
  const deploys = verb?.event === 'deploy' || verb?.event === 'rebuild'
  if (deploys && node.maintenance) throw ironicErrors.nodeInMaintenance('provisioning', node.uuid)
  if (node.reservation !== null) throw ironicErrors.nodeLocked(node.uuid, node.reservation)
  if (!verb?.from.includes(node.provision_state))
    throw ironicErrors.invalidStateRequested(target, node.uuid, node.provision_state)
  if (node.protected && (verb.event === 'rebuild' || verb.event === 'delete')) throw protectedNode(node.uuid)

  switch (verb.event) {
    case 'manage':
      return node.provision_state === 'enroll' ? startVerification(turn) : manage(turn)
    case 'provide':
      return startProvide(turn)
    case 'inspect':
      return startInspection(turn)
    case 'clean':
      return startManualCleaning(turn, request.clean_steps ?? [], request.disable_ramdisk ?? false)
    case 'adopt':
      return startAdoption(turn)
    case 'deploy':
    case 'rebuild':
      return startDeployment(turn, verb.event, request)
    case 'delete':
      return startTeardown(turn)
    case 'abort':
      return abort(turn)
    case 'rescue':
      return startRescue(turn, request)
    case 'unrescue':
      return startUnrescue(turn)
    case 'unhold':
      return unhold(turn)
    case 'service':
      return startService(turn, request.service_steps ?? [], request.disable_ramdisk ?? null)
    case 'done':
    case 'fail':
    case 'hold':
    case 'resume':
    case 'wait':
      throw new Error(`${verb.event} is no verb`)
  }
}

export const protectedNode = (uuid: string): IronicError =>
  new IronicError(403, `Node ${uuid} is protected and cannot be undeployed, rebuilt or deleted`)

/** `manage` where there is nothing to do but to move. The error of a failure stays to be read, as recorded. */
function manage(turn: Turn): void {
  turn.process('manage')
}

function abort(turn: Turn): void {
  const { node } = turn
  switch (node.provision_state) {
    case 'inspect wait':
      return abortInspection(turn)
    case 'clean wait':
    case 'clean hold':
      if (postponed(node.clean_step)) node.clean_step = { ...node.clean_step, abort_after: true }
      else abortCleaning(turn)
      return
    case 'wait call-back':
    case 'deploy hold':
      if (postponed(node.deploy_step)) node.deploy_step = { ...node.deploy_step, abort_after: true }
      else abortDeployment(turn)
      return
    case 'rescue wait':
      return abortRescue(turn)
    case 'service wait':
    case 'service hold':
      if (postponed(node.service_step)) node.service_step = { ...node.service_step, abort_after: true }
      else abortService(turn)
      return
    case 'service failed':
      if (node.maintenance)
        throw new IronicError(
          409,
          `Can not abort service on node "${node.uuid}" while it is in maintenance mode. Please remove the node from maintenance prior to issuing the request to abort the service operation.`,
        )
      return abortService(turn)
    default:
      throw ironicErrors.invalidStateRequested('abort', node.uuid, node.provision_state)
  }
}

/**
 * Cleaning and deploying go on with the agent's next heartbeat, servicing at once. Where there is no agent nobody would
 * report, and upstream waits in vain.
 */
function unhold(turn: Turn): void {
  turn.process('unhold')
  const { node, info } = turn
  if (node.provision_state === 'wait call-back') return unholdDeployment(turn)
  if (node.provision_state === 'service wait') {
    node.last_error = null
    turn.run([{ kind: 'proceed' }], 'servicing.paused')
  } else if (info.agent_url === undefined) turn.run([{ kind: 'proceed' }], 'cleaning.paused')
}

/** A step that must not be interrupted is let to its end first; one that says nothing must not (as upstream reads it). */
const postponed = (step: JsonObject): boolean =>
  step.step !== undefined && !(step.abortable ?? false) && step.abort_after !== true
