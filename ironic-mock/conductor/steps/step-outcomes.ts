import { pythonRepr, type CommandResult } from '../../../base/wire/index.js'
import { bootRamdisk } from '../agents/boot-ramdisk.js'
import type { InterfaceStepMemo, StepFlowMemos } from '../core/continuation.js'
import { valueOf, type EffectOutcome } from '../core/effects.js'
import type { NodeTask } from '../core/node-task.js'
import { hardwareReportEffects } from '../hardware/hardware-report.js'
import { agentProgress } from './agent-progress.js'
import { finishRaid } from './agent-raid.js'
import { isOutOfBand } from './driver-steps.js'
import { rememberSteps } from './in-band-steps.js'
import { interfaceStepProblem, interfaceStepRefusal } from './interface-steps.js'
import { isReserved } from './reserved-steps.js'
import { currentStep, rebootFlag, skipFlag, type StepFlow } from './step-flow.js'
import { formatStepName } from './step-name.js'
import { failRun, pythonTitle, resume, runCurrentStep, runNextStep, runSteps } from './step-runner.js'

/** Continuations that all flows with steps share. */
export const stepContinuations = (
  flow: StepFlow,
): {
  readonly [After in keyof StepFlowMemos]: (task: NodeTask, outcome: EffectOutcome, memo: StepFlowMemos[After]) => void
} => ({
  'agent-commands': (task, outcome) => afterAgentCommands(flow, task, outcome),
  'agent-step': (task, outcome) => afterAgentStep(flow, task, outcome),
  'agent-steps': (task, outcome) => afterAgentSteps(flow, task, outcome),
  'agent-steps-refresh': (task, outcome) => afterAgentStepsRefresh(flow, task, outcome),
  'interface-step': (task, outcome, memo) => afterInterfaceStep(flow, task, outcome, memo),
  pause: (task) => {
    resume(flow, task)
    runNextStep(flow, task)
  },
  'reserved-step': (task, outcome) => {
    if (outcome.ok) runNextStep(flow, task)
    else failRun(flow, task, outcome.error)
  },
  'step-reboot': (task, outcome) => afterStepReboot(flow, task, outcome),
})

/** Reacts to a heartbeat in the flow's waiting state. */
export function stepHeartbeat(flow: StepFlow, task: NodeTask): void {
  task.touch()
  if (!flow.needsAgentSteps(task)) return checkProgress(flow, task)
  if (flow.listsAgentStepsIn === 'working') task.process('resume')
  task.run([{ kind: 'agent-steps', of: flow.kind }], { flow: flow.name, after: 'agent-steps' })
}

/** Ends a hold or wait step with the next heartbeat; for other steps asks the agent. */
function checkProgress(flow: StepFlow, task: NodeTask): void {
  if (isReserved(currentStep(flow, task))) {
    resume(flow, task)
    return runNextStep(flow, task)
  }
  if (task.info[`${flow.name}_polling`] !== true)
    task.run([{ kind: 'agent-commands' }], { flow: flow.name, after: 'agent-commands' })
}

function afterAgentSteps(flow: StepFlow, task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok) {
    if (!mayRetry(flow, task, outcome)) return flow.failStart(task, outcome.error)
    // The next heartbeat asks again; upstream continues without the agent's steps.
    if (flow.listsAgentStepsIn === 'working') task.process('wait')
    return task.release()
  }
  rememberSteps(task, flow.kind, valueOf(outcome, 'agent-steps'))
  if (!flow.plan) return checkProgress(flow, task)
  const problem = flow.plan(task)
  if (problem !== undefined) return flow.failStart(task, problem)
  runSteps(flow, task, 0)
}

/** True when the agent is busy, or not running yet after the reboot for a step. */
const mayRetry = (flow: StepFlow, task: NodeTask, outcome: Extract<EffectOutcome, { ok: false }>): boolean =>
  outcome.reason === 'agent busy' || (outcome.reason === 'agent unreachable' && task.info[rebootFlag(flow)] === true)

function afterAgentStep(flow: StepFlow, task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok) {
    // A deployment in fast track may start before the agent's first heartbeat (ironic 39.0.0 conductor/deployments.py
    // do_next_deploy_step).
    const noHeartbeatYet = flow.kind === 'deploy' && task.info.agent_url === undefined
    if (!mayRetry(flow, task, outcome) && !noHeartbeatYet) return failRun(flow, task, outcome.error)
    task.setInfo({ [skipFlag(flow)]: false })
  }
  task.process('wait')
  task.release()
}

