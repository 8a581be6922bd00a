import { maskedAddress } from '../../bytes/index.js'
import { errorChain } from '../../runtime/index.js'
import { textOf } from '../../wire/index.js'
import type { NodeRecord } from '../../wire/index.js'

/** How a BMC turns its caller away: it is not there, or does not take the credentials. */
export class BmcRefused extends Error {
  override name = 'BmcRefused'
  constructor(
    readonly why: 'unreachable' | 'unauthorized',
    message: string,
  ) {
    super(message)
  }
}

/** Why a BMC could not be used, as the node's power driver words it. */
export function bmcError(node: Pick<NodeRecord, 'uuid' | 'power_interface' | 'driver_info'>, error: unknown): string {
  if (!(error instanceof BmcRefused)) return errorChain(error).join(': ')
  switch (node.power_interface) {
    case 'redfish':
    case 'idrac-redfish':
      return redfishError(node, error)
    case 'ipmitool':
      // ipmitool's own words only reach the log.
      return 'IPMI call failed: power status.'
    default:
      return error.message
  }
}

function redfishError({ uuid, driver_info }: Pick<NodeRecord, 'uuid' | 'driver_info'>, error: BmcRefused): string {
  const address = maskedAddress(textOf(driver_info.redfish_address)).replace(/\/+$/, '')
  const base = address.includes('://') ? address : `https://${address}`
  if (error.why === 'unreachable')
    return `Redfish connection failed for node ${uuid}: Unable to connect to ${base}/redfish/v1/. Error: ${error.message}`
  const system =
    typeof driver_info.redfish_system_id === 'string' ? driver_info.redfish_system_id : '/redfish/v1/Systems'
  return `Redfish exception occurred. Error: HTTP GET ${base}${system} returned code 401. Base.1.0.GeneralError: ${error.message} Extended information: None`
}
