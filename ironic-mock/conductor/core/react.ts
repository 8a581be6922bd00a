import type { ConductorEvent } from './events.js'
import { continueJob } from './continue.js'
import { startHardwareChange } from '../power/hardware-change.js'
import { followHeartbeat, receiveHeartbeat } from '../agents/heartbeat.js'
import { receiveInventory } from '../flows/inspect/inspection.js'
import { answerLookup } from '../agents/lookup.js'
import { setMaintenance } from '../records/maintenance.js'
import { warnOfMissingPort } from '../flows/clean/missing-port.js'
import { powerRecovered, powerSeen } from '../power/power-sync.js'
import { startPowerChange } from '../power/power.js'
import { recover } from './restart.js'
import { deadlinePassed } from './timeouts.js'
import { NodeTask, type Reaction, type Situation } from './node-task.js'
import { applyVerb } from './verbs.js'
import { ironicErrors } from '../../../wire/index.js'

/**
 * Computes the reaction to an event: changes of the node, the job that follows, deadlines, history. A pure function, since
 * it runs again when the node changed before the reaction was committed.
 *
 * @throws IronicError for an impossible request of a client; then nothing changes
 */
export function react(situation: Situation, event: ConductorEvent): Reaction {
  const task = new NodeTask(situation)
  apply(task, event)
  warnOfMissingPort(task)
  return task.reaction()
}

function apply(task: NodeTask, event: ConductorEvent): void {
  const { node } = task
  switch (event.kind) {
    case 'verb':
      return applyVerb(task, event.request)
    case 'power':
      if (node.reservation !== null) throw ironicErrors.nodeLocked(node.uuid, node.reservation)
      return startPowerChange(task, event.target, event.timeout)
    case 'maintenance':
      return setMaintenance(task, event.on, event.reason)
    case 'lookup':
      return answerLookup(task, event.token)
    case 'heartbeat':
      return receiveHeartbeat(task, event.heartbeat)
    case 'inventory':
      if (node.provision_state !== 'inspect wait') throw ironicErrors.resourceNotFound()
      if (node.reservation !== null) throw ironicErrors.nodeLocked(node.uuid, node.reservation)
      return receiveInventory(task, event.data, event.token)
    case 'hardware':
      return startHardwareChange(task, event.request)
    case 'outcome':
      return continueJob(task, event.job, event.outcome)
    case 'deadline':
      return deadlinePassed(task, event.deadline)
    case 'released':
      return followHeartbeat(task)
    case 'restarted':
      return recover(task, event.job)
    case 'power-seen':
      return powerSeen(task, event)
    case 'power-recovered':
      return powerRecovered(task, event.power)
  }
}
