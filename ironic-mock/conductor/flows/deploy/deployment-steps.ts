import type { DeployTemplateRecord, NodeRecord, PortRecord } from '../../../../base/wire/index.js'
import { AUTODETECT } from '../../../drivers/deploy/autodetect.js'
import { deployProblem } from '../../../drivers/deploy-requirements.js'
import { detectDeployInterface } from '../verify/autodetect-interface.js'
import { withImageType } from './image-deployment.js'
import { instanceTraitsProblem, templatesFailed, templateSteps } from '../../steps/deploy-templates.js'
import type { ConductorConf } from '../../core/conductor-conf.js'
import { bootRamdisk } from '../../agents/boot-ramdisk.js'
import type { Continuations } from '../../core/continuations.js'
import { valueOf, type EffectOutcome } from '../../core/effects.js'
import type { NodeTask } from '../../core/node-task.js'
import { usesAgent } from '../../steps/driver-steps.js'
import { rememberSteps } from '../../steps/in-band-steps.js'
import { checkUserSteps, deploySteps, type PlannedStep } from '../../steps/plan-steps.js'
import type { StepFlow } from '../../steps/step-flow.js'
import { formatStepName } from '../../steps/step-name.js'
import { stepContinuations } from '../../steps/step-outcomes.js'
import { failRun, recordEnd, runNextStep } from '../../steps/step-runner.js'
import { wipeDeployment } from '../teardown/wipe.js'
import {
  abortDeploymentAfter,
  afterAbortCleanUp,
  afterFailureCleanUp,
  afterFailureLogs,
  afterFailurePowerOff,
  deployFailed,
  failDeploymentAndPowerOff,
  deployStepFailed,
} from './deployment-failure.js'
import {
  afterAgentPartitions,
  bootProblemOf,
  deployInterfaceFailed,
  startDeployStep,
  switchAgentOff,
} from './deploy-interface-steps.js'

export const DEPLOYMENT: StepFlow = {
  kind: 'deploy',
  name: 'deployment',
  title: () => 'deployment',
  hasAgent: ({ node }) => usesAgent(node),
  needsAgentSteps: ({ info }) => info.agent_cached_deploy_steps === undefined,
  listsAgentStepsIn: 'waiting',
  checkPlan,
  startDeployStep,
  failStart: (task, error) => failDeploymentAndPowerOff(task, `Failed to load in-band deploy steps: ${error}`),
  failRun: (task, error) =>
    deployFailed(task, `Deploy step ${formatStepName(task.node.deploy_step)} failed: ${error}.`),
  failCheck: (task, error) => failDeploymentAndPowerOff(task, `Failed to process the next deploy step: ${error}`),
  failStep: deployStepFailed,
  fail: deployFailed,
  finish: finishDeployment,
  abortAfter: abortDeploymentAfter,
}

/** Makes the final plan once the agent has listed its steps; until then an unknown step may be one of the agent's. */
function checkPlan(task: NodeTask): boolean {
  if (task.info.steps_validated === true || task.info.agent_cached_deploy_steps === undefined) return true
  const sources = stepSources(task, (task.info.user_deploy_steps ?? []) as PlannedStep[])
  const problem = stepsProblem(sources, task.conf, false)
  if (problem !== undefined) {
    const error = `Failed to validate the final deploy steps list for node ${task.uuid}: ${problem}`
    task.run([{ kind: 'proceed' }], { flow: 'deployment', after: 'plan-refusal' }, { error })
    return false
  }
  task.setInfo({ deploy_steps: deploySteps(task.node, wantedSteps(sources), task.conf), steps_validated: true })
  return true
}

/** Sources of deploy steps besides the driver and the agent. */
export interface StepSources {
  node: Readonly<NodeRecord>
  templates: readonly DeployTemplateRecord[]
  user: readonly PlannedStep[]
  /** True if the registry of the image says that it can be booted, as far as `autodetect` has to know. */
  imageIsBootc?: boolean
}

/** Step sources of this node, with the user's steps. */
export const stepSources = ({ node, situation }: NodeTask, user: readonly PlannedStep[]): StepSources => ({
  node,
  user,
  templates: situation.templates ?? [],
  imageIsBootc: situation.imageIsBootc === true,
})

/** Error of a deployment request, as far as it is known before the agent runs; undefined when there is none. */
export function deploymentProblem(
  { node, templates, user, imageIsBootc = false }: StepSources,
  ports: readonly PortRecord[],
  conf: ConductorConf,
): string | undefined {
  const { deploy_interface: own } = node
  const deploy_interface = own === AUTODETECT.name ? detectDeployInterface(node, conf, imageIsBootc).name : own
  const concrete = { ...node, deploy_interface, instance_info: withImageType(node.instance_info) }
  return (
    deployProblem(concrete, ports) ??
    instanceTraitsProblem(node) ??
    stepsProblem({ node: concrete, templates, user }, conf, true)
  )
}

