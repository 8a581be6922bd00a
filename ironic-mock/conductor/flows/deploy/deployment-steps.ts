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
import type { Turn } from '../../core/turn.js'
import { wipeDeployment } from '../teardown/wipe.js'

/** Runs the steps from `index` on, until one has to wait for something or all are done. */
export function runDeployStep(turn: Turn, index: number): void {
  const steps = (turn.info.deploy_steps ?? []) as JsonObject[]
  for (let at = index; at < steps.length; at++) {
    const step = steps[at]! as RequestedStep
    turn.node.deploy_step = step
    turn.setInfo({ deploy_step_index: at })
    if (isReserved(step)) return runReserved('deployment', turn, step)
    if (!isOutOfBand(turn.node, 'deploy', step))
      return turn.run([{ kind: 'agent-step', of: 'deploy', step }], 'deployment.sent')
    const begun =
      step.interface === 'deploy'
        ? runCoreStep(turn, step.step as CoreDeployStep)
        : runDriverStep(DRIVEN_DEPLOYMENT, turn, step as unknown as JsonObject)
    if (begun) return
  }
  finish(turn)
}

/** The pause is over, in `wait call-back`. */
export const deploymentPaused = (turn: Turn): void => resume(turn, 1)
export const deploymentUnheld = deploymentPaused

/**
 * `unhold`: the next heartbeat goes on. Before the ramdisk was booted nobody would report, and upstream waits in vain.
 */
export function unholdDeployment(turn: Turn): void {
  if (turn.info.agent_url === undefined) turn.run([{ kind: 'proceed' }], 'deployment.unheld')
}

export function deploymentBooted(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) return stepFailed(turn, outcome.error)
  turn.dropInfo('agent_start_attempted')
  turn.process('wait')
  turn.rest()
}

/** An agent that is still there from the work before goes on at once (fast track). */
export function deploymentTracked(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) {
    if (outcome.reason !== 'agent unreachable') return stepFailed(turn, outcome.error)
    // One that has just inspected its machine has not yet said where it is. Upstream's deployment fails then.
    if (turn.info.agent_url === undefined) return deploymentBooted(turn, { ok: true, kind: 'proceed', value: null })
    return turn.run(bootRamdisk(turn), 'deployment.booted')
  }
  rememberSteps(turn, 'deploy', valueOf(outcome, 'agent-steps'))
  goOn(turn, 1)
}

export function deploymentStepped(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) return stepFailed(turn, outcome.error)
  runDeployStep(turn, index(turn) + 1)
}

/** An agent that cannot be told to power off is powered off; one that was told gets the time to do it. */
export function deploymentToldOff(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) {
    turn.warn(`the agent of node ${turn.uuid} could not be asked to power off: ${outcome.error}`)
    return turn.run([{ kind: 'power', target: 'power off' }], 'deployment.agent-off')
  }
  turn.run([{ kind: 'await-power-off' }], 'deployment.agent-off')
}

export function deploymentAgentOff(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok)
    return coreStepFailed(turn, `Error rebooting node ${turn.uuid} after deploy. ${classOf(outcome)}: ${outcome.error}`)
  runDeployStep(turn, index(turn) + 1)
}

export function deploymentUp(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok)
    return coreStepFailed(turn, `Error booting node ${turn.uuid} after deploy. ${classOf(outcome)}: ${outcome.error}`, {
      logs: false,
    })
  runDeployStep(turn, index(turn) + 1)
}

export function deploymentBootSet(turn: Turn, outcome: Outcome): void {
  const problem = bootProblemOf(turn, outcome)
  if (problem !== undefined) return coreStepFailed(turn, problem)
  runDeployStep(turn, index(turn) + 1)
}

/** What upstream calls such a failure. */
const classOf = ({ kind }: Outcome): string => (kind.startsWith('agent') ? 'AgentAPIError' : 'PowerStateFailure')

export function deploymentSent(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) {
    // Busy with something else, or not up yet after a reboot: the step is sent when the agent reports.
    const later = outcome.reason === 'agent busy' || turn.info.agent_url === undefined
    if (!later) return stepFailed(turn, outcome.error)
    turn.setInfo({ skip_current_deploy_step: false })
  }
  turn.process('wait')
  turn.rest()
}

/** An agent reports to a node in `wait call-back`. */
export function deploymentHeartbeat(turn: Turn): void {
  turn.touch()
  if (turn.info.agent_cached_deploy_steps === undefined)
    turn.run([{ kind: 'agent-steps', of: 'deploy' }], 'deployment.steps')
  else turn.run([{ kind: 'agent-commands' }], 'deployment.polled')
}

export function deploymentSteps(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) {
    // Just after a reboot that a step asked for, the new agent may not be up yet.
    if (turn.info.deployment_reboot === true && outcome.reason === 'agent unreachable') return turn.rest()
    if (outcome.reason === 'agent busy') return turn.rest()
    return deployFailedOff(turn, `Failed to load in-band deploy steps: ${outcome.error}`)
  }
  rememberSteps(turn, 'deploy', valueOf(outcome, 'agent-steps'))
  turn.run([{ kind: 'agent-commands' }], 'deployment.polled')
}

