import { parseRootDeviceHints, satisfiesHints, type HintedDevice, type JsonObject } from '../../base/wire/index.js'
import type { BlockDevice } from './block-devices.js'

/**
 * Compiles root device hints into a test of disks. Serials and WWNs match in any variant that lsblk or udev know.
 *
 * @throws HintError for an unknown hint or an invalid value; the test throws it for a disk that the hints cannot be
 *   compared with
 */
export function compileHints(hints: JsonObject): (device: BlockDevice) => boolean {
  const parsed = parseRootDeviceHints(hints, 'agent')
  return (device) => satisfiesHints(hinted(device), parsed)
}

/** The first disk in the list that satisfies all hints. */
export const findByHints = (devices: readonly BlockDevice[], hints: JsonObject): BlockDevice | undefined =>
  devices.find(compileHints(hints))

const hinted = (device: BlockDevice): HintedDevice => ({
  name: device.name,
  model: device.model,
  size: device.size,
  rotational: device.rotational,
  wwn: device.wwns,
  serial: device.serials,
  vendor: device.vendor,
  hctl: device.hctl,
  wwn_with_extension: device.wwnWithExtension,
  wwn_vendor_extension: device.wwnVendorExtension,
  by_path: device.byPath,
  tran: device.transport,
})
