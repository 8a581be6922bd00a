import type { DeployTemplateRecord, NodeRecord, PortRecord } from '../../../../wire/index.js'
import { deployProblem } from '../../../drivers/deploy-requirements.js'
import { detectDeployInterface } from '../verify/autodetect.js'
import { withImageType } from './image-deployment.js'
import { instanceTraitsProblem, templatesFailed, templateSteps } from '../../steps/deploy-templates.js'
import { checkUserSteps, type PlannedStep } from '../../steps/plan-steps.js'
import type { Policy } from '../../core/policy.js'
import type { NodeTask } from '../../core/node-task.js'

/** From where the steps of a deployment come, besides the driver and the agent. */
export interface StepSources {
  node: Readonly<NodeRecord>
  templates: readonly DeployTemplateRecord[]
  user: readonly PlannedStep[]
}

/** Of this node, with the user's steps. */
export const stepSources = ({ node, situation }: NodeTask, user: readonly PlannedStep[]): StepSources => ({
  ...{ node, user },
  templates: situation.templates ?? [],
})

/** Why the node cannot be deployed as asked, as far as is known before its agent is there; undefined when it can. */
export function deploymentProblem(
  { node, templates, user }: StepSources,
  ports: readonly PortRecord[],
  policy: Policy,
): string | undefined {
  const { deploy_interface: own } = node
  const deploy_interface = own === 'autodetect' ? detectDeployInterface(node, policy).name : own
  const concrete = { ...node, deploy_interface, instance_info: withImageType(node.instance_info) }
  return (
    deployProblem(concrete, ports) ??
    instanceTraitsProblem(node) ??
    stepsProblem({ node: concrete, templates, user }, policy, true)
  )
}

/** What is wrong with the steps of the templates or the user, in upstream's words. */
export function stepsProblem(
  { node, templates, user }: StepSources,
  policy: Policy,
  skipMissing: boolean,
): string | undefined {
  const errorsOf = (steps: readonly PlannedStep[]): string =>
    checkUserSteps(node, 'deploy', steps, { policy, skipMissing }).errors.join('; ')
  const ofTemplates = errorsOf(templateSteps(templates))
  if (ofTemplates !== '') return templatesFailed(templates) + ofTemplates
  const ofUser = errorsOf(user)
  return ofUser === '' ? undefined : `Validation of deploy steps from "deploy steps" argument failed.${ofUser}`
}

/** The user's steps, then those of templates that the user has not given (Ironic's source). */
export function wantedSteps({ templates, user }: Pick<StepSources, 'templates' | 'user'>): PlannedStep[] {
  const given = (step: PlannedStep): boolean =>
    user.some((own) => own.interface === step.interface && own.step === step.step)
  return [...user, ...templateSteps(templates).filter((step) => !given(step))]
}
