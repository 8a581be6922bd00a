import { MIB } from '../../base/runtime/index.js'
import type { SpecDisk, SpecPartition } from '../../ignition/index.js'
import type { DiskPartition } from '../disk/disk-partitions.js'
import type { Device } from './devices.js'
import type { DisksWork } from './disk-plan.js'
import { goQuoted, IgnitionFailure } from './ignition-log.js'

/** Bytes at either end of a disk that are reserved for the table. */
const EDGE = MIB
const LINUX_DATA = '0fc63daf-8483-4772-8e79-3d69d8477de4'

type Placed = Omit<DiskPartition, 'name'>

/** Plans a disk's partitions, by Ignition's rules on which may stay, change and be removed. */
export function planPartitions(work: DisksWork, disk: SpecDisk): void {
  const { devices, log, plan } = work
  const device = devices.find(disk.device!)!
  const note = (what: string) => plan.push({ section: 'disks', device: disk.device!, what })
  let partitions: Placed[] = [...(device.layout?.partitions ?? [])]
  if (disk.wipeTable) {
    log.line('info', `wiping partition table requested on ${goQuoted(disk.device!)}`)
    note('wipe the partition table')
    for (const { number } of partitions) devices.removePartition(device, number)
    partitions = []
  }
  const asked = [...(disk.partitions ?? [])].sort((a, b) => Number(!a.number) - Number(!b.number))
  for (const spec of asked) {
    const number = spec.number || nextNumber(partitions)
    const old = partitions.find((partition) => partition.number === number)
    const shouldExist = spec.shouldExist ?? true
    if (!old && !shouldExist) {
      log.line('info', `partition ${number} specified as nonexistant and no partition was found. Success.`)
      continue
    }
    if (old && !shouldExist && !spec.wipePartitionEntry)
      throw new IgnitionFailure(
        `partition ${number} exists but is specified as nonexistant and wipePartitionEntry is false`,
      )
    const difference = old && partitionMismatch(old, spec, device)
    if (old && shouldExist && difference === null) {
      log.line('info', `partition ${number} found with correct specifications`)
      continue
    }
    const isResize =
      old && spec.resize === true && partitionMismatch(old, { ...spec, sizeMiB: undefined }, device) === null
    if (old && shouldExist && !spec.wipePartitionEntry && !isResize)
      throw new IgnitionFailure(`partition ${number} didn't match: ${difference}`)
    partitions = partitions.filter((partition) => partition !== old)
    if (old) devices.removePartition(device, number)
    if (!shouldExist) {
      note(`delete partition ${number}`)
      continue
    }
    const placed = placePartition(partitions, { ...spec, number }, device, isResize ? old : undefined)
    // A table says only where partitions are: what begins at the same place is found again.
    const before = device.layout?.partitions.find(({ offset }) => offset === placed.offset)
    placed.filesystem ??= before?.filesystem
    partitions.push(placed)
    note(
      `${old ? (isResize ? 'resize' : 'recreate') : 'create'} partition ${number}${spec.label ? ` ${goQuoted(spec.label)}` : ''} of ${Math.floor(placed.length / MIB)} MiB`,
    )
    devices.addPartition(device, placed)
  }
}

const nextNumber = (partitions: readonly Placed[]): number => {
  for (let number = 1; ; number++) if (!partitions.some((partition) => partition.number === number)) return number
}

function partitionMismatch(
  { offset, length, gpt }: Placed,
  spec: Omit<SpecPartition, 'sizeMiB'> & { sizeMiB?: number | undefined },
  { sectorSize }: Device,
): string | null {
  const sectors = (bytes: number) => bytes / sectorSize
  if (spec.startMiB && spec.startMiB * MIB !== offset)
    return `starting sector did not match (specified ${sectors(spec.startMiB * MIB)}, got ${sectors(offset)})`
  const differs = (wanted: string | undefined, found: string | undefined) =>
    wanted ? wanted.toLowerCase() !== found?.toLowerCase() : false
  if (differs(spec.guid, gpt?.guid))
    return `GUID did not match (specified ${goQuoted(spec.guid!)}, got ${goQuoted(gpt!.guid)})`
  if (differs(spec.typeGuid, gpt?.type))
    return `type GUID did not match (specified ${goQuoted(spec.typeGuid!)}, got ${goQuoted(gpt!.type)})`
  if (spec.label !== undefined && spec.label !== gpt?.name)
    return `label did not match (specified ${goQuoted(spec.label)}, got ${goQuoted(gpt?.name ?? '')})`
  if (spec.sizeMiB && spec.sizeMiB * MIB !== length)
    return `size did not match (specified ${sectors(spec.sizeMiB * MIB)}, got ${sectors(length)})`
  return null
}

/** Position of a partition: as the config asks, or in the largest gap; a size of 0 fills it. */
function placePartition(
  partitions: readonly Placed[],
  spec: SpecPartition & { number: number },
  device: Device,
  old?: Placed,
): Placed {
  const gaps = gapsOf(partitions, device.size)
  const start = old?.offset ?? (spec.startMiB ? spec.startMiB * MIB : undefined)
  const gap =
    start === undefined
      ? gaps.sort((a, b) => b.end - b.start - (a.end - a.start))[0]
      : gaps.find((candidate) => start >= candidate.start && start < candidate.end)
  const from = start ?? gap?.start ?? 0
  const size = spec.sizeMiB ? spec.sizeMiB * MIB : (gap?.end ?? 0) - from
  if (!gap || size <= 0 || from + size > gap.end)
    throw new IgnitionFailure(
      `commit failure: create partitions failed: exit status 4: Could not create partition ${spec.number} from ${from / device.sectorSize} to ${(from + size) / device.sectorSize - 1}`,
    )
  const gpt = { type: spec.typeGuid ?? LINUX_DATA, guid: spec.guid ?? '', name: spec.label ?? '' }
  return { number: spec.number, offset: from, length: size, gpt, filesystem: old?.filesystem }
}

function gapsOf(partitions: readonly Placed[], size: number): { start: number; end: number }[] {
  const gaps: { start: number; end: number }[] = []
  let start = EDGE
  for (const { offset, length } of [...partitions].sort((a, b) => a.offset - b.offset)) {
    if (offset > start) gaps.push({ start, end: offset })
    start = Math.max(start, Math.ceil((offset + length) / MIB) * MIB)
  }
  if (size - EDGE > start) gaps.push({ start, end: size - EDGE })
  return gaps
}
