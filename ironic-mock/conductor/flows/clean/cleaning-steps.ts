import { pythonRepr } from '../../../../base/wire/index.js'
import { restoreDeployInterface } from '../verify/autodetect-interface.js'
import { abortCleaningAfter, cleanFailed, cleanFailedLogged } from './cleaning-failure.js'
import { isManual, planCleaning } from './cleaning-plan.js'
import { usesAgent } from '../../steps/driver-steps.js'
import type { EffectBody, EffectOutcome } from '../../core/effects.js'
import { endRamdisk } from '../../agents/boot-ramdisk.js'
import { fastTracked } from '../../agents/fast-track.js'
import { withHardwareReport } from '../../hardware/hardware-report.js'
import type { StepFlow } from '../../steps/step-flow.js'
import { recordEnd } from '../../steps/step-runner.js'
import type { NodeTask } from '../../core/node-task.js'
import { wipeCleaning } from '../teardown/wipe.js'

export const CLEANING: StepFlow = {
  kind: 'clean',
  name: 'cleaning',
  title: (task) => (isManual(task) ? 'manual cleaning' : 'automated cleaning'),
  hasAgent: ({ node, info }) => usesAgent(node) && info.cleaning_disable_ramdisk !== true,
  needsAgentSteps: ({ node, info }) => node.clean_step.step === undefined && info.cleaning_reboot !== true,
  listsAgentStepsIn: 'working',
  plan: planCleaning,
  failStart: (task, problem) => cleanFailed(task, `Node failed to start the first cleaning step: ${problem}`),
  failRun: (task, error) =>
    cleanFailedLogged(task, `Node ${task.uuid} failed step ${pythonRepr(task.node.clean_step)}: ${error}`),
  failCheck: (task, error) => cleanFailed(task, `Node failed to check cleaning progress: ${error}`),
  failStep: cleanFailedLogged,
  fail: cleanFailed,
  finish: finishCleaning,
  abortAfter: abortCleaningAfter,
}

function finishCleaning(task: NodeTask): void {
  const { node } = task
  const booted = usesAgent(node) && task.info.cleaning_disable_ramdisk !== true
  const agentStays = fastTracked(task)
  node.clean_step = {}
  wipeCleaning(task)
  const last: [EffectBody, ...EffectBody[]] = booted && !agentStays ? endRamdisk(task) : [{ kind: 'proceed' }]
  task.run(withHardwareReport(node, ...last), {
    flow: 'cleaning',
    after: 'tear-down',
  })
}

export function afterTearDown(task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok) {
    const error = `Failed to tear down from cleaning for node ${task.uuid}, reason: ${outcome.error}`
    return cleanFailed(task, error, { tearDown: false })
  }
  recordEnd(CLEANING, task)
  restoreDeployInterface(task)
  task.process(isManual(task) || task.node.retired ? 'manage' : 'done')
  task.release()
}
