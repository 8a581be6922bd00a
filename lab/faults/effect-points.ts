import type { Clock, ProbePoint } from '../../runtime/index.js'
import type { Fault } from './fault.js'
import { isOverHttp } from './points.js'

/** Whether the time in which an effect acts at a point has passed. */
export const isOver = (effect: Fault['effect'], point: ProbePoint, clock: Clock): boolean =>
  effect.kind === 'partitions-late' && clock.now() >= (point['written'] as number) + effect.ms

/** Whether an effect can act at a point of a kind that fits. */
export function canActAt(effect: Fault['effect'], point: ProbePoint): boolean {
  switch (effect.kind) {
    case 'status':
    case 'connection-reset':
    case 'truncated-body':
    case 'malformed-body':
    case 'slow-body':
      return point.kind === 'exchange' || isOverHttp(point)
    case 'agent-silent':
      return point['to'] === 'agent' || (point['from'] === 'agent' && point['to'] === 'ironic')
    case 'wrong-token':
    case 'stale-agent-url':
      return point['from'] === 'agent' && point['to'] === 'ironic'
    case 'empty-last-error':
      return point['to'] === 'ironic'
    case 'agent-restart':
    case 'power-loss':
      return point['machine'] !== undefined || point.kind === 'bmc'
    case 'disk-error': {
      const offset = point['offset'] as number
      return offset <= effect.at && effect.at < offset + (point['length'] as number)
    }
    default:
      return true
  }
}
