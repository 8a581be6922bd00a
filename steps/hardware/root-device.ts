import { isObject } from '../../base/runtime/index.js'
import { HintError, pythonRepr, type JsonObject } from '../../base/wire/index.js'
import { StepError } from '../sdk/step.js'
import type { BlockDevice } from './block-devices.js'
import { findByHints } from './find-by-hints.js'

/** Least size of a root device that is chosen without hints, in bytes. */
const MIN_ROOT_DEVICE_BYTES = 4 * 2 ** 30

/** Root device hints of a node: those of instance_info before those of properties; null when it has none. */
export function rootDeviceHints(node: JsonObject): JsonObject | null {
  for (const field of ['instance_info', 'properties']) {
    const hints = isObject(node[field]) ? node[field]['root_device'] : undefined
    if (isObject(hints) && Object.keys(hints).length > 0) return hints
  }
  return null
}

/**
 * The disk to install to, as ironic-python-agent chooses it: an existing software RAID volume that the node declares as its
 * root; or the first disk that satisfies all hints; or, for a node without hints, the smallest of at least 4 GiB. Hints
 * that match no disk are an error.
 *
 * @throws StepError of type DeviceNotFound, in the agent's words
 */
export function chooseRootDevice(devices: readonly BlockDevice[], node: JsonObject): BlockDevice {
  const volume = rootVolume(node)
  const declared = volume === null ? undefined : devices.find(({ volumeName }) => volumeName === volume)
  if (declared) return declared
  const hints = rootDeviceHints(node)
  if (hints === null) return smallest(devices)
  let found: BlockDevice | undefined
  try {
    found = findByHints(devices, hints)
  } catch (error) {
    if (!(error instanceof HintError)) throw error
    throw rootDeviceError(
      `No devices could be found using the root device hints ${pythonRepr(hints)} because they failed to validate. Error: ${error.message}`,
      error,
    )
  }
  if (!found)
    throw rootDeviceError(`No suitable device was found for deployment using these hints ${pythonRepr(hints)}`)
  return found
}

/** Name of the software RAID volume that the node's RAID configuration makes its root; null without one. */
function rootVolume(node: JsonObject): string | null {
  for (const field of ['raid_config', 'target_raid_config']) {
    const disks = isObject(node[field]) ? node[field]['logical_disks'] : undefined
    for (const disk of Array.isArray(disks) ? disks.filter(isObject) : [])
      if (
        disk['is_root_volume'] === true &&
        disk['controller'] === 'software' &&
        typeof disk['volume_name'] === 'string'
      )
        return disk['volume_name']
  }
  return null
}

function smallest(devices: readonly BlockDevice[]): BlockDevice {
  const [first] = devices
    .filter((device) => device.size >= MIN_ROOT_DEVICE_BYTES)
    .sort((a, b) => a.size - b.size || (a.name < b.name ? -1 : 1))
  if (!first)
    throw rootDeviceError(
      `No suitable device was found for deployment - root device hints were not provided and all found block devices are smaller than ${MIN_ROOT_DEVICE_BYTES}B.`,
    )
  return first
}

const rootDeviceError = (details: string, cause?: unknown) => new StepError(details, { type: 'DeviceNotFound', cause })
