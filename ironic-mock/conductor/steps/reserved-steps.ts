import { textOf } from '../../../wire/index.js'
import type { JsonObject } from '../../../wire/index.js'
import type { EffectBody, PowerTarget } from '../core/effects.js'
import type { Policy } from '../core/policy.js'

const POWER: Readonly<Record<string, PowerTarget>> = {
  power_on: 'power on',
  power_off: 'power off',
  reboot: 'rebooting',
}

/** What a flow does at a step that neither an interface nor an agent knows. */
export type ReservedWork =
  | { do: 'run'; effect: EffectBody }
  /** Until somebody lets go of it by `unhold`. */
  | { do: 'hold' }
  /** Until the agent reports next. */
  | { do: 'wait' }
  /** For some time, in the waiting state. `capped` tells the history of a time that was too long. */
  | { do: 'pause'; effect: EffectBody; capped: string | null }

/** Names that Ironic keeps for itself, whatever the interface, and what is for child nodes (Ironic's source). */
export const isReserved = (step: JsonObject): boolean =>
  step.execute_on_child_nodes === true || isPause(step) || Object.hasOwn(POWER, textOf(step.step))

/** Whether a node that stands at this step has nothing to wait for but being told to go on. */
export const isPause = ({ step, execute_on_child_nodes: children }: JsonObject): boolean =>
  children !== true && (step === 'hold' || step === 'wait')

/** What a reserved step comes to; null for one that is not, see {@link isReserved}. */
export function reservedWork(step: JsonObject, { maxWaitStep }: Pick<Policy, 'maxWaitStep'>): ReservedWork | null {
  if (step.execute_on_child_nodes === true) return { do: 'run', effect: { kind: 'child-step', step } }
  const power = POWER[textOf(step.step)]
  if (power !== undefined) return { do: 'run', effect: { kind: 'power', target: power } }
  if (step.step === 'hold') return { do: 'hold' }
  if (step.step !== 'wait') return null
  const seconds = (step.args as JsonObject | null | undefined)?.seconds
  if (seconds === undefined) return { do: 'wait' }
  const wanted = Math.max(0, Math.trunc(Number(seconds)) || 0)
  const most = maxWaitStep / 1000
  const capped =
    wanted > most
      ? `A wait time exceeding the configured maximum has been requested. Holding for ${wanted}, got ${most}.`
      : null
  return { do: 'pause', effect: { kind: 'pause', ms: Math.min(wanted, most) * 1000 }, capped }
}