/** Errors of the steps of templates and user, in upstream's words. */
function stepsProblem(
  { node, templates, user }: StepSources,
  conf: ConductorConf,
  skipMissing: boolean,
): string | undefined {
  const errorsOf = (steps: readonly PlannedStep[]): string =>
    checkUserSteps(node, 'deploy', steps, { conf, skipMissing }).errors.join('; ')
  const ofTemplates = errorsOf(templateSteps(templates))
  if (ofTemplates !== '') return templatesFailed(templates) + ofTemplates
  const ofUser = errorsOf(user)
  return ofUser === '' ? undefined : `Validation of deploy steps from "deploy steps" argument failed.${ofUser}`
}

/** The user's steps, then those template steps that the user did not name (ironic conductor/steps.py). */
export function wantedSteps({ templates, user }: Pick<StepSources, 'templates' | 'user'>): PlannedStep[] {
  const isNamedByUser = (step: PlannedStep): boolean =>
    user.some((own) => own.interface === step.interface && own.step === step.step)
  return [...user, ...templateSteps(templates).filter((step) => !isNamedByUser(step))]
}

/** `unhold`: the next heartbeat continues. Without an agent it continues at once; upstream waits for ever. */
export function unholdDeployment(task: NodeTask): void {
  if (task.info.agent_url === undefined) task.run([{ kind: 'proceed' }], { flow: 'deployment', after: 'pause' })
}

function afterRamdiskBoot(task: NodeTask, outcome: EffectOutcome): void {
  if (outcome.ok) waitForAgent(task)
  else failRun(DEPLOYMENT, task, outcome.error)
}

function waitForAgent(task: NodeTask): void {
  task.dropInfo('agent_start_attempted')
  task.process('wait')
  task.release()
}

/** Continues after the fast-track agent has listed its steps, or did not answer. */
function afterFastTrack(task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok) {
    if (outcome.reason !== 'agent unreachable') return failRun(DEPLOYMENT, task, outcome.error)
    // An agent that has just finished an inspection has sent no heartbeat yet. Upstream's deployment fails then.
    if (task.info.agent_url === undefined) return waitForAgent(task)
    return task.run(bootRamdisk(task), { flow: 'deployment', after: 'ramdisk-boot' })
  }
  rememberSteps(task, 'deploy', valueOf(outcome, 'agent-steps'))
  runNextStep(DEPLOYMENT, task)
}

/** Waits for the power off by the agent; when the agent refused the command, the BMC powers the machine off. */
function afterAgentPowerOff(task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok) {
    task.warn(`the agent of node ${task.uuid} could not be asked to power off: ${outcome.error}`)
    return task.run([{ kind: 'power', target: 'power off' }], { flow: 'deployment', after: 'ramdisk-end' })
  }
  task.run([{ kind: 'await-power-off' }], { flow: 'deployment', after: 'ramdisk-end' })
}

function afterRamdiskEnd(task: NodeTask, outcome: EffectOutcome): void {
  if (outcome.ok) return runNextStep(DEPLOYMENT, task)
  deployInterfaceFailed(
    task,
    `Error rebooting node ${task.uuid} after deploy. ${errorClass(outcome)}: ${outcome.error}`,
  )
}

function afterInstanceBoot(task: NodeTask, outcome: EffectOutcome): void {
  if (outcome.ok) return runNextStep(DEPLOYMENT, task)
  const error = `Error booting node ${task.uuid} after deploy. ${errorClass(outcome)}: ${outcome.error}`
  deployInterfaceFailed(task, error, { logs: false })
}

function afterBootDevice(task: NodeTask, outcome: EffectOutcome): void {
  const problem = bootProblemOf(task, outcome)
  if (problem !== undefined) return deployInterfaceFailed(task, problem)
  runNextStep(DEPLOYMENT, task)
}

/** Upstream's exception class of a failure. */
const errorClass = ({ kind }: EffectOutcome): string =>
  kind.startsWith('agent') ? 'AgentAPIError' : 'PowerStateFailure'

function finishDeployment(task: NodeTask): void {
  recordEnd(DEPLOYMENT, task)
  wipeDeployment(task)
  task.process('done')
  task.release()
}

/** All continuations of a deployment but its first. */
export const deploymentStepContinuations: Omit<Continuations<'deployment'>, 'preparation'> = {
  ...stepContinuations(DEPLOYMENT),
  'agent-logs': switchAgentOff,
  'agent-partitions': afterAgentPartitions,
  'agent-power-off': afterAgentPowerOff,
  'boot-device': afterBootDevice,
  'abort-clean-up': afterAbortCleanUp,
  'failure-clean-up': afterFailureCleanUp,
  'failure-logs': afterFailureLogs,
  'failure-power-off': afterFailurePowerOff,
  'fast-track': afterFastTrack,
  'instance-boot': afterInstanceBoot,
  'plan-refusal': (task, _, memo) => deployFailed(task, memo.error),
  'ramdisk-boot': afterRamdiskBoot,
  'ramdisk-end': afterRamdiskEnd,
}
