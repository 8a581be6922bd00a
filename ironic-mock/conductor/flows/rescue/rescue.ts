import { IronicError, ironicErrors } from '../../../../base/wire/index.js'
import { powerProblem, rescueProblem } from '../../../drivers/requirements.js'
import { commandError } from '../../steps/agent-progress.js'
import type { ProvisionRequest } from '../../core/conductor.js'
import type { Continuations } from '../../core/continuations.js'
import { valueOf, type EffectBody, type EffectOutcome } from '../../core/effects.js'
import { cleanUpRamdisk } from '../../agents/boot-preparation.js'
import { startInstance, startRamdiskOverInstance } from '../../agents/boot-ramdisk.js'
import { ejectRamdisk, isRamdiskEjected } from '../../agents/eject-ramdisk.js'
import type { NodeTask } from '../../core/node-task.js'
import { wipeAgentAccess } from '../teardown/wipe.js'

/** Event type in the node history. */
const RESCUE_EVENT_TYPE = 'rescue'
const ABORTED = 'By request, the rescue operation was aborted.'
const OFF: EffectBody = { kind: 'power', target: 'power off' }

/**
 * `rescue`: boots a ramdisk with a password; the instance stays installed.
 *
 * @throws IronicError 400 in maintenance, or when the interfaces cannot rescue. For the latter Ironic answers 500
 */
export function startRescue(task: NodeTask, { rescue_password, hashed_rescue_password }: ProvisionRequest): void {
  const { node } = task
  if (node.maintenance) throw ironicErrors.nodeInMaintenance('rescuing', node.uuid)
  const problem = powerProblem(node) ?? rescueProblem(node)
  if (problem !== undefined)
    throw new IronicError(400, describeRescueFailure(task, 'rescue', `Validation failed: ${problem}`))
  task.begin('rescue')
  wipeAgentAccess(task)
  node.instance_info = { ...node.instance_info, rescue_password, hashed_rescue_password }
  task.run([node.rescue_interface === 'agent' ? off(task) : { kind: 'proceed' }], {
    flow: 'rescue',
    after: 'power-off',
  })
}

const describeRescueFailure = ({ node }: NodeTask, verb: 'rescue' | 'unrescue', reason: string): string =>
  `Failed to ${verb} instance ${node.instance_uuid ?? 'None'} for node ${node.uuid}: ${reason}`

/** Where power off is disabled, a reboot follows at the end instead. */
const off = ({ node }: NodeTask): EffectBody => (node.disable_power_off ? { kind: 'proceed' } : OFF)

/** The record does not show the power off in between, as in servicing. */
function afterRescuePowerOff(task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok) return rescueFailed(task, outcome.error)
  if (task.node.rescue_interface !== 'agent') return complete(task)
  task.node.power_state = 'power on'
  task.setInfo({ agent_start_attempted: true })
  task.run(startRamdiskOverInstance(task), { flow: 'rescue', after: 'ramdisk-boot' })
}

function afterRamdiskBoot(task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok) {
    showPowerOff(task)
    return rescueFailed(task, outcome.error)
  }
  task.process('wait')
  task.release()
}

/** A boot that failed leaves the machine off, which the record did not show while it went on. */
function showPowerOff({ node }: NodeTask): void {
  if (!node.disable_power_off) node.power_state = 'power off'
}

function rescueFailed(task: NodeTask, error: string): void {
  forgetPassword(task)
  task.fail(`Failed to rescue: ${error}`, RESCUE_EVENT_TYPE)
  task.process('fail')
  task.release()
}

function forgetPassword({ node }: NodeTask): void {
  const { rescue_password: _, hashed_rescue_password: __, ...left } = node.instance_info
  node.instance_info = left
}

/** Sends the password to the agent after its heartbeat in `rescue wait`. */
export function rescueHeartbeat(task: NodeTask): void {
  task.run([{ kind: 'agent-rescue' }], { flow: 'rescue', after: 'agent-rescue' })
}

function afterAgentRescue(task: NodeTask, outcome: EffectOutcome): void {
  const problem = finalizeProblem(task, outcome)
  if (problem !== undefined) return finalizeFailed(task, describeRescueFailure(task, 'rescue', problem))
  task.process('resume')
  forgetPassword(task)
  task.run(ejectRamdisk(task), { flow: 'rescue', after: 'completion' })
}

const finalizeFailed = (task: NodeTask, problem: string): void =>
  failRescueAndPowerOff(task, `Node failed to perform rescue operation: ${problem}`)

