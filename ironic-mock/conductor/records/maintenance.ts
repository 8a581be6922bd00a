import { ironicErrors } from '../../../base/wire/index.js'
import type { NodeTask } from '../core/node-task.js'

/**
 * `PUT` and `DELETE /v1/nodes/X/maintenance`. Leaving maintenance clears the fault as well.
 *
 * @throws IronicError 409 while the node is reserved
 */
export function setMaintenance({ node }: NodeTask, on: boolean, reason: string | null): void {
  if (node.reservation !== null) throw ironicErrors.nodeLocked(node.uuid, node.reservation)
  node.maintenance = on
  node.maintenance_reason = on ? reason : null
  if (!on) node.fault = null
}
