import { pythonRepr } from '../../../base/wire/index.js'
import { timeOutCleaning } from '../flows/clean/cleaning-failure.js'
import { timeOutDeployment } from '../flows/deploy/deployment-failure.js'
import type { DeadlineKind } from './conductor-events.js'
import { timeOutInspection } from '../flows/inspect/inspection.js'
import { failRescueAndPowerOff } from '../flows/rescue/rescue.js'
import { timeOutService } from '../flows/service/servicing-failure.js'
import type { NodeTask } from './node-task.js'

/** Reacts to a passed deadline: the flow fails with upstream's sentence. */
export function deadlinePassed(task: NodeTask, deadline: DeadlineKind): void {
  // Ironic's periodic check skips nodes in maintenance, reserved ones and those of other conductors until its next run.
  const isOurs = task.node.conductor_group === task.conf.conductorGroup
  if (task.node.maintenance || task.isReserved || !isOurs) {
    task.deadline(deadline, task.conf.checkInterval)
    return
  }
  task.deadline(deadline, null)
  switch (deadline) {
    case 'inspect callback':
      if (task.node.provision_state !== 'inspect wait') return
      return timeOutInspection(
        task,
        'Timeout reached while inspecting the node. Please check if the ramdisk responsible for the inspection is running on the node.',
      )
    case 'clean callback':
      if (task.node.provision_state !== 'clean wait') return
      return timeOutCleaning(
        task,
        `Timeout reached while cleaning the node. Please check if the ramdisk responsible for the cleaning is running on the node. Failed on step ${pythonRepr(task.node.clean_step)}.`,
      )
    case 'service callback':
      if (task.node.provision_state !== 'service wait') return
      return timeOutService(
        task,
        `Timeout reached while servicing the node. Please check if the ramdisk responsible for the servicing is running on the node. Failed on step ${pythonRepr(task.node.service_step)}.`,
      )
    case 'rescue callback':
      if (task.node.provision_state !== 'rescue wait') return
      return failRescueAndPowerOff(task, 'Timeout reached while waiting for rescue ramdisk callback for node')
    case 'deploy callback':
      if (task.node.provision_state !== 'wait call-back') return
      return timeOutDeployment(task, `Timeout reached while waiting for callback for node ${task.uuid}`)
  }
}
