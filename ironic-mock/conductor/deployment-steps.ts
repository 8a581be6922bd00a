import { pythonRepr, type JsonObject, type RequestedStep } from '../../wire/index.js'
import { agentProgress } from './agent-progress.js'
import { stepName } from './cleaning-failure.js'
import { abortDeployment, deployFailed, deployStepFailed } from './deployment-failure.js'
import { stepsProblem } from './deployment-plan.js'
import { isOutOfBand, usesAgent, type CoreDeployStep } from './driver-steps.js'
import { valueOf, type Outcome } from './effects.js'
import { rememberSteps } from './in-band-steps.js'
import { deploySteps, type PlannedStep } from './plan-steps.js'
import { bootRamdisk, startRamdisk } from './ramdisk.js'
import type { Turn } from './turn.js'
import { wipeDeployment } from './wipe.js'

/** Runs the steps from `index` on, until one has to wait for something or all are done. */
export function runDeployStep(turn: Turn, index: number): void {
  const steps = (turn.info.deploy_steps ?? []) as JsonObject[]
  for (let at = index; at < steps.length; at++) {
    const step = steps[at]! as RequestedStep
    turn.node.deploy_step = step
    turn.setInfo({ deploy_step_index: at })
    if (!isOutOfBand(turn.node, 'deploy', step))
      return turn.run([{ kind: 'agent-step', of: 'deploy', step }], 'deployment.sent')
    if (usesAgent(turn.node) && runCoreStep(turn, step.step as CoreDeployStep)) return
  }
  finish(turn)
}

/** Gives whether there is something to wait for. */
function runCoreStep(turn: Turn, step: CoreDeployStep): boolean {
  switch (step) {
    case 'deploy':
      turn.run([startRamdisk(turn)], 'deployment.booted')
      return true
    case 'prepare_instance_boot':
      turn.run([{ kind: 'boot', source: { kind: 'disk' } }], 'deployment.stepped')
      return true
    case 'tear_down_agent':
      turn.run([{ kind: 'agent-power-off' }], 'deployment.told-off')
      return true
    case 'switch_to_tenant_network':
      // The noop network has nothing to switch.
      return false
    case 'boot_instance':
      turn.run([{ kind: 'power', target: 'power on' }], 'deployment.stepped')
      return true
  }
}

export function deploymentBooted(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) return stepFailed(turn, outcome.error)
  turn.process('wait')
  turn.rest()
}

export function deploymentStepped(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) return stepFailed(turn, outcome.error)
  runDeployStep(turn, index(turn) + 1)
}

/** An agent that cannot be told to power off is powered off; one that was told gets the time to do it. */
export function deploymentToldOff(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) {
    turn.warn(`the agent of node ${turn.uuid} could not be told to power off: ${outcome.error}`)
    return turn.run([{ kind: 'power', target: 'power off' }], 'deployment.agent-off')
  }
  turn.run([{ kind: 'await-power-off' }], 'deployment.agent-off')
}

export const deploymentAgentOff = deploymentStepped

export function deploymentSent(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok && outcome.reason === 'agent busy') turn.setInfo({ skip_current_deploy_step: false })
  else if (!outcome.ok) return stepFailed(turn, outcome.error)
  turn.process('wait')
  turn.rest()
}

/** An agent reports to a node in `wait call-back`. */
export function deploymentHeartbeat(turn: Turn): void {
  if (turn.info.agent_cached_deploy_steps === undefined)
    turn.run([{ kind: 'agent-steps', of: 'deploy' }], 'deployment.steps')
  else turn.run([{ kind: 'agent-commands' }], 'deployment.polled')
}

export function deploymentSteps(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) {
    // Just after a reboot that a step asked for, the new agent may not be up yet.
    if (turn.info.deployment_reboot === true && outcome.reason === 'agent unreachable') return turn.rest()
    return deployFailed(turn, `Failed to load in-band deploy steps: ${outcome.error}`)
  }
  rememberSteps(turn, 'deploy', valueOf(outcome, 'agent-steps'))
  turn.run([{ kind: 'agent-commands' }], 'deployment.polled')
}

export function deploymentPolled(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) {
    turn.warn(`the agent of node ${turn.uuid} cannot be asked about its commands: ${outcome.error}`)
    return turn.rest()
  }
  const step = turn.node.deploy_step
  const { names, last } = valueOf(outcome, 'agent-commands')
  if (turn.info.skip_current_deploy_step === false && last?.command_status !== 'RUNNING') return resume(turn, 0)
  const progress = agentProgress('deploy', step, names, last)
  switch (progress.kind) {
    case 'running':
      turn.touch()
      return turn.rest()
    case 'fresh':
      return fresh(turn)
    case 'done':
      return stepDone(turn)
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
  if (turn.info.steps_validated !== true) {
    const user = (turn.info.user_deploy_steps ?? []) as PlannedStep[]
    const problem = stepsProblem(turn, user, false)
    if (problem !== undefined)
      return deployFailed(turn, `Failed to validate the final deploy steps list for node ${turn.uuid}: ${problem}`)
    turn.setInfo({ deploy_steps: deploySteps(turn.node, user, turn.policy), steps_validated: true })
  }
  runDeployStep(turn, index(turn) + ahead)
}

function stepDone(turn: Turn): void {
  const step = turn.node.deploy_step
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
  if (!outcome.ok) return deployFailed(turn, `Failed to load in-band deploy steps: ${outcome.error}`)
  rememberSteps(turn, 'deploy', valueOf(outcome, 'agent-steps'))
  resume(turn, 0)
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