function afterAgentCommands(flow: StepFlow, task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok) {
    if (outcome.reason === 'agent busy') return task.release()
    return flow.failCheck(task, outcome.error)
  }
  const step = currentStep(flow, task)
  const { names, last } = valueOf(outcome, 'agent-commands')
  if (task.info[skipFlag(flow)] === false && last?.command_status !== 'RUNNING') {
    resume(flow, task)
    return runCurrentStep(flow, task)
  }
  const progress = agentProgress(flow.kind, step, names, last)
  switch (progress.kind) {
    case 'running':
      return task.release()
    case 'fresh':
      return afterFreshBoot(flow, task)
    case 'done':
      return afterDone(flow, task, last)
    case 'mismatch':
      return task.run([{ kind: 'agent-steps', of: flow.kind }], { flow: flow.name, after: 'agent-steps-refresh' })
    case 'failed':
      return flow.failStep(
        task,
        `${pythonTitle(flow.kind)} step ${formatStepName(step)} failed on node ${task.uuid}. ${progress.error}`,
      )
    case 'unknown':
      // Sentence of ironic 39.0.0 drivers/modules/agent_base.py process_next_step.
      return flow.failStep(
        task,
        `Agent returned unknown status for ${flow.kind} step ${pythonRepr(step)} on node ${task.uuid} : ${progress.status}.`,
      )
  }
}

/** The agent has run no step since it booted: for the next step, or because it restarted, which upstream takes for the same. */
function afterFreshBoot(flow: StepFlow, task: NodeTask): void {
  const { interface: owner, step } = currentStep(flow, task)
  if (task.info[rebootFlag(flow)] !== true && !isOutOfBand(task.node, flow.kind, { interface: owner, step })) {
    const name = formatStepName(currentStep(flow, task))
    const lost = `the agent of node ${task.uuid} has no command in its list in the middle of ${flow.kind} step ${name}`
    if (task.conf.strictSteps) return flow.failStep(task, `${lost}; its outcome is unknown`)
    task.warn(`${lost}; going on with the next one, as Ironic does`)
  }
  resume(flow, task)
  runNextStep(flow, task)
}

function afterDone(flow: StepFlow, task: NodeTask, last: CommandResult | null): void {
  const step = currentStep(flow, task)
  const problem = last && finishRaid(task, flow.kind, step, last)
  if (problem) return flow.failStep(task, problem)
  // Only planned steps ask for a reboot: the steps of a request do not have the field.
  if (step.reboot_requested === true) {
    task.setInfo({ [rebootFlag(flow)]: true })
    return task.run(bootRamdisk(task), { flow: flow.name, after: 'step-reboot' })
  }
  resume(flow, task)
  runNextStep(flow, task)
}

function afterStepReboot(flow: StepFlow, task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok) {
    task.dropInfo(rebootFlag(flow))
    // Sentence of ironic 39.0.0 drivers/modules/agent_base.py _post_step_reboot.
    return flow.fail(
      task,
      `Reboot requested by ${flow.kind} step ${pythonRepr(currentStep(flow, task))} failed for node ${task.uuid}: ${outcome.error}`,
    )
  }
  task.touch()
  task.release()
}

/**
 * The agent has other hardware managers than before. Requested steps continue with the current one; planned cleaning
 * starts again. Upstream plans a cleaning also while servicing, and leaves the current step out.
 */
function afterAgentStepsRefresh(flow: StepFlow, task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok) return flow.failCheck(task, outcome.error)
  rememberSteps(task, flow.kind, valueOf(outcome, 'agent-steps'))
  resume(flow, task)
  if (!flow.plan || flow.kind !== 'clean' || task.info.declarative_cleaning === true) return runCurrentStep(flow, task)
  const problem = flow.plan(task)
  if (problem !== undefined)
    return flow.fail(task, `Could not restart automated cleaning on node ${task.uuid}: ${problem}.`)
  runSteps(flow, task, 0)
}

/** The BMC has made a change, or has refused it; then its hardware is read again. */
function afterInterfaceStep(
  flow: StepFlow,
  task: NodeTask,
  outcome: EffectOutcome,
  { phase, reboot }: InterfaceStepMemo,
): void {
  const step = currentStep(flow, task)
  if (!outcome.ok) return failRun(flow, task, interfaceStepRefusal(task, step, outcome.error))
  if (phase === 'changed') {
    // Upstream waits too, for its periodic check of the BMC.
    if (reboot) task.process('wait')
    const look = hardwareReportEffects(task.node)[0] ?? { kind: 'proceed' }
    return task.run([look], { flow: flow.name, after: 'interface-step' }, { phase: 'read again', reboot })
  }
  const problem = interfaceStepProblem(task, step)
  if (problem !== undefined) return failRun(flow, task, problem)
  if (!reboot) return runNextStep(flow, task)
  if (flow.hasAgent(task)) {
    task.setInfo({ [rebootFlag(flow)]: true })
    return task.release()
  }
  resume(flow, task)
  runNextStep(flow, task)
}
