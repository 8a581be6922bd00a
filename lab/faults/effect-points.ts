import type { Clock } from '../../base/runtime/index.js'
import type { Parties } from '../../base/wire/index.js'
import type { LabPoint } from '../points.js'
import type { Fault } from './fault.js'
import { isOverHttp, machineIn } from './fault-points.js'

/** Whether the time in which an effect acts at a point has passed. */
export const isOver = (effect: Fault['effect'], point: LabPoint, clock: Clock): boolean =>
  effect.kind === 'partitions-late' && point.kind === 'partitions' && clock.now() >= point.written + effect.ms

/** Whether an effect can act at a point of a kind that fits. */
export function canActAt(effect: Fault['effect'], point: LabPoint): boolean {
  switch (effect.kind) {
    case 'status':
    case 'connection-reset':
    case 'truncated-body':
    case 'malformed-body':
    case 'slow-body':
      return point.kind === 'exchange' || isOverHttp(point)
    case 'agent-silent':
      return point.kind === 'exchange' && (point.to === 'agent' || isOfAgent(point))
    case 'wrong-token':
    case 'stale-agent-url':
      return point.kind === 'exchange' && isOfAgent(point)
    case 'empty-last-error':
      return point.kind === 'exchange' && point.to === 'ironic'
    case 'agent-restart':
    case 'power-loss':
      return machineIn(point) !== undefined || point.kind === 'bmc'
    case 'disk-error': {
      if (point.kind !== 'disk-read' && point.kind !== 'disk-write') return false
      const { offset, length } = point
      return offset <= effect.at && effect.at < offset + length
    }
    default:
      return true
  }
}

/** Whether an agent asks Ironic. */
const isOfAgent = ({ from, to }: Parties): boolean => from === 'agent' && to === 'ironic'
