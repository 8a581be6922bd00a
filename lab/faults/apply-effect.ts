import type { Clock } from '../../base/runtime/index.js'
import type { LabPoint } from '../points.js'
import { AGENT_EFFECTS } from './effects/agent-effects.js'
import { BMC_EFFECTS } from './effects/bmc-effects.js'
import type { EffectActions } from './effects/effect-action.js'
import { EXCHANGE_EFFECTS } from './effects/exchange-effects.js'
import { MACHINE_EFFECTS } from './effects/machine-effects.js'
import type { FaultEffect, FaultKind } from '../../control/index.js'
import type { ActiveFault } from './active-fault.js'
import type { FaultContext } from './fault-context.js'

const EFFECT_ACTIONS: EffectActions<FaultKind> = {
  ...AGENT_EFFECTS,
  ...BMC_EFFECTS,
  ...EXCHANGE_EFFECTS,
  ...MACHINE_EFFECTS,
}

/** An action as it is called: the kind of a point is known only then, and fits since `points` of the effect has it. */
interface CalledAction {
  canAct?(point: LabPoint, effect: FaultEffect): boolean
  isOver?(point: LabPoint, effect: FaultEffect, clock: Clock): boolean
  lasts?(point: LabPoint, active: ActiveFault, context: FaultContext): boolean
  apply(strike: CalledStrike): Promise<unknown>
}

interface CalledStrike {
  readonly effect: FaultEffect
  readonly point: LabPoint
  readonly next: () => Promise<unknown>
  readonly active: ActiveFault
  readonly context: FaultContext
}

const actionOf = ({ kind }: FaultEffect) => EFFECT_ACTIONS[kind] as CalledAction

/** True if an effect can act at a point of a kind that fits. */
export const canActAt = (effect: FaultEffect, point: LabPoint): boolean =>
  actionOf(effect).canAct?.(point, effect) ?? true

/** True if the time in which an effect acts at a point has passed. */
export const isOver = (effect: FaultEffect, point: LabPoint, clock: Clock): boolean =>
  actionOf(effect).isOver?.(point, effect, clock) ?? false

/** Whether strikes of an effect last. */
export const canLast = (effect: FaultEffect): boolean => actionOf(effect).lasts !== undefined

/** Whether an earlier strike of a fault still has its effect at a point. */
export const lastsAt = (active: ActiveFault, point: LabPoint, context: FaultContext): boolean =>
  actionOf(active.fault.effect).lasts?.(point, active, context) ?? false

/** Lets a fault have its effect at a point; `next` is what would happen without it, other faults included. */
export const applyEffect = <T>(
  active: ActiveFault,
  point: LabPoint,
  next: () => Promise<T>,
  context: FaultContext,
): Promise<T> => {
  const { effect } = active.fault
  return actionOf(effect).apply({ effect, point, next, active, context }) as Promise<T>
}
