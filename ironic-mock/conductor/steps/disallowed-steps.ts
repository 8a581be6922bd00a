import { IronicError, formatClientValue, type StepKind } from '../../../base/wire/index.js'
import type { PlannedStep } from './plan-steps.js'

/** The refusal of the first step that the operator's list forbids; undefined when there is none. */
export function disallowedStep(
  kind: StepKind,
  steps: readonly PlannedStep[],
  list: readonly string[],
): IronicError | undefined {
  const names = steps.map((step) => `${formatClientValue(step.interface)}.${formatClientValue(step.step)}`)
  const found = names.find((name) => list.includes(name))
  if (found === undefined) return undefined
  return new IronicError(
    400,
    `${kind} step '${found}' is not allowed. Disallowed by operator configuration [api]disallow_${kind}_steps.`,
  )
}
