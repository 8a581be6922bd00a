import { IronicError } from '../../../../base/wire/index.js'
import { imageSourceProblem } from '../../../drivers/deploy-requirements.js'
import { deployInterface } from '../../../drivers/deploy/deploy-interfaces.js'
import { powerProblem } from '../../../drivers/requirements.js'
import { switchDeployInterface } from '../verify/autodetect-interface.js'
import type { ProvisionRequest } from '../../core/conductor.js'
import { deployFailed } from './deployment-failure.js'
import {
  DEPLOYMENT,
  deploymentProblem,
  deploymentStepContinuations,
  stepSources,
  wantedSteps,
} from './deployment-steps.js'
import { recordStart, runSteps } from '../../steps/step-runner.js'
import { disallowedStep } from '../../steps/disallowed-steps.js'
import { usesAgent } from '../../steps/driver-steps.js'
import type { Continuations } from '../../core/continuations.js'
import { valueOf, type EffectBody, type EffectOutcome } from '../../core/effects.js'
import { refuseBootMode } from '../../agents/boot-preparation.js'
import { fastTracked } from '../../agents/fast-track.js'
import { findImage, keepFoundImage, storeImageType } from './image-deployment.js'
import { deploySteps, type PlannedStep } from '../../steps/plan-steps.js'
import type { NodeTask } from '../../core/node-task.js'
import { wipeDeploymentPlan } from '../teardown/wipe.js'

/**
 * `active` and `rebuild`.
 *
 * @throws IronicError 400 for a step that the operator forbids or an invalid image source, before any change
 */
export function startDeployment(task: NodeTask, verb: 'deploy' | 'rebuild', request: ProvisionRequest): void {
  const user = (request.deploy_steps ?? []) as PlannedStep[]
  const disallowed = disallowedStep('deploy', user, task.conf.disallowDeploySteps)
  if (disallowed) throw disallowed
  const noImage = imageSourceProblem(task.node.instance_info.image_source)
  if (noImage !== undefined) throw new IronicError(400, noImage)
  storeImageType(task)
  const { node, situation, conf } = task
  const problem = powerProblem(node) ?? deploymentProblem(stepSources(task, user), situation.ports, conf)
  // The image type stays stored after a refusal; upstream also keeps the interface that autodetect chose.
  if (problem !== undefined)
    return task.refuse(
      new IronicError(400, `Failed to validate deploy or power info for node ${task.uuid}: ${problem}`),
    )
  switchDeployInterface(task)
  task.begin(verb)
  keepConfigDrive(task, request.configdrive)
  wipeDeploymentPlan(task)
  // Commands to the agent show conductor_affinity from the first deployment on.
  node.conductor_affinity = 1
  task.run(prepareDeployment(task), { flow: 'deployment', after: 'preparation' }, { user })
}

/** Powers the machine off first, unless power off is disabled, and reads the image's metadata. */
function prepareDeployment(task: NodeTask): [EffectBody, ...EffectBody[]] {
  const { node } = task
  const off: EffectBody =
    usesAgent(node) && !node.disable_power_off && !fastTracked(task)
      ? { kind: 'power', target: 'power off' }
      : { kind: 'proceed' }
  const refused = bootsAgent(task) ? refuseBootMode(task) : []
  return deployInterface(node).checksImage ? [off, findImage(task), ...refused] : [off, ...refused]
}

/** A rebuild without a configdrive keeps the one it has. */
function keepConfigDrive({ node }: NodeTask, configdrive: unknown): void {
  if (configdrive !== undefined && configdrive !== null) node.instance_info = { ...node.instance_info, configdrive }
}

function afterPreparation(task: NodeTask, outcome: EffectOutcome, memo: { user: PlannedStep[] }): void {
  const problem = outcome.ok ? storeInventory(task, outcome) : outcome.error
  if (problem !== undefined) return deployFailed(task, `Failed to prepare to deploy: ${problem}`)
  const steps = deploySteps(task.node, wantedSteps(stepSources(task, memo.user)), task.conf)
  task.setInfo({ deploy_steps: steps })
  if (memo.user.length > 0) task.setInfo({ user_deploy_steps: memo.user })
  task.setInfo({ deploy_step_index: null })
  if (steps.length === 0) return deployFailed(task, 'No deploy steps returned by the driver')
  if (bootsAgent(task)) task.setInfo({ agent_start_attempted: true })
  recordStart(DEPLOYMENT, task)
  runSteps(DEPLOYMENT, task, 0)
}

const storeInventory = (task: NodeTask, outcome: EffectOutcome): string | undefined =>
  outcome.kind === 'find-image' ? keepFoundImage(task, valueOf(outcome, 'find-image')) : undefined

/** With fast track the running agent is used. */
const bootsAgent = (task: NodeTask): boolean => deployInterface(task.node).runs === 'agent' && !fastTracked(task)

export const deploymentContinuations: Continuations<'deployment'> = {
  ...deploymentStepContinuations,
  preparation: afterPreparation,
}
