import {
  IronicError,
  ironicErrors,
  pythonRepr,
  formatClientValue,
  type JsonObject,
} from '../../../../base/wire/index.js'
import { powerProblem } from '../../../drivers/requirements.js'
import { restoreDeployInterface, switchDeployInterface } from '../verify/autodetect-interface.js'
import { disallowedStep } from '../../steps/disallowed-steps.js'
import { usesAgent } from '../../steps/driver-steps.js'
import type { Continuations } from '../../core/continuations.js'
import type { EffectBody, EffectOutcome } from '../../core/effects.js'
import { withHardwareReport } from '../../hardware/hardware-report.js'
import { checkUserSteps, type PlannedStep } from '../../steps/plan-steps.js'
import { bootInstance, startRamdiskOverInstance } from '../../agents/boot-ramdisk.js'
import {
  abortServiceAfter,
  afterAbortTearDown,
  afterFailureLogs,
  afterFailureTearDown,
  serviceFailed,
  serviceFailedLogged,
  serviceStepFailed,
} from './servicing-failure.js'
import type { StepFlow } from '../../steps/step-flow.js'
import { stepContinuations } from '../../steps/step-outcomes.js'
import { recordEnd, recordStart, runSteps } from '../../steps/step-runner.js'
import type { NodeTask } from '../../core/node-task.js'
import { wipeServicing } from '../teardown/wipe.js'

export const SERVICING: StepFlow = {
  kind: 'service',
  name: 'servicing',
  title: () => 'servicing',
  hasAgent: ({ node, info }) => usesAgent(node) && info.service_disable_ramdisk !== true,
  needsAgentSteps: ({ node, info }) => node.service_step.step === undefined && info.servicing_reboot !== true,
  listsAgentStepsIn: 'working',
  plan: planService,
  failStart: (task, problem) => serviceFailed(task, `Node failed to start the first service step: ${problem}`),
  failRun: (task, error) =>
    serviceFailedLogged(task, `Node ${task.uuid} failed step ${pythonRepr(task.node.service_step)}: ${error}`),
  failCheck: (task, error) => serviceFailed(task, `Node failed to check service progress: ${error}`),
  failStep: serviceStepFailed,
  fail: serviceFailed,
  finish: finishServicing,
  abortAfter: abortServiceAfter,
}

/**
 * `service`: runs the user's steps on a node in use.
 *
 * @throws IronicError 400 in maintenance, for a node that cannot be serviced or a step that the operator forbids
 */
export function startService(task: NodeTask, steps: readonly PlannedStep[], disableRamdisk: boolean | null): void {
  const { node, conf } = task
  if (node.maintenance) throw ironicErrors.nodeInMaintenance('service', node.uuid)
  const problem = powerProblem(node)
  if (problem !== undefined)
    throw new IronicError(400, `Validation of node ${node.uuid} for servicing failed: ${problem}`)
  const disallowed = disallowedStep('service', steps, conf.disallowServiceSteps)
  if (disallowed) throw disallowed
  task.begin('service')
  switchDeployInterface(task)
  wipeServicing(task)
  task.setInfo({ service_steps: steps, service_disable_ramdisk: disableRamdisk })
  task.run(withHardwareReport(node, { kind: 'proceed' }), { flow: 'servicing', after: 'preparation' })
}

/** Plans `service_steps`; returns their errors. */
function planService(task: NodeTask): string | undefined {
  const { node, conf, info } = task
  const wanted = (info.service_steps ?? []) as PlannedStep[]
  const disableRamdisk = info.service_disable_ramdisk === true
  const { errors, steps } = checkUserSteps(node, 'service', wanted, { conf, skipMissing: false, disableRamdisk })
  if (errors.length > 0) return errors.join('; ')
  const allowed = steps.filter(
    (step) =>
      !conf.disallowServiceSteps.includes(`${formatClientValue(step.interface)}.${formatClientValue(step.step)}`),
  )
  node.service_step = {}
  task.setInfo({ service_steps: allowed as JsonObject[], service_step_index: null })
  return undefined
}

/** Boots a ramdisk when a step is unknown, since it may be one of the agent's. */
function afterPreparation(task: NodeTask): void {
  const problem = planService(task)
  if (problem !== undefined && task.info.service_disable_ramdisk === true)
    // Upstream's worker raises here, and the node stays in servicing for ever.
    return serviceFailed(task, `Cannot service node ${task.uuid}: ${problem}`)
  recordStart(SERVICING, task)
  if (problem === undefined) task.setInfo({ service_disable_ramdisk: true })
  if (problem === undefined || !usesAgent(task.node)) return runSteps(SERVICING, task, 0)
  task.run([{ kind: 'power', target: 'power off' }], { flow: 'servicing', after: 'power-off' })
}

/** The record does not show the power off in between (recorded). */
function afterPowerOff(task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok) return prepareFailed(task, outcome.error)
  task.node.power_state = 'power on'
  task.setInfo({ agent_start_attempted: true })
  task.run(startRamdiskOverInstance(task), { flow: 'servicing', after: 'ramdisk-boot' })
}

const prepareFailed = (task: NodeTask, error: string): void =>
  serviceFailed(task, `Failed to prepare node ${task.uuid} for service: ${error}`)

function afterRamdiskBoot(task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok) return prepareFailed(task, outcome.error)
  task.process('wait')
  task.release()
}

function finishServicing(task: NodeTask): void {
  const booted = usesAgent(task.node) && task.info.service_disable_ramdisk !== true
  wipeServicing(task)
  recordEnd(SERVICING, task)
  const last: [EffectBody, ...EffectBody[]] = booted ? bootInstance(task) : [{ kind: 'proceed' }]
  task.run(withHardwareReport(task.node, ...last), { flow: 'servicing', after: 'tear-down' })
}

function afterTearDown(task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok) {
    const error = `Failed to tear down from service for node ${task.uuid}, reason: ${outcome.error}`
    return serviceFailed(task, error, { tearDown: false })
  }
  restoreDeployInterface(task)
  task.process('done')
  task.release()
}

export const servicingContinuations: Continuations<'servicing'> = {
  ...stepContinuations(SERVICING),
  'abort-tear-down': afterAbortTearDown,
  'failure-logs': afterFailureLogs,
  'failure-tear-down': afterFailureTearDown,
  'power-off': afterPowerOff,
  preparation: afterPreparation,
  'ramdisk-boot': afterRamdiskBoot,
  'tear-down': afterTearDown,
}
