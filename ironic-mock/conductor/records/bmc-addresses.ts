import { isIP } from 'node:net'
import type { JsonObject } from '../../../wire/index.js'

/** By which posted data is matched when no MAC is known. Names are not resolved. */
export function bmcAddresses({ redfish_address, ipmi_address }: JsonObject): string[] {
  const address = typeof redfish_address === 'string' ? redfish_address : ipmi_address
  if (typeof address !== 'string') return []
  const url = address.includes('://') ? address : `https://${address}`
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : ''
  return isIP(host) === 0 ? [] : [host]
}
