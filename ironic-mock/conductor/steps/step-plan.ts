import { formatClientValue, type JsonObject, type NodeRecord, type StepKind } from '../../../base/wire/index.js'
import type { Records } from '../../store/record-store.js'
import { withMaskedArgs } from '../records/secret-keys.js'
import { templatesOf } from './deploy-templates.js'
import { outOfBandSteps } from './driver-steps.js'

/** A step of a node's plan. */
export interface PlanEntry {
  interface: string
  step: string
  priority: number | null
  /** Arguments, without secrets; null for none. */
  args: JsonObject | null
  /** `user`, `runbook`, `template` with its name, `driver`, or `agent`. */
  askedBy: string
  status: 'done' | 'current' | 'waiting'
}

/** The steps of the flow that a node is in. */
export interface StepPlan {
  flow: StepKind
  steps: PlanEntry[]
}

const KINDS: readonly StepKind[] = ['clean', 'deploy', 'service']

/** The plan of steps of a node, with who asked for each; null for a node without one. */
export function stepPlan(node: Readonly<NodeRecord>, records: Records): StepPlan | null {
  const info = node.driver_internal_info
  for (const flow of KINDS) {
    const steps = info[`${flow}_steps`]
    if (!Array.isArray(steps) || steps.length === 0) continue
    const index = info[`${flow}_step_index`]
    const current = typeof index === 'number' ? index : -1
    const entries = withMaskedArgs(steps as JsonObject[]).map((step, at): PlanEntry => {
      const { args = null, priority = null } = step
      return {
        interface: formatClientValue(step.interface),
        step: formatClientValue(step.step),
        priority: typeof priority === 'number' ? priority : null,
        args: args as JsonObject | null,
        askedBy: originOf(node, flow, step, records),
        status: at < current ? 'done' : at === current ? 'current' : 'waiting',
      }
    })
    return { flow, steps: entries }
  }
  return null
}

function originOf(node: Readonly<NodeRecord>, flow: StepKind, step: JsonObject, records: Records): string {
  const info = node.driver_internal_info
  const isStep = (other: JsonObject): boolean => other.interface === step.interface && other.step === step.step
  if (flow === 'service') return 'user'
  if (flow === 'clean') {
    if (node.target_provision_state === 'manageable') return 'user'
    if (info['declarative_cleaning'] === true) return 'runbook'
  }
  if (((info['user_deploy_steps'] ?? []) as JsonObject[]).some(isStep)) return 'user'
  if (flow === 'deploy')
    for (const { name, steps } of templatesOf(records, node))
      if (steps.some((own) => isStep(own as unknown as JsonObject))) return `template ${name}`
  return outOfBandSteps(node, flow).some((own) => isStep(own as unknown as JsonObject)) ? 'driver' : 'agent'
}
