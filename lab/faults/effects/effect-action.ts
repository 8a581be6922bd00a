import type { Clock } from '../../../base/runtime/index.js'
import { ConnectionFailed, type WireResponse } from '../../../base/wire/index.js'
import { BmcError } from '../../../ironic-mock/index.js'
import type { CommandEnd } from '../../../machine/index.js'
import type { LabPoint, PointKind, PointOf } from '../../points.js'
import type { EffectOf, EffectPoint, FaultKind } from '../../../control/index.js'
import { isOverHttp } from '../fault-points.js'
import type { ActiveFault } from '../active-fault.js'
import type { FaultContext } from '../fault-context.js'

/** Results of the work at points; at others an effect knows no more than that there is one. */
interface KnownResults {
  exchange: WireResponse
  command: CommandEnd
  'disk-write': undefined
  partitions: boolean
}
type ResultAt<Kind extends PointKind> = Kind extends keyof KnownResults ? KnownResults[Kind] : unknown

/** A strike of a fault at a point at which its effect can act. */
interface EffectStrike<Kind extends FaultKind> {
  readonly effect: EffectOf<Kind>
  readonly point: PointOf<EffectPoint<Kind>>
  /** Does what would happen without the effect, other faults included. */
  readonly next: () => Promise<ResultAt<EffectPoint<Kind>>>
  readonly active: ActiveFault
  readonly context: FaultContext
}

/** The doing of an effect, typed by the points at which it acts. */
interface EffectAction<Kind extends FaultKind> {
  /** Whether it can act at a point whose kind fits. Default: it can. */
  readonly canAct?: (point: PointOf<EffectPoint<Kind>>, effect: EffectOf<Kind>) => boolean
  /** Whether the time in which it acts at a point has passed. Default: that never passes. */
  readonly isOver?: (point: PointOf<EffectPoint<Kind>>, effect: EffectOf<Kind>, clock: Clock) => boolean
  /** Whether an earlier strike still has its effect at a point. Default: a strike is over at once. */
  readonly lasts?: (point: LabPoint, active: ActiveFault, context: FaultContext) => boolean
  readonly apply: (strike: EffectStrike<Kind>) => Promise<ResultAt<EffectPoint<Kind>>>
}

/** The actions of some effects; the compiler names those that are missing. */
export type EffectActions<Kinds extends FaultKind> = { readonly [Kind in Kinds]: EffectAction<Kind> }

export const OF_THIS_LAB = '(a fault of this lab)'

export const connectionLost = () => new ConnectionFailed(`the connection was lost ${OF_THIS_LAB}`)

export const bmcSilent = (point: LabPoint) => {
  if (isOverHttp(point)) return connectionLost()
  return new BmcError('unreachable', `the connection was refused ${OF_THIS_LAB}`)
}
