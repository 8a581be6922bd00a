import { pythonRepr, type CommandResult, type JsonObject, type RequestedStep } from '../../../../wire/index.js'
import { agentProgress } from '../../steps/agent-progress.js'
import { finishRaid } from '../../steps/agent-raid.js'
import { bootProblemOf, coreStepFailed, runCoreStep } from '../../steps/core-steps.js'
import { abortDeployment, deployFailed, deployFailedOff, deployStepFailed } from './deployment-failure.js'
import { stepSources, stepsProblem, wantedSteps } from './deployment-plan.js'
import { runDriverStep, type DrivenFlow } from '../../steps/driver-step-work.js'
import { isOutOfBand, usesAgent, type CoreDeployStep } from '../../steps/driver-steps.js'
import { valueOf, type Outcome } from '../../core/effects.js'
import { rememberSteps } from '../../steps/in-band-steps.js'
import { deploySteps, type PlannedStep } from '../../steps/plan-steps.js'
import { bootRamdisk } from '../../agents/ramdisk.js'
import { runReserved } from '../../steps/reserved-step-work.js'
import { isPause, isReserved } from '../../steps/reserved-steps.js'
import { stepName } from '../../steps/step-name.js'
import type { NodeTask } from '../../core/node-task.js'
import { wipeDeployment } from '../teardown/wipe.js'

/** Runs the steps from `index` on, until one has to wait for something or all are done. */
export function runDeployStep(task: NodeTask, index: number): void {
  const steps = (task.info.deploy_steps ?? []) as JsonObject[]
  for (let at = index; at < steps.length; at++) {
    const step = steps[at]! as RequestedStep
    task.node.deploy_step = step
    task.setInfo({ deploy_step_index: at })
    if (isReserved(step)) return runReserved('deployment', task, step)
    if (!isOutOfBand(task.node, 'deploy', step))
      return task.run([{ kind: 'agent-step', of: 'deploy', step }], 'deployment.sent')
    const begun =
      step.interface === 'deploy'
        ? runCoreStep(task, step.step as CoreDeployStep)
        : runDriverStep(DRIVEN_DEPLOYMENT, task, step as unknown as JsonObject)
    if (begun) return
  }
  finish(task)
}

/** The pause is over, in `wait call-back`. */
export const deploymentPaused = (task: NodeTask): void => resume(task, 1)
export const deploymentUnheld = deploymentPaused

/**
 * `unhold`: the next heartbeat goes on. Before the ramdisk was booted nobody would report, and upstream waits in vain.
 */
export function unholdDeployment(task: NodeTask): void {
  if (task.info.agent_url === undefined) task.run([{ kind: 'proceed' }], 'deployment.unheld')
}

export function deploymentBooted(task: NodeTask, outcome: Outcome): void {
  if (!outcome.ok) return stepFailed(task, outcome.error)
  task.dropInfo('agent_start_attempted')
  task.process('wait')
  task.rest()
}

/** An agent that is still there from the work before goes on at once (fast track). */
export function deploymentTracked(task: NodeTask, outcome: Outcome): void {
  if (!outcome.ok) {
    if (outcome.reason !== 'agent unreachable') return stepFailed(task, outcome.error)
    // One that has just inspected its machine has not yet said where it is. Upstream's deployment fails then.
    if (task.info.agent_url === undefined) return deploymentBooted(task, { ok: true, kind: 'proceed', value: null })
    return task.run(bootRamdisk(task), 'deployment.booted')
  }
  rememberSteps(task, 'deploy', valueOf(outcome, 'agent-steps'))
  goOn(task, 1)
}

export function deploymentStepped(task: NodeTask, outcome: Outcome): void {
  if (!outcome.ok) return stepFailed(task, outcome.error)
  runDeployStep(task, index(task) + 1)
}

