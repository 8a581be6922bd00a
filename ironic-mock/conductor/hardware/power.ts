import { IronicError, ironicErrors } from '../../../base/wire/index.js'
import { powerProblem } from '../../drivers/requirements.js'
import type { Continuations } from '../core/continuations.js'
import { valueOf, type EffectBody, type EffectOutcome, type PowerTarget } from '../core/effects.js'
import type { NodeTask } from '../core/node-task.js'
import { afterPowerCorrection } from './power-sync.js'
import { wipeAgent } from '../flows/teardown/wipe.js'

const POWER_STATE_TARGETS: readonly string[] = [
  'power on',
  'power off',
  'rebooting',
  'soft power off',
  'soft rebooting',
]

export const isPowerTarget = (target: string): target is PowerTarget => POWER_STATE_TARGETS.includes(target)

/**
 * `PUT /v1/nodes/X/states/power`.
 *
 * @throws IronicError 400 while cleaning, or when the node may not be powered off
 */
export function startPowerChange(task: NodeTask, target: PowerTarget, timeout: number | null): void {
  const { node } = task
  if (['cleaning', 'clean wait'].includes(node.provision_state))
    throw ironicErrors.invalidStateRequested(target, node.uuid, node.provision_state)
  if (node.disable_power_off && (target === 'power off' || target === 'soft power off'))
    throw new IronicError(400, `Node ${node.uuid} has power off disabled; it can only be rebooted.`)
  const problem = powerProblem(node)
  if (problem !== undefined) throw new IronicError(400, problem)

  task.forgetError()
  node.target_power_state = target === 'power off' || target === 'soft power off' ? 'power off' : 'power on'
  const effect: EffectBody = timeout === null ? { kind: 'power', target } : { kind: 'power', target, timeout }
  task.run([effect], { flow: 'power', after: 'power-change' }, { target })
}

function afterPowerChange(task: NodeTask, outcome: EffectOutcome, memo: { target: string }): void {
  if (!outcome.ok) task.node.last_error = powerError(memo.target, outcome.error)
  task.release()
}

const powerError = (target: string, error: string): string => {
  const wanted = target === 'power off' || target === 'soft power off' ? 'power off' : 'power on'
  return `Failed to change power state to '${wanted}' by '${target}': ${error}`
}

/**
 * Stores the result of a power change, for all flows. A power cycle ends the ramdisk, so that the fields of its agent are
 * removed.
 */
export function applyPower(task: NodeTask, effect: EffectBody, outcome: EffectOutcome): void {
  if (effect.kind !== 'power' && effect.kind !== 'await-power-off') return
  task.node.target_power_state = null
  if (!outcome.ok) {
    // The flow sets last_error with its own sentence; the history has both.
    const target = effect.kind === 'power' ? effect.target : 'power off'
    return task.record('ERROR', powerError(target, outcome.error), 'UNKNOWN')
  }
  const power = valueOf(outcome, effect.kind)
  if (effect.kind === 'await-power-off' && task.node.power_state !== power)
    task.setInfo({ last_power_state_change: task.now })
  task.node.power_state = power
  if (effect.kind === 'await-power-off' || effect.target !== 'power on') wipeAgent(task)
}

export const powerContinuations: Continuations<'power'> = {
  'power-change': afterPowerChange,
  'power-correction': afterPowerCorrection,
}
