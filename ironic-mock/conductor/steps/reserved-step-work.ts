import type { JsonObject } from '../../../wire/index.js'
import type { DrivenFlow } from './driver-step-work.js'
import { reservedWork } from './reserved-steps.js'
import { stepName } from './step-name.js'
import type { Turn } from '../core/turn.js'

/** Begins a step of a flow that the conductor itself deals with, whatever the interface. */
export function runReserved(flow: DrivenFlow['name'], turn: Turn, step: JsonObject): void {
  const work = reservedWork(step, turn.policy)
  if (work === null) throw new Error(`${stepName(step)} is no reserved step`)
  switch (work.do) {
    case 'run':
      return turn.run([work.effect], `${flow}.stepped`)
    case 'hold':
    case 'wait':
      turn.process(work.do)
      return turn.rest()
    case 'pause':
      if (work.capped !== null) turn.record('INFO', work.capped, turn.node.provision_state)
      turn.process('wait')
      return turn.run([work.effect], `${flow}.paused`)
  }
}
