import type { JsonObject } from '../../../wire/index.js'
import type { DrivenFlow } from './driver-step-work.js'
import { reservedWork } from './reserved-steps.js'
import { stepName } from './step-name.js'
import type { NodeTask } from '../core/node-task.js'

/** Begins a step of a flow that the conductor itself deals with, whatever the interface. */
export function runReserved(flow: DrivenFlow['name'], task: NodeTask, step: JsonObject): void {
  const work = reservedWork(step, task.policy)
  if (work === null) throw new Error(`${stepName(step)} is no reserved step`)
  switch (work.do) {
    case 'run':
      return task.run([work.effect], `${flow}.stepped`)
    case 'hold':
    case 'wait':
      task.process(work.do)
      return task.rest()
    case 'pause':
      if (work.capped !== null) task.record('INFO', work.capped, task.node.provision_state)
      task.process('wait')
      return task.run([work.effect], `${flow}.paused`)
  }
}
