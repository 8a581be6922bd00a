import { powerProblem } from '../../../drivers/requirements.js'
import { valueOf, type Outcome } from '../../core/effects.js'
import { lookedAt } from '../../power/hardware-report.js'
import type { Turn } from '../../core/turn.js'

/** `manage` from enroll: can the power of this machine be read at all? */
export function startVerification(turn: Turn): void {
  turn.begin('manage')
  const problem = powerProblem(turn.node)
  if (problem === undefined) turn.run(lookedAt(turn.node, { kind: 'read-power' }), 'verification.power')
  else failed(turn, `Failed to validate power driver interface for node ${turn.uuid}. Error: ${problem}`)
}

export function verificationPower(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) return failed(turn, `Failed to get power state for node ${turn.uuid}. Error: ${outcome.error}`)
  const power = valueOf(outcome, 'read-power')
  if (power !== null) turn.node.power_state = power
  turn.process('done')
  turn.rest()
}

function failed(turn: Turn, error: string): void {
  turn.fail(error, 'verify')
  turn.process('fail')
  turn.rest()
}