/** An agent that cannot be told to power off is powered off; one that was told gets the time to do it. */
export function deploymentToldOff(task: NodeTask, outcome: Outcome): void {
  if (!outcome.ok) {
    task.warn(`the agent of node ${task.uuid} could not be asked to power off: ${outcome.error}`)
    return task.run([{ kind: 'power', target: 'power off' }], 'deployment.agent-off')
  }
  task.run([{ kind: 'await-power-off' }], 'deployment.agent-off')
}

export function deploymentAgentOff(task: NodeTask, outcome: Outcome): void {
  if (!outcome.ok)
    return coreStepFailed(task, `Error rebooting node ${task.uuid} after deploy. ${classOf(outcome)}: ${outcome.error}`)
  runDeployStep(task, index(task) + 1)
}

export function deploymentUp(task: NodeTask, outcome: Outcome): void {
  if (!outcome.ok)
    return coreStepFailed(task, `Error booting node ${task.uuid} after deploy. ${classOf(outcome)}: ${outcome.error}`, {
      logs: false,
    })
  runDeployStep(task, index(task) + 1)
}

export function deploymentBootSet(task: NodeTask, outcome: Outcome): void {
  const problem = bootProblemOf(task, outcome)
  if (problem !== undefined) return coreStepFailed(task, problem)
  runDeployStep(task, index(task) + 1)
}

/** What upstream calls such a failure. */
const classOf = ({ kind }: Outcome): string => (kind.startsWith('agent') ? 'AgentAPIError' : 'PowerStateFailure')

export function deploymentSent(task: NodeTask, outcome: Outcome): void {
  if (!outcome.ok) {
    // Busy with something else, or not up yet after a reboot: the step is sent when the agent reports.
    const later = outcome.reason === 'agent busy' || task.info.agent_url === undefined
    if (!later) return stepFailed(task, outcome.error)
    task.setInfo({ skip_current_deploy_step: false })
  }
  task.process('wait')
  task.rest()
}

/** An agent reports to a node in `wait call-back`. */
export function deploymentHeartbeat(task: NodeTask): void {
  task.touch()
  if (task.info.agent_cached_deploy_steps === undefined)
    task.run([{ kind: 'agent-steps', of: 'deploy' }], 'deployment.steps')
  else task.run([{ kind: 'agent-commands' }], 'deployment.polled')
}

export function deploymentSteps(task: NodeTask, outcome: Outcome): void {
  if (!outcome.ok) {
    // Just after a reboot that a step asked for, the new agent may not be up yet.
    if (task.info.deployment_reboot === true && outcome.reason === 'agent unreachable') return task.rest()
    if (outcome.reason === 'agent busy') return task.rest()
    return deployFailedOff(task, `Failed to load in-band deploy steps: ${outcome.error}`)
  }
  rememberSteps(task, 'deploy', valueOf(outcome, 'agent-steps'))
  task.run([{ kind: 'agent-commands' }], 'deployment.polled')
}

export function deploymentPolled(task: NodeTask, outcome: Outcome): void {
  if (!outcome.ok) {
    if (outcome.reason === 'agent busy') return task.rest()
    return deployFailedOff(task, `Failed to process the next deploy step: ${outcome.error}`)
  }
  const step = task.node.deploy_step
  const { names, last } = valueOf(outcome, 'agent-commands')
  if (task.info.skip_current_deploy_step === false && last?.command_status !== 'RUNNING') return resume(task, 0)
  // Upstream compares the pause with what the agent ran last, and never goes on.
  if (isPause(step) && last?.command_status !== 'RUNNING') return resume(task, 1)
  const progress = agentProgress('deploy', step, names, last)
  switch (progress.kind) {
    case 'running':
      return task.rest()
    case 'fresh':
      return fresh(task)
    case 'done':
      return stepDone(task, last)
    case 'mismatch':
      return task.run([{ kind: 'agent-steps', of: 'deploy' }], 'deployment.refreshed')
    case 'failed':
      return deployStepFailed(task, `Deploy step ${stepName(step)} failed on node ${task.uuid}. ${progress.error}`)
    case 'unknown':
      return deployStepFailed(
        task,
        `Agent returned unknown status for deploy step ${stepName(step)} on node ${task.uuid} : ${progress.error}.`,
      )
  }
}

