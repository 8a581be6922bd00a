import { pythonRepr, type JsonObject } from '../../wire/index.js'
import { networkProblem, powerProblem } from '../drivers/requirements.js'
import { cleanFailed } from './cleaning-failure.js'
import { runCleanStep } from './cleaning-steps.js'
import { usesAgent } from './driver-steps.js'
import type { Outcome } from './effects.js'
import { ERASE_PARAMETERS } from './erase-parameters.js'
import { isManual, planCleaning } from './cleaning-plan.js'
import type { PlannedStep } from './plan-steps.js'
import { bootRamdisk } from './ramdisk.js'
import type { Turn } from './turn.js'
import { wipeCleaningPlan } from './wipe.js'

/** `provide`. */
export function startProvide(turn: Turn): void {
  turn.begin('provide')
  automatedCleaning(turn)
}

/** `clean`: the user's steps, in the user's order. */
export function startManualCleaning(turn: Turn, steps: readonly PlannedStep[], disableRamdisk: boolean): void {
  turn.begin('clean')
  wipeCleaningPlan(turn)
  turn.setInfo({
    clean_steps: steps,
    cleaning_disable_ramdisk: disableRamdisk,
    declarative_cleaning: true,
  })
  prepare(turn)
}

/** Cleaning that nobody asked for by name, after `provide` and after tear-down. The node is in `cleaning` already. */
export function automatedCleaning(turn: Turn): void {
  if (!(turn.node.automated_clean ?? turn.policy.automatedClean)) {
    turn.process(turn.node.retired ? 'manage' : 'done')
    return turn.rest()
  }
  wipeCleaningPlan(turn)
  prepare(turn)
}

function prepare(turn: Turn): void {
  const problem = powerProblem(turn.node) ?? networkProblem(turn.node)
  if (problem !== undefined) {
    const type = isManual(turn) ? 'manual' : 'automated'
    return cleanFailed(turn, `Validation of ${type} cleaning for node ${turn.uuid} failed: ${problem}`)
  }
  if (usesAgent(turn.node) && turn.info.cleaning_disable_ramdisk !== true) {
    turn.setInfo(ERASE_PARAMETERS)
    turn.run(bootRamdisk(turn), 'cleaning.booted')
  } else turn.run([{ kind: 'proceed' }], 'cleaning.planned')
}

export function cleaningBooted(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) return cleanFailed(turn, `Failed to prepare node ${turn.uuid} for cleaning: ${outcome.error}`)
  turn.process('wait')
  turn.rest()
}

/** Without a ramdisk all steps are known at once. */
export function cleaningPlanned(turn: Turn): void {
  const problem = planCleaning(turn)
  if (problem !== undefined) return cleanFailed(turn, `Cannot clean node ${turn.uuid}: ${problem}`)
  const steps = turn.info.clean_steps as JsonObject[]
  const kind = isManual(turn) ? 'manual' : 'automated'
  turn.setInfo({ clean_step_index: null })
  turn.record('INFO', `Starting ${kind} cleaning with steps=${pythonRepr(steps)}`, `${kind}_cleaning_start`)
  runCleanStep(turn, 0)
}