export function deploymentPolled(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) {
    if (outcome.reason === 'agent busy') return turn.rest()
    return deployFailedOff(turn, `Failed to process the next deploy step: ${outcome.error}`)
  }
  const step = turn.node.deploy_step
  const { names, last } = valueOf(outcome, 'agent-commands')
  if (turn.info.skip_current_deploy_step === false && last?.command_status !== 'RUNNING') return resume(turn, 0)
  // Upstream compares the pause with what the agent ran last, and never goes on.
  if (isPause(step) && last?.command_status !== 'RUNNING') return resume(turn, 1)
  const progress = agentProgress('deploy', step, names, last)
  switch (progress.kind) {
    case 'running':
      return turn.rest()
    case 'fresh':
      return fresh(turn)
    case 'done':
      return stepDone(turn, last)
    case 'mismatch':
      return turn.run([{ kind: 'agent-steps', of: 'deploy' }], 'deployment.refreshed')
    case 'failed':
      return deployStepFailed(turn, `Deploy step ${stepName(step)} failed on node ${turn.uuid}. ${progress.error}`)
    case 'unknown':
      return deployStepFailed(
        turn,
        `Agent returned unknown status for deploy step ${stepName(step)} on node ${turn.uuid} : ${progress.error}.`,
      )
  }
}

/** The agent knows of no step: it was booted for the next one, or lost its memory, which upstream takes for the same. */
function fresh(turn: Turn): void {
  const step = turn.node.deploy_step as RequestedStep
  if (turn.info.deployment_reboot !== true && !isOutOfBand(turn.node, 'deploy', step)) {
    const lost = `the agent of node ${turn.uuid} has no command in its list in the middle of deploy step ${stepName(step)}`
    if (turn.policy.strictSteps) return deployStepFailed(turn, `${lost}; its outcome is unknown`)
    turn.warn(`${lost}; going on with the next one, as Ironic does`)
  }
  resume(turn, 1)
}

/** Back to deploying, at the step `ahead` of the current one. The first time, the user's steps are checked for good. */
function resume(turn: Turn, ahead: 0 | 1): void {
  turn.process('resume')
  turn.dropInfo('deployment_reboot', 'skip_current_deploy_step')
  goOn(turn, ahead)
}

function goOn(turn: Turn, ahead: 0 | 1): void {
  if (turn.info.steps_validated !== true && turn.info.agent_cached_deploy_steps !== undefined) {
    const sources = stepSources(turn, (turn.info.user_deploy_steps ?? []) as PlannedStep[])
    const problem = stepsProblem(sources, turn.policy, false)
    if (problem !== undefined) {
      const error = `Failed to validate the final deploy steps list for node ${turn.uuid}: ${problem}`
      return turn.run([{ kind: 'proceed' }], 'deployment.refused', { error })
    }
    turn.setInfo({ deploy_steps: deploySteps(turn.node, wantedSteps(sources), turn.policy), steps_validated: true })
  }
  runDeployStep(turn, index(turn) + ahead)
}

function stepDone(turn: Turn, last: CommandResult | null): void {
  const step = turn.node.deploy_step
  const problem = last && finishRaid(turn, 'deploy', step, last)
  if (problem) return deployStepFailed(turn, problem)
  if (step.abort_after === true) return abortDeployment(turn)
  if (step.reboot_requested === true) {
    turn.setInfo({ deployment_reboot: true })
    return turn.run(bootRamdisk(turn), 'deployment.rebooted')
  }
  resume(turn, 1)
}

export function deploymentRebooted(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) return stepFailed(turn, outcome.error)
  turn.touch()
  turn.rest()
}

/** The agent's managers changed under way: the step is sent again with the new versions. */
export function deploymentRefreshed(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) return deployFailedOff(turn, `Failed to process the next deploy step: ${outcome.error}`)
  rememberSteps(turn, 'deploy', valueOf(outcome, 'agent-steps'))
  resume(turn, 0)
}

/** A deployment as steps of the node's other interfaces see it. */
export const DRIVEN_DEPLOYMENT: DrivenFlow = {
  kind: 'deploy',
  name: 'deployment',
  hasAgent: ({ node }) => usesAgent(node),
  next: (turn) => runDeployStep(turn, index(turn) + 1),
  fail: stepFailed,
}

function stepFailed(turn: Turn, error: string): void {
  deployFailed(turn, `Deploy step ${stepName(turn.node.deploy_step)} failed: ${error}.`)
}

const index = (turn: Turn): number => Number(turn.info.deploy_step_index ?? 0)

function finish(turn: Turn): void {
  const steps = turn.info.deploy_steps
  turn.record('INFO', `Deployment completed successfully with steps=${pythonRepr(steps)}`, 'deployment_end')
  wipeDeployment(turn)
  turn.process('done')
  turn.rest()
}
