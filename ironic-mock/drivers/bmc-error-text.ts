import { errorChain } from '../../base/runtime/index.js'
import type { NodeRecord } from '../../base/wire/index.js'
import { BmcError } from './bmc-error.js'
import type { BmcRetryConf } from './hardware-type.js'
import { implementationOf } from './hardware-types.js'

/** Reason why a BMC could not be used, in the sentence of the node's power interface. */
export function bmcErrorText(
  node: Pick<NodeRecord, 'uuid' | 'power_interface' | 'driver_info'>,
  error: unknown,
): string {
  if (!(error instanceof BmcError)) return errorChain(error).join(': ')
  return implementationOf('power', node.power_interface)?.bmc?.refused(node, error) ?? error.message
}

/** Milliseconds before each further try of a call of a BMC that has failed so. */
export function bmcWaits(
  { power_interface }: Pick<NodeRecord, 'power_interface'>,
  error: unknown,
  conf: BmcRetryConf,
): readonly number[] {
  if (!(error instanceof BmcError)) return []
  return implementationOf('power', power_interface)?.bmc?.waits(error, conf) ?? []
}
