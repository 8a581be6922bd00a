import type { ProvisionState } from '../../../base/wire/index.js'
import type { EffectOutcome } from '../core/effects.js'
import type { ConductorEvent } from '../core/conductor-events.js'
import { applyModes } from './hardware-report.js'
import type { NodeTask } from '../core/node-task.js'

/** States without power sync (ironic conductor/manager.py SYNC_EXCLUDED_STATES). */
const SYNC_EXCLUDED: readonly ProvisionState[] = ['wait call-back', 'clean wait', 'enroll', 'adopt failed']

/** True when the power sync may change the node. */
export const isPowerSynced = ({ node }: Pick<NodeTask, 'node'>): boolean =>
  !SYNC_EXCLUDED.includes(node.provision_state) &&
  !node.maintenance &&
  node.target_power_state === null &&
  node.reservation === null

type PowerSeen = Extract<ConductorEvent, { kind: 'power-seen' }>

/**
 * Reacts to a power sync (ironic conductor/manager.py do_sync_power_state): a difference is corrected on the machine or in
 * the record, as configured; a difference that stays puts the node into maintenance.
 *
 * @param attempt number of this difference or error in a row, from 1
 */
export function powerSeen(task: NodeTask, { seen, attempt, report }: PowerSeen): void {
  const { node, conf } = task
  if (!isPowerSynced(task)) return
  const last = attempt > conf.powerSyncMaxRetries
  if ('error' in seen) {
    if (last) return powerFailed(task, seen.power, seen.error)
    return task.warn(
      `During sync_power_state, could not get power state for node ${task.uuid}, attempt ${attempt} of ${conf.powerSyncMaxRetries}. Error: ${seen.error}.`,
    )
  }
  if (report) applyModes(task, report)
  const { power } = seen
  if (node.power_state === null) node.power_state = power
  if (node.power_state === power) {
    if (conf.nodeHistory) task.forgetError()
    return
  }
  if (last) return powerFailed(task, power)
  if (conf.forcePowerDuringSync && !node.disable_power_off) {
    const target = node.power_state === 'power off' ? 'power off' : 'power on'
    task.warn(`node ${task.uuid} was found with ${power} and is set to ${target}, as it should be`)
    return task.run([{ kind: 'power', target }], { flow: 'power', after: 'power-correction' })
  }
  task.warn(`node ${task.uuid} was found with ${power}, where ${node.power_state} was known; the record follows`)
  node.power_state = power
}

function powerFailed(task: NodeTask, actual: 'power on' | 'power off' | 'error' | null, error?: string): void {
  const { node } = task
  const shown = actual ?? 'None'
  const message =
    `During sync_power_state, max retries exceeded for node ${node.uuid}, node state ${shown} does not match expected state '${node.power_state ?? 'None'}'. Updating DB state to '${shown}' Switching node to maintenance mode.` +
    (error === undefined ? '' : ` Error: ${error}`)
  node.power_state = actual
  task.fail(message, 'monitoring')
  node.maintenance = true
  node.maintenance_reason = message
  node.fault = 'power failure'
}

/** Ends a correction; the next power sync checks its result. */
export function afterPowerCorrection(task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok) task.warn(`the power of node ${task.uuid} could not be set right: ${outcome.error}`)
  task.release()
}

/** Ends the maintenance of a node with a power failure once its power can be read again. */
export function powerRecovered(task: NodeTask, power: 'power on' | 'power off'): void {
  const { node } = task
  if (node.fault !== 'power failure' || !node.maintenance || task.isReserved || node.target_power_state !== null) return
  node.power_state = power
  node.maintenance = false
  node.maintenance_reason = null
  node.fault = null
}
