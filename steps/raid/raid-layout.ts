import { MIB } from '../../base/runtime/index.js'
import { HintError, type JsonObject } from '../../base/wire/index.js'
import { compileHints } from '../hardware/find-by-hints.js'
import type { BlockDevice } from '../hardware/block-devices.js'
import { StepError } from '../sdk/step.js'
import { dataDisks, MIN_RAID_DISKS, type LogicalDisk } from './raid-config.js'

/** MiB in front of the first member: room for an EFI system partition, or for GRUB. */
const FIRST_MIB = { uefi: 551, bios: 9 } as const
/** MiB at the end for the copy of the partition table. */
const LAST_MIB = 1

/** A member's partition. */
interface MemberPartition {
  /** `/dev/sda` */
  disk: string
  number: number
  startMib: number
  /** Null for the rest of the disk. */
  sizeMib: number | null
}

export interface PlannedVolume {
  logical: LogicalDisk
  members: MemberPartition[]
}

/**
 * Assigns disks and partitions to each volume. A volume of size MAX comes last on the disks, regardless of its place in the
 * list.
 *
 * @param disks usable disks, in lsblk's order
 * @throws StepError of type SoftwareRAIDError when there are too few disks, or they are too small
 */
export function layOut(
  volumes: readonly LogicalDisk[],
  disks: readonly BlockDevice[],
  firmware: 'uefi' | 'bios',
): PlannedVolume[] {
  const next = new Map<string, { startMib: number; number: number }>()
  const planned = new Map<LogicalDisk, PlannedVolume>()
  const inOrder = [...volumes].sort((a, b) => Number(a.size_gb === 'MAX') - Number(b.size_gb === 'MAX'))
  for (const logical of inOrder) {
    const chosen = chooseDisks(logical, disks)
    const each = logical.size_gb === 'MAX' ? null : memberSize(logical, chosen.length)
    const members = chosen.map(({ name, size }) => {
      const { startMib, number } = next.get(name) ?? { startMib: FIRST_MIB[firmware], number: 1 }
      const end = Math.floor(size / MIB) - LAST_MIB
      if (startMib + (each ?? 1) > end)
        throw softwareRaidError(
          `${name} has no room for a member of ${each ?? 1} MiB: ${Math.max(0, end - startMib)} MiB are left`,
        )
      next.set(name, { startMib: startMib + (each ?? end - startMib), number: number + 1 })
      return { disk: name, number, startMib, sizeMib: each }
    })
    planned.set(logical, { logical, members })
  }
  return volumes.map((logical) => planned.get(logical)!)
}

function memberSize({ size_gb: size, raid_level: level }: LogicalDisk, count: number): number {
  return Math.ceil((Number(size) * 1024) / dataDisks(level, count))
}

function chooseDisks({ raid_level: level, physical_disks: hints }: LogicalDisk, disks: readonly BlockDevice[]) {
  const chosen = hints
    ? hints.reduce<BlockDevice[]>((taken, hint) => [...taken, byHint(hint, disks, taken)], [])
    : disks
  if (chosen.length < MIN_RAID_DISKS[level])
    throw softwareRaidError(
      `RAID level ${level} needs at least ${MIN_RAID_DISKS[level]} disks, and there are ${chosen.length}`,
    )
  // RAID-10 takes pairs of disks: over an odd number, copies would overlap those of the next row.
  return level === '1+0' ? chosen.slice(0, chosen.length - (chosen.length % 2)) : chosen
}

function byHint(hint: JsonObject, disks: readonly BlockDevice[], taken: readonly BlockDevice[]): BlockDevice {
  try {
    const found = disks.filter((disk) => !taken.includes(disk)).find(compileHints(hint))
    if (found) return found
  } catch (error) {
    if (!(error instanceof HintError)) throw error
    throw softwareRaidError(`a hint of physical_disks cannot be used: ${error.message}`)
  }
  throw softwareRaidError(`no disk that is free satisfies the hints ${JSON.stringify(hint)} of physical_disks`)
}

const softwareRaidError = (details: string) => new StepError(details, { type: 'SoftwareRAIDError' })
