import { formatClientValue } from '../../../base/wire/index.js'
import type { JsonObject } from '../../../base/wire/index.js'
import type { EffectBody, PowerTarget } from '../core/effects.js'
import type { ConductorConf } from '../core/conductor-conf.js'

const POWER: Readonly<Record<string, PowerTarget>> = {
  power_on: 'power on',
  power_off: 'power off',
  reboot: 'rebooting',
}

/** Work of a flow at a reserved step, which belongs to no interface and no agent. */
export type ReservedWork =
  | { do: 'run'; effect: EffectBody }
  /** Waits for `unhold`. */
  | { do: 'hold' }
  /** Waits for the agent's next heartbeat. */
  | { do: 'wait' }
  /** Waits for some time, in the waiting state. `capped` is the history note for a time above the limit. */
  | { do: 'pause'; effect: EffectBody; capped: string | null }

/** True for Ironic's reserved step names on any interface, and for steps of child nodes (ironic conductor/steps.py). */
export const isReserved = (step: JsonObject): boolean =>
  step.execute_on_child_nodes === true || isPause(step) || Object.hasOwn(POWER, formatClientValue(step.step))

/** True for a step that only waits. */
const isPause = ({ step, execute_on_child_nodes: children }: JsonObject): boolean =>
  children !== true && (step === 'hold' || step === 'wait')

/** Work of a reserved step; null for another step, see {@link isReserved}. */
export function reservedWork(
  step: JsonObject,
  { maxWaitStep }: Pick<ConductorConf, 'maxWaitStep'>,
): ReservedWork | null {
  if (step.execute_on_child_nodes === true) return { do: 'run', effect: { kind: 'child-step', step } }
  const power = POWER[formatClientValue(step.step)]
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
