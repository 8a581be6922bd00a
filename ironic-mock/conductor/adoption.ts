import { powerProblem } from '../drivers/requirements.js'
import { restoreDeployInterface, switchDeployInterface } from './autodetect.js'
import { valueOf, type Outcome } from './effects.js'
import type { Turn } from './turn.js'

/** `adopt`: takes over a machine that is in use already; nothing is done to it. */
export function startAdoption(turn: Turn): void {
  turn.begin('adopt')
  switchDeployInterface(turn)
  const problem = powerProblem(turn.node)
  if (problem === undefined) turn.run([{ kind: 'read-power' }], 'adoption.power')
  else failed(turn, problem)
}

export function adoptionPower(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) return failed(turn, outcome.error)
  const power = valueOf(outcome, 'read-power')
  if (power !== null) turn.node.power_state = power
  turn.process('done')
  turn.rest()
}

function failed(turn: Turn, problem: string): void {
  restoreDeployInterface(turn)
  // What was read of it is not to be trusted.
  turn.node.power_state = null
  turn.fail(`Error while attempting to adopt node ${turn.uuid}: ${problem}.`, 'adoption')
  turn.process('fail')
  turn.rest()
}
