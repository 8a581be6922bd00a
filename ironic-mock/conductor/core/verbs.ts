import { ownMember } from '../../../base/runtime/index.js'
import { IronicError, ironicErrors, type JsonObject } from '../../../base/wire/index.js'
import { startAdoption } from '../flows/verify/adoption.js'
import { abortCleaning } from '../flows/clean/cleaning-failure.js'
import { startManualCleaning, startProvide } from '../flows/clean/cleaning.js'
import type { ProvisionRequest } from './conductor.js'
import { abortDeployment } from '../flows/deploy/deployment-failure.js'
import { startDeployment } from '../flows/deploy/deployment.js'
import { unholdDeployment } from '../flows/deploy/deployment-steps.js'
import { abortInspection, startInspection } from '../flows/inspect/inspection.js'
import { abortRescue, startRescue, startUnrescue } from '../flows/rescue/rescue.js'
import { abortHeldDeployment, startTeardown } from '../flows/teardown/teardown.js'
import { abortService } from '../flows/service/servicing-failure.js'
import { startService } from '../flows/service/servicing.js'
import { PROVISION_VERBS } from './transitions.js'
import type { NodeTask } from './node-task.js'
import { startVerification } from '../flows/verify/verification.js'

/**
 * Starts the flow of a verb that a client requested.
 *
 * @throws IronicError 400 for a verb that the state does not know, 409 while the node is reserved, 403 for a protected
 *   node, 400 in maintenance
 */
export function applyVerb(task: NodeTask, request: ProvisionRequest): void {
  const { node } = task
  const { target } = request
  const verb = ownMember(PROVISION_VERBS, target)
  const isDeployment = verb?.event === 'deploy' || verb?.event === 'rebuild'
  if (isDeployment && node.maintenance) throw ironicErrors.nodeInMaintenance('provisioning', node.uuid)
  if (node.reservation !== null) throw ironicErrors.nodeLocked(node.uuid, node.reservation)
  if (!verb?.from.includes(node.provision_state))
    throw ironicErrors.invalidStateRequested(target, node.uuid, node.provision_state)
  if (node.protected && (verb.event === 'rebuild' || verb.event === 'delete')) throw protectedNode(node.uuid)

  switch (verb.event) {
    case 'manage':
      return node.provision_state === 'enroll' ? startVerification(task) : manage(task)
    case 'provide':
      return startProvide(task)
    case 'inspect':
      return startInspection(task)
    case 'clean':
      return startManualCleaning(task, request.clean_steps ?? [], request.disable_ramdisk ?? false)
    case 'adopt':
      return startAdoption(task)
    case 'deploy':
    case 'rebuild':
      return startDeployment(task, verb.event, request)
    case 'delete':
      return startTeardown(task)
    case 'abort':
      return abort(task)
    case 'rescue':
      return startRescue(task, request)
    case 'unrescue':
      return startUnrescue(task)
    case 'unhold':
      return unhold(task)
    case 'service':
      return startService(task, request.service_steps ?? [], request.disable_ramdisk ?? null)
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

/** `manage` outside enroll only changes the state. The error of a failure stays, as recorded. */
function manage(task: NodeTask): void {
  task.process('manage')
}

function abort(task: NodeTask): void {
  const { node } = task
  switch (node.provision_state) {
    case 'inspect wait':
      return abortInspection(task)
    case 'clean wait':
    case 'clean hold':
      if (isAbortPostponed(node.clean_step)) node.clean_step = { ...node.clean_step, abort_after: true }
      else abortCleaning(task)
      return
    case 'deploy hold':
      return abortHeldDeployment(task)
    case 'wait call-back':
      if (isAbortPostponed(node.deploy_step)) node.deploy_step = { ...node.deploy_step, abort_after: true }
      else abortDeployment(task)
      return
    case 'rescue wait':
      return abortRescue(task)
    case 'service wait':
    case 'service hold':
      if (isAbortPostponed(node.service_step)) node.service_step = { ...node.service_step, abort_after: true }
      else abortService(task)
      return
    case 'service failed':
      if (node.maintenance)
        throw new IronicError(
          409,
          `Can not abort service on node "${node.uuid}" while it is in maintenance mode. Please remove the node from maintenance prior to issuing the request to abort the service operation.`,
        )
      return abortService(task)
    default:
      throw ironicErrors.invalidStateRequested('abort', node.uuid, node.provision_state)
  }
}

/**
 * Ends a hold. Cleaning and deployment continue with the agent's next heartbeat, servicing at once. Without an agent
 * cleaning continues at once too; upstream waits for a heartbeat that never comes.
 */
function unhold(task: NodeTask): void {
  task.process('unhold')
  const { node, info } = task
  if (node.provision_state === 'wait call-back') return unholdDeployment(task)
  if (node.provision_state === 'service wait') {
    node.last_error = null
    task.run([{ kind: 'proceed' }], { flow: 'servicing', after: 'pause' })
  } else if (info.agent_url === undefined) task.run([{ kind: 'proceed' }], { flow: 'cleaning', after: 'pause' })
}

/**
 * True when the abort has to wait for the end of the step: one without `abortable` is not abortable, however often it is
 * asked to end.
 */
const isAbortPostponed = (step: JsonObject): boolean => step.step !== undefined && !(step.abortable ?? false)
