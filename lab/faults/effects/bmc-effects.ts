import { NODE_BUSY } from '../../../bmc/ipmi/index.js'
import { redfishRefusal } from '../../../bmc/redfish/index.js'
import type { WireResponse } from '../../../base/wire/index.js'
import { BmcError } from '../../../ironic-mock/index.js'
import type { LabPoint, PointOf } from '../../points.js'
import { bmcAt, isAnsweredByHttp, isAnsweredByIpmi, isOverHttp, isOverIpmi } from '../fault-points.js'
import type { ActiveFault } from '../active-fault.js'
import type { FaultContext } from '../fault-context.js'
import { bmcSilent, OF_THIS_LAB, type EffectActions } from './effect-action.js'

/** Effects on calls of BMCs. */
export const BMC_EFFECTS: EffectActions<'bmc-silent' | 'bmc-dark' | 'bmc-busy' | 'bmc-lies'> = {
  'bmc-silent': { apply: ({ point }) => Promise.reject(bmcSilent(point)) },
  'bmc-dark': {
    // A dark BMC answers no call at all: not only those of the name that made it so.
    lasts: (point, active, context) => point.kind === 'bmc' && isDark(point, active, context),
    async apply({ effect, point, active, context, next }) {
      if (isDark(point, active, context)) throw bmcSilent(point)
      try {
        return await next()
      } finally {
        active.dark.set(bmcAt(point, context), context.clock.now() + effect.ms)
      }
    },
  },
  'bmc-busy': {
    async apply({ effect, point }) {
      if (isOverIpmi(point)) return NODE_BUSY
      if (isAnsweredByIpmi(point)) throw new BmcError('refused', `it answered C0h, node busy ${OF_THIS_LAB}`)
      return refuseBusy(point, effect.retryAfter ?? 30)
    },
  },
  'bmc-lies': {
    apply({ point, next }) {
      // A call that only reads has nothing to lie about; a change is left out.
      if (isRead(point)) return next()
      if (!isOverHttp(point)) return Promise.resolve(undefined)
      // A Redfish service answers as if it had carried the change out.
      point.lie()
      return next()
    },
  },
}

const isDark = (point: PointOf<'bmc'>, { dark }: ActiveFault, context: FaultContext): boolean =>
  context.clock.now() < (dark.get(bmcAt(point, context)) ?? 0)

/** The answer of an overloaded BMC. */
function refuseBusy(point: LabPoint, retryAfter: number): WireResponse {
  if (!isAnsweredByHttp(point)) throw new BmcError('unreachable', `it answered 503, service unavailable ${OF_THIS_LAB}`)
  const key = point.call === 'sign in' ? 'SessionLimitExceeded' : 'ServiceTemporarilyUnavailable'
  const args = key === 'SessionLimitExceeded' ? [] : [String(retryAfter)]
  return redfishRefusal(503, key, args, { 'retry-after': String(retryAfter) })
}

/** A call that changes nothing, or whose answer is something that was made. */
const isRead = ({ call }: PointOf<'bmc'>): boolean => /^(read |subscribe$|sign in$)/.test(call)
