import { silent, type Logger } from '../../base/runtime/index.js'
import type { ReservationGate } from './reservation-gate.js'
import type { CurrentDatabase } from './stage-database.js'

/** Adds the node's name, or its uuid without a name, to log entries about a node or its machine. */
export function namingNodes(logger: Logger, database: CurrentDatabase, reservations: ReservationGate): Logger {
  if (logger === silent) return silent
  return (level, message, fields = {}) => {
    const { node, machine } = fields
    const uuid =
      typeof node === 'string' ? node : typeof machine === 'string' ? reservations.nodeOf(machine) : undefined
    const name = uuid === undefined ? machine : (database.records.nodes.get(uuid)?.record.name ?? uuid)
    logger(level, message, name === undefined ? fields : { ...fields, node: name })
  }
}
