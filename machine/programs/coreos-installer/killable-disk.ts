import { defined } from '../../../base/runtime/index.js'
import type { SimulatedDisk } from '../../disk/block-device.js'
import { canAdopt, type AdoptingDevice } from '../../disk/described-disk.js'

/** A disk that rejects every access once its program was killed, so that nothing is cleaned up, as with SIGKILL. */
export function killableDisk(device: SimulatedDisk, signal: AbortSignal): SimulatedDisk {
  const alive = async <T>(access: () => Promise<T>): Promise<T> => {
    signal.throwIfAborted()
    const result = await access()
    signal.throwIfAborted()
    return result
  }
  const base: SimulatedDisk = {
    name: device.name,
    size: device.size,
    sectorSize: device.sectorSize,
    read: (offset, length) => alive(() => device.read(offset, length)),
    write: (offset, bytes) => alive(() => device.write(offset, bytes)),
    discard: (offset, length) => alive(() => device.discard(offset, length)),
    flush: () => alive(() => device.flush()),
    ...defined({ showsPartitions: device.showsPartitions ? () => device.showsPartitions!() : undefined }),
    // The disk belongs to the machine instead of the program.
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  if (!canAdopt(device)) return base
  const adopting: AdoptingDevice = {
    ...base,
    revision: () => device.revision(),
    adopt: (offset, length, image) => alive(() => device.adopt(offset, length, image)),
  }
  return adopting
}
