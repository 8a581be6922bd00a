import { isIP } from 'node:net'
import type { JsonObject } from '../../../base/wire/index.js'
import { HARDWARE_TYPES } from '../../drivers/hardware-types.js'

/** Addresses of the node's BMC, for inspection data that has no known MAC. Names are not resolved. */
export function bmcAddresses(driverInfo: JsonObject): string[] {
  const address = HARDWARE_TYPES.map(({ bmc }) => bmc?.address(driverInfo) ?? '').find((found) => found !== '')
  if (address === undefined) return []
  const url = address.includes('://') ? address : `https://${address}`
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : ''
  return isIP(host) === 0 ? [] : [host]
}
