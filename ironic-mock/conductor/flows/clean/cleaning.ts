import { ironicErrors, IronicError } from '../../../../wire/index.js'
import { networkProblem, powerProblem } from '../../../drivers/requirements.js'
import { restoreDeployInterface, switchDeployInterface } from '../verify/autodetect.js'
import { cleanFailed } from './cleaning-failure.js'
import { allWithoutRamdisk, planCleaning } from './cleaning-plan.js'
import { wantedCleaning, type WantedCleaning } from './cleaning-runbook.js'
import { CLEANING } from './cleaning-steps.js'
import { disallowedStep } from '../../steps/disallowed-steps.js'
import { usesAgent } from '../../steps/driver-steps.js'
import { valueOf, type Outcome } from '../../core/effects.js'
import { ERASE_PARAMETERS } from '../../steps/erase-parameters.js'
import { fastTracked } from '../../agents/fast-track.js'
import { lookedAt } from '../../power/hardware-report.js'
import { rememberSteps } from '../../steps/in-band-steps.js'
import type { PlannedStep } from '../../steps/plan-steps.js'
import { bootRamdisk } from '../../agents/ramdisk.js'
import { recordStart, runSteps } from '../../steps/step-flow.js'
import type { Turn } from '../../core/turn.js'
import { wipeCleaning } from '../teardown/wipe.js'

/**
 * `provide`.
 *
 * @throws IronicError 400 for a retired node, or one in maintenance where that is not allowed
 */
export function startProvide(turn: Turn): void {
  const { node, policy } = turn
  if (node.maintenance && !policy.allowProvisioningInMaintenance)
    throw ironicErrors.nodeInMaintenance('providing', node.uuid)
  if (node.retired)
    throw new IronicError(400, `The providing operation can't be performed on node ${node.uuid} because it is retired.`)
  const wanted = wantedCleaning(turn)
  // Upstream says 500: nobody meant it to get that far.
  if (wanted.problem !== undefined) throw new IronicError(400, wanted.problem)
  turn.begin('provide')
  automatedCleaning(turn, wanted)
}

/**
 * `clean`: the user's steps, in the user's order.
 *
 * @throws IronicError 400 in maintenance, for a node that cannot be cleaned or a step that the operator forbids
 */
export function startManualCleaning(turn: Turn, steps: readonly PlannedStep[], disableRamdisk: boolean): void {
  const { node, policy } = turn
  if (node.maintenance) throw ironicErrors.nodeInMaintenance('cleaning', node.uuid)
  const problem = powerProblem(node) ?? networkProblem(node)
  if (problem !== undefined) throw new IronicError(400, validationFailed(turn, problem))
  const disallowed = disallowedStep('clean', steps, policy.disallowCleanSteps)
  if (disallowed) throw disallowed
  turn.begin('clean')
  wipeCleaning(turn)
  switchDeployInterface(turn)
  keepWanted(turn, steps, disableRamdisk)
  prepare(turn)
}

/** Cleaning that nobody asked for by name, after `provide` and after tear-down. The node is in `cleaning` already. */
export function automatedCleaning(turn: Turn, { steps, disableRamdisk }: WantedCleaning): void {
  const { node, policy } = turn
  if (!(node.automated_clean ?? policy.automatedClean)) {
    node.clean_step = {}
    restoreDeployInterface(turn)
    // Also of a retired node, which only cleaning keeps from being available.
    turn.process('done')
    return turn.rest()
  }
  if (node.maintenance && !policy.allowProvisioningInMaintenance)
    return cleanFailed(turn, 'Cleaning a node in maintenance mode is not allowed', { tearDown: false })
  switchDeployInterface(turn)
  const problem = powerProblem(node) ?? (disableRamdisk ? undefined : networkProblem(node))
  if (problem !== undefined) return cleanFailed(turn, validationFailed(turn, problem))
  wipeCleaning(turn)
  if (steps && steps.length > 0) keepWanted(turn, steps, disableRamdisk)
  prepare(turn)
}

/** Somebody has chosen the steps. What is wrong with them now may be right once the agent has said what it can do. */
function keepWanted(turn: Turn, steps: readonly PlannedStep[], disableRamdisk: boolean): void {
  turn.setInfo({ clean_steps: steps, cleaning_disable_ramdisk: disableRamdisk, declarative_cleaning: true })
  if (!disableRamdisk && planCleaning(turn) === undefined && allWithoutRamdisk(turn))
    turn.setInfo({ cleaning_disable_ramdisk: true })
}

const validationFailed = (turn: Turn, problem: string): string =>
  `Validation of node ${turn.uuid} for cleaning failed: ${problem}`

function prepare(turn: Turn): void {
  if (!usesAgent(turn.node) || turn.info.cleaning_disable_ramdisk === true)
    return turn.run(lookedAt(turn.node, { kind: 'proceed' }), 'cleaning.planned')
  turn.setInfo(ERASE_PARAMETERS)
  if (fastTracked(turn)) return turn.run([{ kind: 'agent-steps', of: 'clean' }], 'cleaning.tracked')
  turn.setInfo({ agent_start_attempted: true })
  turn.run(lookedAt(turn.node, ...bootRamdisk(turn)), 'cleaning.booted')
}

export function cleaningBooted(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) return cleanFailed(turn, `Failed to prepare node ${turn.uuid} for cleaning: ${outcome.error}`)
  turn.process('wait')
  turn.rest()
}

/**
 * An agent that should still be there was asked at once; one that does not answer is waited for, unless its machine is
 * off: what is kept of its power may be older than a restart of ours.
 */
export function cleaningTracked(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok && outcome.reason === 'agent unreachable') {
    if (turn.info.agent_url === undefined) return cleaningBooted(turn, { ok: true, kind: 'proceed', value: null })
    return turn.run([{ kind: 'read-power' }], 'cleaning.tracked')
  }
  if (outcome.ok && outcome.kind === 'read-power') {
    if (outcome.value === 'power on') return cleaningBooted(turn, { ok: true, kind: 'proceed', value: null })
    turn.setInfo({ agent_start_attempted: true })
    return turn.run(bootRamdisk(turn), 'cleaning.booted')
  }
  if (!outcome.ok) return cleanFailed(turn, `Failed to prepare node ${turn.uuid} for cleaning: ${outcome.error}`)
  rememberSteps(turn, 'clean', valueOf(outcome, 'agent-steps'))
  cleaningPlanned(turn)
}

/** Without a ramdisk to wait for all steps are known at once. */
export function cleaningPlanned(turn: Turn): void {
  const problem = planCleaning(turn)
  if (problem !== undefined) return cleanFailed(turn, `Cannot clean node ${turn.uuid}: ${problem}`)
  recordStart(CLEANING, turn)
  runSteps(CLEANING, turn, 0)
}
