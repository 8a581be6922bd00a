import type { BlockDevice } from './block-device.js'
import { canAdopt, type AdoptingDevice } from './described-disk.js'

interface BootOfDisk {
  /** After its abort every access rejects with its reason. */
  signal: AbortSignal
  /** Called after each write. */
  wrote: (offset: number, length: number) => void
  showsPartitions: () => Promise<boolean>
}

/** A disk for one boot. */
export function whilePowered(device: BlockDevice, { signal, wrote, showsPartitions }: BootOfDisk): BlockDevice {
  const gate = <T>(access: () => Promise<T>): Promise<T> =>
    signal.aborted ? Promise.reject(signal.reason as Error) : access()
  const writing = async (offset: number, length: number, access: () => Promise<void>): Promise<void> => {
    await gate(access)
    wrote(offset, Math.min(length, device.size - offset))
  }
  const gated: BlockDevice = {
    ...(device.revision && { revision: () => device.revision!() }),
    name: device.name,
    size: device.size,
    sectorSize: device.sectorSize,
    read: (offset, length) => gate(() => device.read(offset, length)),
    write: (offset, bytes) => writing(offset, bytes.length, () => device.write(offset, bytes)),
    discard: (offset, length) => writing(offset, length, () => device.discard(offset, length)),
    flush: () => gate(() => device.flush()),
    showsPartitions,
    // The disk belongs to the machine instead of the boot.
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  if (!canAdopt(device)) return gated
  const adopting: AdoptingDevice = {
    ...gated,
    adopt: (offset, length, image) => writing(offset, length, () => device.adopt(offset, length, image)),
  }
  return adopting
}
