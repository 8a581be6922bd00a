import { checkUserSteps, type PlannedStep } from './plan-steps.js'
import type { Turn } from './turn.js'

/** What is wrong with the user's steps, in upstream's words. */
export function stepsProblem(turn: Turn, user: readonly PlannedStep[], skipMissing: boolean): string | undefined {
  const { errors } = checkUserSteps(turn.node, 'deploy', user, { policy: turn.policy, skipMissing })
  if (errors.length === 0) return undefined
  return `Validation of deploy steps from "deploy steps" argument failed.${errors.join('; ')}`
}
