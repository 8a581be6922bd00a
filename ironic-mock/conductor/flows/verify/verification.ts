import { powerProblem } from '../../../drivers/requirements.js'
import type { Continuations } from '../../core/continuations.js'
import { valueOf, type EffectOutcome } from '../../core/effects.js'
import { withHardwareReport } from '../../hardware/hardware-report.js'
import type { NodeTask } from '../../core/node-task.js'

/** `manage` from enroll: verifies that the machine's power can be read. */
export function startVerification(task: NodeTask): void {
  task.begin('manage')
  const problem = powerProblem(task.node)
  if (problem === undefined)
    task.run(withHardwareReport(task.node, { kind: 'read-power' }), { flow: 'verification', after: 'read-power' })
  else failVerification(task, `Failed to validate power driver interface for node ${task.uuid}. Error: ${problem}`)
}

function afterReadPower(task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok)
    return failVerification(task, `Failed to get power state for node ${task.uuid}. Error: ${outcome.error}`)
  const power = valueOf(outcome, 'read-power')
  if (power !== null) task.node.power_state = power
  task.process('done')
  task.release()
}

function failVerification(task: NodeTask, error: string): void {
  task.fail(error, 'verify')
  task.process('fail')
  task.release()
}

export const verificationContinuations: Continuations<'verification'> = { 'read-power': afterReadPower }
