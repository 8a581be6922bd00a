import { UserError } from '../../base/runtime/index.js'
import type { LabFaults } from '../../control/index.js'

/**
 * The faults of all processes as one of them has them in force. A change is one of all processes, which the database is
 * asked for: here it is refused, rather than made in this process alone.
 */
export const refuseChanges = (faults: LabFaults): LabFaults => ({
  list: () => faults.list(),
  get: (id) => faults.get(id),
  add: refused,
  addAll: refused,
  lift: refused,
  clear: refused,
})

/** @throws UserError `shared-database` */
function refused(): never {
  throw new UserError(
    'shared-database',
    'faults of a database that several processes share are those of all processes',
    {
      remedy: 'add them with addFaults, and lift them over the control API',
    },
  )
}
