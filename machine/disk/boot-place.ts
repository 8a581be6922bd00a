import type { Clock } from '../../base/runtime/index.js'
import type { SimulatedDisk } from './block-device.js'
import { inFolder, withBootVolume, type BootVolume } from './boot-volume.js'
import type { DiskPartition } from './disk-partitions.js'

/** Where an installed system has what it mounts at /boot. */
export interface BootPlace {
  /** Number of the partition. */
  partition: number
  /** Bytes from the start of the disk to the filesystem. */
  offset: number
  /** Empty for a filesystem of its own; `/boot` in the root filesystem, as `bootc install` leaves it. */
  folder: '' | '/boot'
}

/** A filesystem labelled `boot`, else one labelled `root`, as far as it can be read: ext. */
export function findBootPlace(partitions: readonly DiskPartition[]): BootPlace | undefined {
  const labelled = (label: string) => partitions.find(({ filesystem }) => filesystem?.label === label)
  const boot = labelled('boot')
  if (boot) return isExt(boot) ? { partition: boot.number, offset: boot.offset, folder: '' } : undefined
  const root = labelled('root')
  return root && isExt(root) ? { partition: root.number, offset: root.offset, folder: '/boot' } : undefined
}

const isExt = ({ filesystem }: DiskPartition): boolean => filesystem?.type.startsWith('ext') ?? false

/** {@link withBootVolume} with the paths that a system has below /boot. */
export const withBootPlace = <T>(
  device: SimulatedDisk,
  { offset, folder }: Pick<BootPlace, 'offset' | 'folder'>,
  clock: Clock,
  work: (volume: BootVolume) => Promise<T>,
  options: { readOnly?: boolean } = {},
): Promise<T> => withBootVolume(device, offset, clock, (volume) => work(inFolder(volume, folder)), options)
