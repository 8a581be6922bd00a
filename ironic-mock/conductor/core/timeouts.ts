import { pythonRepr } from '../../../wire/index.js'
import { timeOutCleaning } from '../flows/clean/cleaning-failure.js'
import { deployFailed } from '../flows/deploy/deployment-failure.js'
import type { DeadlineKind } from './events.js'
import { timeOutInspection } from '../flows/inspect/inspection.js'
import { rescueFailedOff } from '../flows/rescue/rescue.js'
import { timeOutService } from '../flows/service/servicing-failure.js'
import type { Turn } from './turn.js'

/** A time limit has passed. */
export function deadlinePassed(turn: Turn, deadline: DeadlineKind): void {
  // Ironic's periodic check passes over nodes in maintenance and reserved ones, and comes again.
  if (turn.node.maintenance || !turn.resting) {
    turn.deadline(deadline, turn.policy.checkInterval)
    return
  }
  turn.deadline(deadline, null)
  switch (deadline) {
    case 'inspect callback':
      if (turn.node.provision_state !== 'inspect wait') return
      return timeOutInspection(
        turn,
        'Timeout reached while inspecting the node. Please check if the ramdisk responsible for the inspection is running on the node.',
      )
    case 'clean callback':
      if (turn.node.provision_state !== 'clean wait') return
      return timeOutCleaning(
        turn,
        `Timeout reached while cleaning the node. Please check if the ramdisk responsible for the cleaning is running on the node. Failed on step ${pythonRepr(turn.node.clean_step)}.`,
      )
    case 'service callback':
      if (turn.node.provision_state !== 'service wait') return
      return timeOutService(
        turn,
        `Timeout reached while servicing the node. Please check if the ramdisk responsible for the servicing is running on the node. Failed on step ${pythonRepr(turn.node.service_step)}.`,
      )
    case 'rescue callback':
      if (turn.node.provision_state !== 'rescue wait') return
      return rescueFailedOff(turn, 'Timeout reached while waiting for rescue ramdisk callback for node')
    case 'deploy callback':
      if (turn.node.provision_state !== 'wait call-back') return
      return deployFailed(turn, `Timeout reached while waiting for callback for node ${turn.uuid}`)
  }
}
