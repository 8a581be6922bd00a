import type { Probe } from '../../runtime/index.js'
import type { BlockDevice } from './block-device.js'
import { canAdopt, type AdoptingDevice, type ImageContents } from './described-disk.js'

/** Probe point of an access: `length` bytes from `offset`. A discard is a write of zeros. */
export interface DiskPoint {
  readonly kind: 'disk-read' | 'disk-write'
  /** Id of the machine. */
  readonly machine: string
  /** Kernel name of the disk. */
  readonly disk: string
  readonly offset: number
  readonly length: number
  readonly [attribute: string]: unknown
}

/** Probe point of a program that looks for the partitions of a disk; a fault that answers false keeps them from it. */
interface PartitionsPoint {
  readonly kind: 'partitions'
  readonly machine: string
  readonly disk: string
  /** Lab time at which the table was written, in this boot. */
  readonly written: number
  readonly [attribute: string]: unknown
}

/** Whether the kernel shows the partitions of a table that was written. */
export const showsPartitions = (probe: Probe, place: Omit<PartitionsPoint, 'kind'>): Promise<boolean> =>
  probe.around({ kind: 'partitions', ...place } as PartitionsPoint, () => Promise.resolve(true))

/** A disk whose every access passes the probe, so that faults can strike it and the journal records it. */
export function probed(device: BlockDevice, probe: Probe, machine: string): BlockDevice {
  const around = <T>(kind: DiskPoint['kind'], offset: number, length: number, run: () => Promise<T>): Promise<T> =>
    probe.watches(kind)
      ? probe.around({ kind, machine, disk: device.name, offset, length } satisfies DiskPoint, run)
      : run()
  const base: BlockDevice = {
    // A watched read may fail where nothing has changed.
    ...(device.revision && { revision: () => (probe.watches('disk-read') ? undefined : device.revision!()) }),
    name: device.name,
    size: device.size,
    sectorSize: device.sectorSize,
    read: (offset, length) => around('disk-read', offset, length, () => device.read(offset, length)),
    write: (offset, bytes) => around('disk-write', offset, bytes.length, () => device.write(offset, bytes)),
    discard: (offset, length) => around('disk-write', offset, length, () => device.discard(offset, length)),
    flush: () => device.flush(),
    [Symbol.asyncDispose]: () => device[Symbol.asyncDispose](),
  }
  if (!canAdopt(device)) return base
  const adopting: AdoptingDevice = {
    ...base,
    adopt: (offset: number, length: number, image: ImageContents) =>
      around('disk-write', offset, length, () => device.adopt(offset, length, image)),
  }
  return adopting
}
