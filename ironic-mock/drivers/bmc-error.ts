import { errorChain } from '../../runtime/index.js'
import type { NodeRecord } from '../../wire/index.js'
import { BmcRefused } from './bmc-refused.js'
import { implementation } from './hardware-types.js'

/** Reason why a BMC could not be used, in the sentence of the node's power interface. */
export function bmcError(node: Pick<NodeRecord, 'uuid' | 'power_interface' | 'driver_info'>, error: unknown): string {
  if (!(error instanceof BmcRefused)) return errorChain(error).join(': ')
  return implementation('power', node.power_interface)?.refused(node, error) ?? error.message
}
