import { ironicErrors, formatClientValue, type JsonObject } from '../../../../base/wire/index.js'
import type { Records } from '../../../store/record-store.js'

const LOWER_MAC_PATTERN = /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/
/** Addresses that ironic-python-agent reports for a BMC without an address. */
const NO_ADDRESS = ['0.0.0.0', '::/0']

/**
 * Finds the node of posted data by the MACs of its ports, by the BMC's address, or by its uuid. Every mismatch is the same
 * 404, since the endpoint needs no credentials and must not reveal nodes.
 *
 * @throws IronicError 400 when the data names nothing to go by, 404 when no waiting node is meant
 */
export function findInspected(records: Records, data: JsonObject, nodeUuid: string | undefined): string {
  const inventory = (data.inventory ?? {}) as JsonObject
  const interfaces = (inventory.interfaces ?? []) as { mac_address?: unknown }[]
  const macs = interfaces
    .map(({ mac_address }) => formatClientValue(mac_address).toLowerCase())
    .filter((mac) => LOWER_MAC_PATTERN.test(mac))
  const bmcs = [inventory.bmc_address, inventory.bmc_v6address].filter(
    (address): address is string => typeof address === 'string' && address !== '' && !NO_ADDRESS.includes(address),
  )
  if (macs.length === 0 && bmcs.length === 0 && nodeUuid === undefined) throw ironicErrors.nothingToLookUp()

  const byMac = macs.flatMap((mac) => records.ports.get(records.portsByAddress.get(mac) ?? '')?.node_uuid ?? [])
  const found = new Set(byMac.length > 0 ? byMac : byBmc(records, bmcs))
  const [uuid] = found
  if (nodeUuid !== undefined) {
    if (found.size > 1 || (uuid !== undefined && uuid !== nodeUuid) || !waiting(records, nodeUuid))
      throw ironicErrors.resourceNotFound()
    return nodeUuid
  }
  if (found.size !== 1 || !waiting(records, uuid!)) throw ironicErrors.resourceNotFound()
  return uuid!
}

const waiting = (records: Records, uuid: string): boolean =>
  records.nodes.get(uuid)?.columns.provision_state === 'inspect wait'

function byBmc(records: Records, addresses: readonly string[]): string[] {
  if (addresses.length === 0) return []
  return [...records.nodes.values()]
    .filter((entry) => entry.columns.provision_state === 'inspect wait')
    .filter(({ record }) => {
      const known = record.driver_internal_info.lookup_bmc_addresses
      return Array.isArray(known) && known.some((address) => addresses.includes(formatClientValue(address)))
    })
    .map((entry) => entry.columns.uuid)
}
