import { IronicError, pythonRepr } from '../../../../wire/index.js'
import { imageSourceProblem } from '../../../drivers/deploy-requirements.js'
import { powerProblem } from '../../../drivers/requirements.js'
import { switchDeployInterface } from '../verify/autodetect.js'
import type { ProvisionRequest } from '../../core/conductor.js'
import { deployFailed } from './deployment-failure.js'
import { runDeployStep } from './deployment-steps.js'
import { deploymentProblem, stepSources, wantedSteps } from './deployment-plan.js'
import { disallowedStep } from '../../steps/disallowed-steps.js'
import { usesAgent } from '../../steps/driver-steps.js'
import { valueOf, type EffectBody, type Outcome } from '../../core/effects.js'
import { fastTracked } from '../../agents/fast-track.js'
import { findImage, keepFoundImage, keepImageType } from './image-deployment.js'
import { deploySteps, type PlannedStep } from '../../steps/plan-steps.js'
import type { Turn } from '../../core/turn.js'
import { wipeDeploymentPlan } from '../teardown/wipe.js'

/**
 * `active` and `rebuild`.
 *
 * @throws IronicError 400 for a step that the operator forbids or an image source that is none, before anything changed
 */
export function startDeployment(turn: Turn, verb: 'deploy' | 'rebuild', request: ProvisionRequest): void {
  const user = (request.deploy_steps ?? []) as PlannedStep[]
  const disallowed = disallowedStep('deploy', user, turn.policy.disallowDeploySteps)
  if (disallowed) throw disallowed
  const noImage = imageSourceProblem(turn.node.instance_info.image_source)
  if (noImage !== undefined) throw new IronicError(400, noImage)
  keepImageType(turn)
  const { node, situation, policy } = turn
  const problem = powerProblem(node) ?? deploymentProblem(stepSources(turn, user), situation.ports, policy)
  // What the image is of stays written down; upstream keeps what autodetect stands for as well.
  if (problem !== undefined)
    return turn.refuse(
      new IronicError(400, `Failed to validate deploy or power info for node ${turn.uuid}: ${problem}`),
    )
  switchDeployInterface(turn)
  turn.begin(verb)
  keepConfigDrive(turn, request.configdrive)
  wipeDeploymentPlan(turn)
  // The agent is told from the first deployment on, and not before, that this conductor (there is one) looks after it.
  node.conductor_affinity = 1
  turn.run(prepare(turn), 'deployment.prepared', { user })
}

/** The machine is off before anything else happens, unless it may not be; an image is looked at. */
function prepare(turn: Turn): [EffectBody, ...EffectBody[]] {
  const { node } = turn
  const off: EffectBody =
    usesAgent(node) && !node.disable_power_off && !fastTracked(turn)
      ? { kind: 'power', target: 'power off' }
      : { kind: 'proceed' }
  return node.deploy_interface === 'direct' ? [off, findImage(turn)] : [off]
}

/** A rebuild without a configdrive keeps the one it has. */
function keepConfigDrive({ node }: Turn, configdrive: unknown): void {
  if (configdrive !== undefined && configdrive !== null) node.instance_info = { ...node.instance_info, configdrive }
}

export function deploymentPrepared(turn: Turn, outcome: Outcome, memo: { user: PlannedStep[] }): void {
  const problem = outcome.ok ? keepFound(turn, outcome) : outcome.error
  if (problem !== undefined) return deployFailed(turn, `Failed to prepare to deploy: ${problem}`)
  const steps = deploySteps(turn.node, wantedSteps(stepSources(turn, memo.user)), turn.policy)
  turn.setInfo({ deploy_steps: steps })
  if (memo.user.length > 0) turn.setInfo({ user_deploy_steps: memo.user })
  turn.setInfo({ deploy_step_index: null })
  if (steps.length === 0) return deployFailed(turn, 'No deploy steps returned by the driver')
  if (bootsAgent(turn)) turn.setInfo({ agent_start_attempted: true })
  turn.record('INFO', `Starting deployment with steps=${pythonRepr(steps)}`, 'deployment_start')
  runDeployStep(turn, 0)
}

const keepFound = (turn: Turn, outcome: Outcome): string | undefined =>
  outcome.kind === 'find-image' ? keepFoundImage(turn, valueOf(outcome, 'find-image')) : undefined

/** `ramdisk` never starts an agent to deploy; one that is there is not started. */
const bootsAgent = (turn: Turn): boolean =>
  usesAgent(turn.node) && turn.node.deploy_interface !== 'ramdisk' && !fastTracked(turn)