function finalizeProblem({ conf }: NodeTask, outcome: EffectOutcome): string | undefined {
  if (!outcome.ok && outcome.reason === 'agent error' && conf.requireRescuePasswordHashed)
    return 'Unable to rescue node due to an out of date agent ramdisk. Please contact the administrator to update the rescue ramdisk to contain an ironic-python-agent version of at least 6.0.0.'
  if (!outcome.ok) return outcome.error
  const result = valueOf(outcome, 'agent-rescue')
  if (result.command_status === 'SUCCEEDED') return undefined
  return `Agent returned bad result for command finalize_rescue: ${commandError(result)}`
}

function afterCompletion(task: NodeTask, outcome: EffectOutcome): void {
  if (outcome.ok) complete(task)
  else finalizeFailed(task, outcome.error)
}

function complete(task: NodeTask): void {
  task.process('done')
  task.release()
}

/** Fails a rescue whose ramdisk was booted: the state changes at once, the power off follows. */
export function failRescueAndPowerOff(task: NodeTask, error: string): void {
  task.node.last_error = error
  task.process('fail')
  task.run([OFF, ...cleanUpRamdisk(task)], { flow: 'rescue', after: 'failure-power-off' }, { error })
}

function afterFailurePowerOff(task: NodeTask, outcome: EffectOutcome, { error }: { error: string }): void {
  if (outcome.ok) forgetPassword(task)
  task.dropInfo('agent_url')
  const cleanUp = 'Rescue operation was unsuccessful, clean up failed for node'
  task.fail(outcome.ok ? error : `${cleanUp}: ${outcome.error}`, RESCUE_EVENT_TYPE)
  task.release()
}

/** `abort` in `rescue wait`: cleans up after the ramdisk (ironic 39.0.0 conductor/manager.py _do_node_rescue_abort). */
export function abortRescue(task: NodeTask): void {
  forgetPassword(task)
  task.process('abort')
  task.node.last_error = ABORTED
  if (task.node.rescue_interface !== 'agent' || !isRamdiskEjected(task)) return rescueAborted(task)
  task.run(ejectRamdisk(task), { flow: 'rescue', after: 'abort-clean-up' })
}

function afterAbortCleanUp(task: NodeTask, outcome: EffectOutcome): void {
  if (outcome.ok) rescueAborted(task)
  else abortFailed(task)
  task.release()
}

/** Ironic sets no `last_error` here. */
function rescueAborted(task: NodeTask): void {
  task.dropInfo('agent_url')
  task.node.last_error = ABORTED
  task.record('INFO', ABORTED, RESCUE_EVENT_TYPE)
}

/** The machine may still run the ramdisk, so that an operator has to look at it. */
function abortFailed(task: NodeTask): void {
  const { node } = task
  const sentence = 'Failed to clean up rescue after aborting the operation'
  task.fail(sentence, RESCUE_EVENT_TYPE)
  node.maintenance = true
  node.maintenance_reason = sentence
  node.fault = 'rescue abort failure'
}

/**
 * `unrescue`: boots the instance again.
 *
 * @throws IronicError 400 in maintenance
 */
export function startUnrescue(task: NodeTask): void {
  const { node } = task
  if (node.maintenance) throw ironicErrors.nodeInMaintenance('unrescuing', node.uuid)
  const problem = powerProblem(node)
  if (problem !== undefined)
    throw new IronicError(400, describeRescueFailure(task, 'unrescue', `Validation failed: ${problem}`))
  task.begin('unrescue')
  task.dropInfo('agent_url')
  task.run([node.rescue_interface === 'agent' ? off(task) : { kind: 'proceed' }], {
    flow: 'unrescue',
    after: 'power-off',
  })
}

function afterUnrescuePowerOff(task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok) return unrescueFailed(task, outcome.error)
  // The fake interface has no clean-up and leaves the password (recorded).
  if (task.node.rescue_interface !== 'agent') return unrescueDone(task)
  task.node.power_state = 'power on'
  forgetPassword(task)
  task.run(startInstance(task), { flow: 'unrescue', after: 'instance-boot' })
}

function afterInstanceBoot(task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok) {
    showPowerOff(task)
    return unrescueFailed(task, outcome.error)
  }
  unrescueDone(task)
}

function unrescueDone(task: NodeTask): void {
  wipeAgentAccess(task)
  task.process('done')
  task.release()
}

function unrescueFailed(task: NodeTask, error: string): void {
  task.fail(`Failed to unrescue: ${error}`, RESCUE_EVENT_TYPE)
  task.process('fail')
  task.release()
}

export const rescueContinuations: Continuations<'rescue'> = {
  'abort-clean-up': afterAbortCleanUp,
  'agent-rescue': afterAgentRescue,
  completion: afterCompletion,
  'failure-power-off': afterFailurePowerOff,
  'power-off': afterRescuePowerOff,
  'ramdisk-boot': afterRamdiskBoot,
}

export const unrescueContinuations: Continuations<'unrescue'> = {
  'instance-boot': afterInstanceBoot,
  'power-off': afterUnrescuePowerOff,
}
