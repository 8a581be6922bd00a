import type { DeployTemplateRecord, NodeRecord } from '../../../base/wire/index.js'
import type { Records } from '../../store/record-store.js'
import type { PlannedStep } from './plan-steps.js'

/** Traits of an instance; empty when they are malformed. */
function instanceTraits({ instance_info: { traits } }: Pick<NodeRecord, 'instance_info'>): readonly string[] {
  return Array.isArray(traits) ? traits.filter((trait): trait is string => typeof trait === 'string') : []
}

/** Upstream's error for the traits in `instance_info`; undefined when the node has them. */
export function instanceTraitsProblem(node: Readonly<NodeRecord>): string | undefined {
  const { traits } = node.instance_info
  if (!traits) return undefined
  if (!Array.isArray(traits) || instanceTraits(node).length < traits.length)
    return `Error parsing traits from Node ${node.uuid} instance_info field. A list of strings is expected.`
  const missing = [...new Set(instanceTraits(node))].filter((trait) => !node.traits.includes(trait))
  if (missing.length === 0) return undefined
  return `Cannot specify instance traits that are not also set on the node. Node ${node.uuid} is missing traits ${missing.join(', ')}`
}

/** Deploy templates that the instance's traits name, ordered by id as in Ironic's query. */
export function templatesOf(records: Records, node: Pick<NodeRecord, 'instance_info'>): DeployTemplateRecord[] {
  const table = records.resources('deploy_template')
  const found = [...new Set(instanceTraits(node))].flatMap((name) => table.find(name) ?? [])
  return found.sort((a, b) => a.id - b.id)
}

/** Steps of the templates, reduced to the fields of a planned step. */
export const templateSteps = (templates: readonly DeployTemplateRecord[]): PlannedStep[] =>
  templates.flatMap((template) =>
    template.steps.map(({ interface: owner, step, args, priority }) => ({ interface: owner, step, args, priority })),
  )

/** Start of upstream's error for template steps. */
export const templatesFailed = (templates: readonly DeployTemplateRecord[]): string =>
  `Validation of deploy steps from deploy templates matching this node's instance traits failed. Matching deploy templates: ${templates.map(({ name }) => name).join(',')}. Errors: `
