import { IronicError, ironicErrors } from '../../../../wire/index.js'
import { networkProblem, powerProblem, rescueProblem } from '../../../drivers/requirements.js'
import { commandError } from '../../steps/agent-progress.js'
import type { ProvisionRequest } from '../../core/conductor.js'
import { valueOf, type EffectBody, type Outcome } from '../../core/effects.js'
import { startRamdisk } from '../../agents/ramdisk.js'
import type { Turn } from '../../core/turn.js'
import { wipeAgentAccess } from '../teardown/wipe.js'

/** The history's word for it. */
const EVENT_TYPE = 'rescue'
const OFF: EffectBody = { kind: 'power', target: 'power off' }

/**
 * `rescue`: a ramdisk with a password, beside what is installed.
 *
 * @throws IronicError 400 in maintenance, or when the node cannot. For the latter Ironic says 500; a difference on purpose
 */
export function startRescue(turn: Turn, { rescue_password, hashed_rescue_password }: ProvisionRequest): void {
  const { node } = turn
  if (node.maintenance) throw ironicErrors.nodeInMaintenance('rescuing', node.uuid)
  const problem = powerProblem(node) ?? rescueProblem(node) ?? networkProblem(node)
  if (problem !== undefined) throw new IronicError(400, failure(turn, 'rescue', `Validation failed: ${problem}`))
  turn.begin('rescue')
  wipeAgentAccess(turn)
  node.instance_info = { ...node.instance_info, rescue_password, hashed_rescue_password }
  turn.run([node.rescue_interface === 'agent' ? off(turn) : { kind: 'proceed' }], 'rescue.off')
}

const failure = ({ node }: Turn, verb: 'rescue' | 'unrescue', reason: string): string =>
  `Failed to ${verb} instance ${node.instance_uuid ?? 'None'} for node ${node.uuid}: ${reason}`

/** A machine that may not be off is rebooted at the end. */
const off = ({ node }: Turn): EffectBody => (node.disable_power_off ? { kind: 'proceed' } : OFF)

const boots = ({ node }: Turn, start: Extract<EffectBody, { kind: 'power' }>): EffectBody =>
  node.disable_power_off ? { ...start, target: 'rebooting' } : start

/** That the machine is off in between does not show, as with servicing. */
export function rescueOff(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) return rescueFailed(turn, outcome.error)
  if (turn.node.rescue_interface !== 'agent') return rescueDone(turn)
  turn.node.power_state = 'power on'
  turn.setInfo({ agent_start_attempted: true })
  turn.run([boots(turn, startRamdisk(turn))], 'rescue.booted')
}

export function rescueBooted(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) return rescueFailed(turn, outcome.error)
  turn.process('wait')
  turn.rest()
}

function rescueFailed(turn: Turn, error: string): void {
  forgetPassword(turn)
  turn.fail(`Failed to rescue: ${error}`, EVENT_TYPE)
  turn.process('fail')
  turn.rest()
}

function forgetPassword({ node }: Turn): void {
  const { rescue_password: _, hashed_rescue_password: __, ...left } = node.instance_info
  node.instance_info = left
}

/** An agent reports to a node in `rescue wait`: it is given the password. */
export function rescueHeartbeat(turn: Turn): void {
  turn.run([{ kind: 'agent-rescue' }], 'rescue.finalized')
}

export function rescueFinalized(turn: Turn, outcome: Outcome): void {
  const problem = finalizeProblem(turn, outcome)
  if (problem !== undefined)
    return rescueFailedOff(turn, `Node failed to perform rescue operation: ${failure(turn, 'rescue', problem)}`)
  turn.process('resume')
  forgetPassword(turn)
  turn.run([{ kind: 'proceed' }], 'rescue.done')
}

function finalizeProblem({ policy }: Turn, outcome: Outcome): string | undefined {
  if (!outcome.ok && outcome.reason === 'agent error' && policy.requireRescuePasswordHashed)
    return 'Unable to rescue node due to an out of date agent ramdisk. Please contact the administrator to update the rescue ramdisk to contain an ironic-python-agent version of at least 6.0.0.'
  if (!outcome.ok) return outcome.error
  const result = valueOf(outcome, 'agent-rescue')
  if (result.command_status === 'SUCCEEDED') return undefined
  return `Agent returned bad result for command finalize_rescue: ${commandError(result)}`
}

export function rescueDone(turn: Turn): void {
  turn.process('done')
  turn.rest()
}

/** A rescue that got as far as the ramdisk: the state says so at once, the machine is switched off after. */
export function rescueFailedOff(turn: Turn, error: string): void {
  turn.node.last_error = error
  turn.process('fail')
  turn.run([OFF], 'rescue.failed', { error })
}

export function rescueFailedEnd(turn: Turn, outcome: Outcome, { error }: { error: string }): void {
  if (outcome.ok) forgetPassword(turn)
  turn.dropInfo('agent_url')
  const cleanUp = 'Rescue operation was unsuccessful, clean up failed for node'
  turn.fail(outcome.ok ? error : `${cleanUp}: ${outcome.error}`, EVENT_TYPE)
  turn.rest()
}

/** `abort` in `rescue wait`; the machine stays as it is. Ironic leaves no `last_error` here; a difference on purpose. */
export function abortRescue(turn: Turn): void {
  forgetPassword(turn)
  turn.process('abort')
  turn.dropInfo('agent_url')
  const sentence = 'By request, the rescue operation was aborted.'
  turn.node.last_error = sentence
  turn.record('INFO', sentence, EVENT_TYPE)
}

/**
 * `unrescue`: back to what is installed.
 *
 * @throws IronicError 400 in maintenance
 */
export function startUnrescue(turn: Turn): void {
  const { node } = turn
  if (node.maintenance) throw ironicErrors.nodeInMaintenance('unrescuing', node.uuid)
  const problem = powerProblem(node)
  if (problem !== undefined) throw new IronicError(400, failure(turn, 'unrescue', `Validation failed: ${problem}`))
  turn.begin('unrescue')
  turn.dropInfo('agent_url')
  turn.run([node.rescue_interface === 'agent' ? off(turn) : { kind: 'proceed' }], 'unrescue.off')
}

export function unrescueOff(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) return unrescueFailed(turn, outcome.error)
  // The fake interface has nothing to clean up and leaves the password where it is (recorded).
  if (turn.node.rescue_interface !== 'agent') return unrescueDone(turn)
  turn.node.power_state = 'power on'
  forgetPassword(turn)
  turn.run([boots(turn, { kind: 'power', target: 'power on', boot: { kind: 'disk' } })], 'unrescue.booted')
}

export function unrescueBooted(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) return unrescueFailed(turn, outcome.error)
  unrescueDone(turn)
}

function unrescueDone(turn: Turn): void {
  wipeAgentAccess(turn)
  turn.process('done')
  turn.rest()
}

function unrescueFailed(turn: Turn, error: string): void {
  turn.fail(`Failed to unrescue: ${error}`, EVENT_TYPE)
  turn.process('fail')
  turn.rest()
}
