import { automatedCleanSteps, checkUserSteps, type PlannedStep } from './plan-steps.js'
import type { Turn } from './turn.js'

/** Cleaning with the user's steps ends where it began and says so all the way. */
export const isManual = (turn: Turn): boolean => turn.node.target_provision_state === 'manageable'

/** Settles `clean_steps`; gives what is wrong with the user's. */
export function planCleaning(turn: Turn): string | undefined {
  if (!isManual(turn)) {
    turn.setInfo({ clean_steps: automatedCleanSteps(turn.node, turn.policy) })
    return undefined
  }
  const wanted = (turn.info.clean_steps ?? []) as PlannedStep[]
  const { errors, steps } = checkUserSteps(turn.node, 'clean', wanted, { policy: turn.policy, skipMissing: false })
  // Also refused ones are kept, with what is known of them, as recorded.
  turn.setInfo({ clean_steps: steps })
  return errors.length > 0 ? errors.join('; ') : undefined
}
