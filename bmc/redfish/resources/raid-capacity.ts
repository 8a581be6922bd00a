import type { DiskSpec } from '../../../machine/index.js'
import type { RedfishDocument } from '../protocol/redfish-document.js'

/** RAID levels of Ironic's RAID configuration, by the names of Redfish's RAID types. */
export const RAID_TYPES: Readonly<Record<string, string>> = {
  '0': 'RAID0',
  '1': 'RAID1',
  '5': 'RAID5',
  '6': 'RAID6',
  '1+0': 'RAID10',
  '5+0': 'RAID50',
  '6+0': 'RAID60',
}
/** Fewest drives of each RAID type. */
export const MIN_RAID_DRIVES: Readonly<Record<string, number>> = {
  RAID0: 1,
  RAID1: 2,
  RAID5: 3,
  RAID6: 4,
  RAID10: 4,
  RAID50: 6,
  RAID60: 8,
}

/** Names of the drives of a volume; none where the driver that made it names none. */
export const drivesOf = ({ physical_disks: named }: RedfishDocument): string[] =>
  Array.isArray(named) ? named.map(String) : []

/** Bytes of the largest volume of a type on drives, beside the volumes that they have. */
export function mostOf(type: string, drives: readonly DiskSpec[], volumes: readonly RedfishDocument[]): number {
  return Math.min(...drives.map((drive) => drive.size - usedOf(drive, volumes))) * dataDrives(type, drives.length)
}

/** How many drives' worth of data a volume of so many drives has. */
function dataDrives(type: string, count: number): number {
  const data: Record<string, number> = {
    RAID0: count,
    RAID1: 1,
    RAID5: count - 1,
    RAID6: count - 2,
    RAID10: Math.floor(count / 2),
    RAID50: count - 2,
    RAID60: count - 4,
  }
  return data[type] ?? count
}

/** Bytes of a drive that volumes take; those of unknown size count as none. */
function usedOf({ name }: DiskSpec, volumes: readonly RedfishDocument[]): number {
  let used = 0
  for (const volume of volumes) {
    const drives = drivesOf(volume)
    const bytes = volume['size_bytes']
    if (typeof bytes !== 'number' || !drives.includes(name)) continue
    used += Math.ceil(bytes / Math.max(1, dataDrives(RAID_TYPES[String(volume['raid_level'])] ?? '', drives.length)))
  }
  return used
}
