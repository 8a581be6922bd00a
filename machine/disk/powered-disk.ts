import type { BlockDevice } from './block-device.js'
import { canAdopt, type AdoptingDevice } from './described-disk.js'

/**
 * A disk for one boot.
 *
 * @param signal after its abort every access rejects with its reason
 * @param wrote called after each write
 */
export function whilePowered(
  device: BlockDevice,
  signal: AbortSignal,
  wrote: (offset: number, length: number) => void,
): BlockDevice {
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
