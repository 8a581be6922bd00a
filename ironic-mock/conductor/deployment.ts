import { IronicError, pythonRepr, type JsonObject } from '../../wire/index.js'
import { deployProblem, powerProblem } from '../drivers/requirements.js'
import type { ProvisionRequest } from './conductor.js'
import { deployFailed } from './deployment-failure.js'
import { runDeployStep } from './deployment-steps.js'
import { usesAgent } from './driver-steps.js'
import type { Outcome } from './effects.js'
import { stepsProblem } from './deployment-plan.js'
import { deploySteps, type PlannedStep } from './plan-steps.js'
import type { Turn } from './turn.js'
import { wipeDeploymentPlan } from './wipe.js'

/**
 * `active` and `rebuild`.
 *
 * @throws IronicError 400 when the node cannot be deployed as asked, before anything changed
 */
export function startDeployment(turn: Turn, verb: 'deploy' | 'rebuild', request: ProvisionRequest): void {
  const user = (request.deploy_steps ?? []) as PlannedStep[]
  const problem =
    powerProblem(turn.node) ?? deployProblem(turn.node, turn.situation.ports) ?? stepsProblem(turn, user, true)
  if (problem !== undefined)
    throw new IronicError(400, `Failed to validate deploy or power info for node ${turn.uuid}: ${problem}`)

  turn.begin(verb)
  keepInstance(turn, request.configdrive)
  wipeDeploymentPlan(turn)
  // The agent is told from the first deployment on, and not before, that this conductor (there is one) looks after it.
  turn.node.conductor_affinity = 1
  turn.run(
    [usesAgent(turn.node) ? { kind: 'power', target: 'power off' } : { kind: 'proceed' }],
    'deployment.prepared',
    {
      user,
    },
  )
}

/** What deploying writes into `instance_info`, as recorded. A rebuild without a configdrive keeps the one it has. */
function keepInstance(turn: Turn, configdrive: unknown): void {
  const instance: JsonObject = { ...turn.node.instance_info }
  if (typeof instance.image_source === 'string') {
    const whole = instance.kernel === undefined && instance.ramdisk === undefined
    instance.image_type = whole ? 'whole-disk' : 'partition'
    turn.setInfo({ is_whole_disk_image: whole })
  }
  if (configdrive !== undefined && configdrive !== null) instance.configdrive = configdrive
  turn.node.instance_info = instance
}

export function deploymentPrepared(turn: Turn, outcome: Outcome, memo: { user: PlannedStep[] }): void {
  if (!outcome.ok) return deployFailed(turn, `Failed to prepare to deploy: ${outcome.error}`)
  const steps = deploySteps(turn.node, memo.user, turn.policy)
  turn.setInfo({ deploy_steps: steps })
  if (memo.user.length > 0) turn.setInfo({ user_deploy_steps: memo.user })
  turn.setInfo({ deploy_step_index: null })
  turn.record('INFO', `Starting deployment with steps=${pythonRepr(steps)}`, 'deployment_start')
  runDeployStep(turn, 0)
}
