import { effectFacts, type Fault } from '../../control/index.js'
import type { LabPoint } from '../points.js'
import type { FaultContext } from './fault-context.js'
import { nodeIn } from './fault-points.js'

/**
 * True for a call at which a fault of several processes strikes in another of them: calls of BMCs and agents pass two, the
 * process of the machine and that of the Ironic. A fault of a node strikes where the Ironic sees the node, unless it is about
 * what the process of the machine alone knows, or can do.
 *
 * @param machine the machine of the call, where it is known
 */
export function strikesElsewhere(
  { match, effect }: Fault,
  point: LabPoint,
  machine: string | undefined,
  { isShared = false, hasNodes = true, disksOf }: FaultContext,
): boolean {
  if (!isShared) return false
  const { only, onMachine = false } = effectFacts(effect.kind)
  if (hasNodes) return onMachine && (machine === undefined || disksOf(machine) === undefined)
  if (only === 'answers of Ironic') return true
  const isOfMachine = onMachine || (match.machine ?? match.phase ?? match.step) !== undefined
  return match.node !== undefined && !isOfMachine && (point.kind === 'bmc' || nodeIn(point) !== undefined)
}
