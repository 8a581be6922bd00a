import { ironicErrors, IronicError } from '../../../../base/wire/index.js'
import { powerProblem } from '../../../drivers/requirements.js'
import { restoreDeployInterface, switchDeployInterface } from '../verify/autodetect-interface.js'
import { afterAbortTearDown, afterFailureLogs, afterFailureTearDown, cleanFailed } from './cleaning-failure.js'
import { allWithoutRamdisk, planCleaning } from './cleaning-plan.js'
import { wantedCleaning, type WantedCleaning } from './cleaning-runbook.js'
import { afterTearDown, CLEANING } from './cleaning-steps.js'
import { disallowedStep } from '../../steps/disallowed-steps.js'
import { usesAgent } from '../../steps/driver-steps.js'
import type { Continuations } from '../../core/continuations.js'
import { valueOf, type EffectOutcome } from '../../core/effects.js'
import { ERASE_PARAMETERS } from '../../steps/erase-parameters.js'
import { fastTracked } from '../../agents/fast-track.js'
import { withHardwareReport } from '../../hardware/hardware-report.js'
import { rememberSteps } from '../../steps/in-band-steps.js'
import type { PlannedStep } from '../../steps/plan-steps.js'
import { bootRamdisk } from '../../agents/boot-ramdisk.js'
import { stepContinuations } from '../../steps/step-outcomes.js'
import { recordStart, runSteps } from '../../steps/step-runner.js'
import type { NodeTask } from '../../core/node-task.js'
import { wipeCleaning } from '../teardown/wipe.js'

/**
 * `provide`.
 *
 * @throws IronicError 400 for a retired node, or one in maintenance where that is not allowed
 */
export function startProvide(task: NodeTask): void {
  const { node, conf } = task
  if (node.maintenance && !conf.allowProvisioningInMaintenance)
    throw ironicErrors.nodeInMaintenance('providing', node.uuid)
  if (node.retired)
    throw new IronicError(400, `The providing operation can't be performed on node ${node.uuid} because it is retired.`)
  const wanted = wantedCleaning(task)
  // Upstream answers 500.
  if (wanted.problem !== undefined) throw new IronicError(400, wanted.problem)
  task.begin('provide')
  automatedCleaning(task, wanted)
}

/**
 * `clean`: the user's steps, in the user's order.
 *
 * @throws IronicError 400 in maintenance, for a node that cannot be cleaned or a step that the operator forbids
 */
export function startManualCleaning(task: NodeTask, steps: readonly PlannedStep[], disableRamdisk: boolean): void {
  const { node, conf } = task
  if (node.maintenance) throw ironicErrors.nodeInMaintenance('cleaning', node.uuid)
  const problem = powerProblem(node)
  if (problem !== undefined) throw new IronicError(400, validationFailed(task, problem))
  const disallowed = disallowedStep('clean', steps, conf.disallowCleanSteps)
  if (disallowed) throw disallowed
  task.begin('clean')
  wipeCleaning(task)
  switchDeployInterface(task)
  storeWanted(task, steps, disableRamdisk)
  prepareCleaning(task)
}

/** Starts automated cleaning, after `provide` and after tear-down. The node is in `cleaning` already. */
export function automatedCleaning(task: NodeTask, { steps, disableRamdisk }: WantedCleaning): void {
  const { node, conf } = task
  if (!(node.automated_clean ?? conf.automatedClean)) {
    node.clean_step = {}
    restoreDeployInterface(task)
    // A retired node becomes available too: upstream checks for it in cleaning only.
    task.process('done')
    return task.release()
  }
  if (node.maintenance && !conf.allowProvisioningInMaintenance)
    return cleanFailed(task, 'Cleaning a node in maintenance mode is not allowed', { tearDown: false })
  switchDeployInterface(task)
  const problem = powerProblem(node)
  if (problem !== undefined) return cleanFailed(task, validationFailed(task, problem))
  wipeCleaning(task)
  if (steps && steps.length > 0) storeWanted(task, steps, disableRamdisk)
  prepareCleaning(task)
}

/** Stores the chosen steps. Their errors do not count yet, since unknown steps may be the agent's. */
function storeWanted(task: NodeTask, steps: readonly PlannedStep[], disableRamdisk: boolean): void {
  task.setInfo({ clean_steps: steps, cleaning_disable_ramdisk: disableRamdisk, declarative_cleaning: true })
  if (!disableRamdisk && planCleaning(task) === undefined && allWithoutRamdisk(task))
    task.setInfo({ cleaning_disable_ramdisk: true })
}

const validationFailed = (task: NodeTask, problem: string): string =>
  `Validation of node ${task.uuid} for cleaning failed: ${problem}`

function prepareCleaning(task: NodeTask): void {
  if (!usesAgent(task.node) || task.info.cleaning_disable_ramdisk === true)
    return task.run(withHardwareReport(task.node, { kind: 'proceed' }), { flow: 'cleaning', after: 'preparation' })
  task.setInfo(ERASE_PARAMETERS)
  if (fastTracked(task))
    return task.run([{ kind: 'agent-steps', of: 'clean' }], { flow: 'cleaning', after: 'fast-track' })
  task.setInfo({ agent_start_attempted: true })
  task.run(withHardwareReport(task.node, ...bootRamdisk(task)), { flow: 'cleaning', after: 'ramdisk-boot' })
}

function afterRamdiskBoot(task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok) return cleanFailed(task, `Failed to prepare node ${task.uuid} for cleaning: ${outcome.error}`)
  task.process('wait')
  task.release()
}

/**
 * Continues after the steps of a fast-track agent. When the agent did not answer, the flow waits for its heartbeat, unless
 * the machine is off: the recorded power may be from before a restart of the conductor.
 */
function afterFastTrack(task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok && outcome.reason === 'agent unreachable') {
    if (task.info.agent_url === undefined) return afterRamdiskBoot(task, { ok: true, kind: 'proceed', value: null })
    return task.run([{ kind: 'read-power' }], { flow: 'cleaning', after: 'fast-track' })
  }
  if (outcome.ok && outcome.kind === 'read-power') {
    if (outcome.value === 'power on') return afterRamdiskBoot(task, { ok: true, kind: 'proceed', value: null })
    task.setInfo({ agent_start_attempted: true })
    return task.run(bootRamdisk(task), { flow: 'cleaning', after: 'ramdisk-boot' })
  }
  if (!outcome.ok) return cleanFailed(task, `Failed to prepare node ${task.uuid} for cleaning: ${outcome.error}`)
  rememberSteps(task, 'clean', valueOf(outcome, 'agent-steps'))
  afterPreparation(task)
}

/** Continues without a ramdisk: all steps are known at once. */
function afterPreparation(task: NodeTask): void {
  const problem = planCleaning(task)
  if (problem !== undefined) return cleanFailed(task, `Cannot clean node ${task.uuid}: ${problem}`)
  recordStart(CLEANING, task)
  runSteps(CLEANING, task, 0)
}

export const cleaningContinuations: Continuations<'cleaning'> = {
  ...stepContinuations(CLEANING),
  'abort-tear-down': afterAbortTearDown,
  'failure-logs': afterFailureLogs,
  'failure-tear-down': afterFailureTearDown,
  'fast-track': afterFastTrack,
  preparation: afterPreparation,
  'ramdisk-boot': afterRamdiskBoot,
  'tear-down': afterTearDown,
}
