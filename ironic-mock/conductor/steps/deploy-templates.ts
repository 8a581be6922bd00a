import type { DeployTemplateRecord, NodeRecord } from '../../../wire/index.js'
import type { Records } from '../../store/records.js'
import type { PlannedStep } from './plan-steps.js'

/** The traits that an instance asks for, where they have the form they should have. */
function instanceTraits({ instance_info: { traits } }: Pick<NodeRecord, 'instance_info'>): readonly string[] {
  return Array.isArray(traits) ? traits.filter((trait): trait is string => typeof trait === 'string') : []
}

/** Why the traits in `instance_info` cannot be had, in upstream's words; undefined when they can. */
export function instanceTraitsProblem(node: Readonly<NodeRecord>): string | undefined {
  const { traits } = node.instance_info
  if (!traits) return undefined
  if (!Array.isArray(traits) || instanceTraits(node).length < traits.length)
    return `Error parsing traits from Node ${node.uuid} instance_info field. A list of strings is expected.`
  const missing = [...new Set(instanceTraits(node))].filter((trait) => !node.traits.includes(trait))
  if (missing.length === 0) return undefined
  return `Cannot specify instance traits that are not also set on the node. Node ${node.uuid} is missing traits ${missing.join(', ')}`
}

/** The templates that the instance's traits name, in the order of their ids, as Ironic's query gives them. */
export function templatesOf(records: Records, node: Pick<NodeRecord, 'instance_info'>): DeployTemplateRecord[] {
  const table = records.resources('deploy_template')
  const found = [...new Set(instanceTraits(node))].flatMap((name) => table.find(name) ?? [])
  return found.sort((a, b) => a.id - b.id)
}

/** The steps of the templates whose names the instance has as traits, with what matters of them. */
export const templateSteps = (templates: readonly DeployTemplateRecord[]): PlannedStep[] =>
  templates.flatMap((template) =>
    template.steps.map(({ interface: owner, step, args, priority }) => ({ interface: owner, step, args, priority })),
  )

/** What upstream says before the errors of template steps. */
export const templatesFailed = (templates: readonly DeployTemplateRecord[]): string =>
  `Validation of deploy steps from deploy templates matching this node's instance traits failed. Matching deploy templates: ${templates.map(({ name }) => name).join(',')}. Errors: `