/** The agent knows of no step: it was booted for the next one, or lost its memory, which upstream takes for the same. */
function fresh(task: NodeTask): void {
  const step = task.node.deploy_step as RequestedStep
  if (task.info.deployment_reboot !== true && !isOutOfBand(task.node, 'deploy', step)) {
    const lost = `the agent of node ${task.uuid} has no command in its list in the middle of deploy step ${stepName(step)}`
    if (task.policy.strictSteps) return deployStepFailed(task, `${lost}; its outcome is unknown`)
    task.warn(`${lost}; going on with the next one, as Ironic does`)
  }
  resume(task, 1)
}

/** Back to deploying, at the step `ahead` of the current one. The first time, the user's steps are checked for good. */
function resume(task: NodeTask, ahead: 0 | 1): void {
  task.process('resume')
  task.dropInfo('deployment_reboot', 'skip_current_deploy_step')
  goOn(task, ahead)
}

function goOn(task: NodeTask, ahead: 0 | 1): void {
  if (task.info.steps_validated !== true && task.info.agent_cached_deploy_steps !== undefined) {
    const sources = stepSources(task, (task.info.user_deploy_steps ?? []) as PlannedStep[])
    const problem = stepsProblem(sources, task.policy, false)
    if (problem !== undefined) {
      const error = `Failed to validate the final deploy steps list for node ${task.uuid}: ${problem}`
      return task.run([{ kind: 'proceed' }], 'deployment.refused', { error })
    }
    task.setInfo({ deploy_steps: deploySteps(task.node, wantedSteps(sources), task.policy), steps_validated: true })
  }
  runDeployStep(task, index(task) + ahead)
}

function stepDone(task: NodeTask, last: CommandResult | null): void {
  const step = task.node.deploy_step
  const problem = last && finishRaid(task, 'deploy', step, last)
  if (problem) return deployStepFailed(task, problem)
  if (step.abort_after === true) return abortDeployment(task)
  if (step.reboot_requested === true) {
    task.setInfo({ deployment_reboot: true })
    return task.run(bootRamdisk(task), 'deployment.rebooted')
  }
  resume(task, 1)
}

export function deploymentRebooted(task: NodeTask, outcome: Outcome): void {
  if (!outcome.ok) return stepFailed(task, outcome.error)
  task.touch()
  task.rest()
}

/** The agent's managers changed under way: the step is sent again with the new versions. */
export function deploymentRefreshed(task: NodeTask, outcome: Outcome): void {
  if (!outcome.ok) return deployFailedOff(task, `Failed to process the next deploy step: ${outcome.error}`)
  rememberSteps(task, 'deploy', valueOf(outcome, 'agent-steps'))
  resume(task, 0)
}

/** A deployment as steps of the node's other interfaces see it. */
export const DRIVEN_DEPLOYMENT: DrivenFlow = {
  kind: 'deploy',
  name: 'deployment',
  hasAgent: ({ node }) => usesAgent(node),
  next: (task) => runDeployStep(task, index(task) + 1),
  fail: stepFailed,
}

function stepFailed(task: NodeTask, error: string): void {
  deployFailed(task, `Deploy step ${stepName(task.node.deploy_step)} failed: ${error}.`)
}

const index = (task: NodeTask): number => Number(task.info.deploy_step_index ?? 0)

function finish(task: NodeTask): void {
  const steps = task.info.deploy_steps
  task.record('INFO', `Deployment completed successfully with steps=${pythonRepr(steps)}`, 'deployment_end')
  wipeDeployment(task)
  task.process('done')
  task.rest()
}
