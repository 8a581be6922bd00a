import type { AgentCommandPoint } from '../agent/index.js'
import type { IpmiPoint } from '../bmc/ipmi/index.js'
import type {
  BootPoint,
  CommandPoint,
  ConsolePoint,
  DiskPoint,
  HardwarePoint,
  ImagePullPoint,
  PartitionsPoint,
  PowerPoint,
  PowerRequestPoint,
  PullPoint,
} from '../machine/index.js'
import type { RedfishPoint } from '../bmc/redfish/index.js'
import type { Interceptor, Probe } from '../base/runtime/index.js'
import type { ExchangePoint } from '../base/wire/index.js'
import type { BmcPoint } from './bmcs/bmc-point.js'

/** Probe point around a command that comes over a link to a machine. */
export interface LinkPoint {
  readonly kind: 'ssh'
  /** Id of the machine. */
  readonly machine: string
  readonly argv: readonly string[]
  /** Cuts the link. */
  readonly cut: () => void
}

/** A point that a lab looks at, by its `kind`. */
export type LabPoint =
  | AgentCommandPoint
  | BmcPoint
  | BootPoint
  | CommandPoint
  | ConsolePoint
  | DiskPoint
  | ExchangePoint
  | HardwarePoint
  | ImagePullPoint
  | IpmiPoint
  | LinkPoint
  | PartitionsPoint
  | PowerPoint
  | PowerRequestPoint
  | PullPoint
  | RedfishPoint

export type PointKind = LabPoint['kind']

/** The points of some kinds. */
export type PointOf<Kind extends PointKind, Each extends LabPoint = LabPoint> = Each extends LabPoint
  ? Each['kind'] & Kind extends never
    ? never
    : Each
  : never

/** Attaches to the probe of a lab: `sees` gets the points of these kinds, by the interfaces of the union. */
export function attachTo<Kind extends PointKind>(
  probe: Probe,
  sees: Interceptor<PointOf<Kind>>,
  kinds: readonly Kind[],
): Disposable {
  return probe.attach<PointOf<Kind>>(sees, kinds as readonly PointOf<Kind>['kind'][])
}
