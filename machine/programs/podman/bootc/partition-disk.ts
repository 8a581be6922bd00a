import { MIB, randomUuid, type Random } from '../../../../base/runtime/index.js'
import type { SimulatedDisk } from '../../../disk/block-device.js'
import { writeGpt } from '../../../disk/fresh-gpt.js'
import { buildGpt, type NewPartition } from '../../../disk/gpt.js'
import type { MachineSpec } from '../../../machine-spec.js'
import { BootcFailure } from './bootc-failure.js'

/** Where a new partition is, in bytes. */
export interface NewRange {
  number: number
  offset: number
  length: number
}

export interface BootcPartitions {
  esp: NewRange
  /** Only beside an encrypted root. */
  boot: NewRange | undefined
  root: NewRange
}

/** GPT types; that of root is by the Discoverable Partitions Specification, since bootc 1.11. */
const PARTITION_TYPES = {
  bios: '21686148-6449-6e6f-744e-656564454649',
  esp: 'c12a7328-f81f-11d2-ba4b-00a0c93ec93b',
  linux: '0fc63daf-8483-4772-8e79-3d69d8477de4',
  root: { x86_64: '4f68bce3-e8cd-4db1-96e7-fbcaf984b709', aarch64: 'b921b045-1df0-41c3-af44-4c6f280d3fae' },
} as const

/** Sizes in MiB (bootc, install/baseline.rs). */
const PARTITION_MIB = { bios: 1, esp: 512, boot: 510 } as const

/** sfdisk's `bootable` of a GPT: the legacy BIOS bootable attribute. */
const LEGACY_BOOTABLE = 4n
/** Sectors of the backup table at the end of the disk. */
const BACKUP_BYTES = 128 * 128

interface WantedPartition {
  name: 'BIOS-BOOT' | 'EFI-SYSTEM' | 'boot' | 'root'
  type: string
  /** Undefined for all that is left. */
  mib: number | undefined
  attributes?: bigint
}

/**
 * Writes the partition table of `bootc install to-disk`.
 *
 * @param rootMib size of the root partition; undefined for all that is left
 * @throws BootcFailure where it does not fit
 */
export async function partitionDisk(
  device: SimulatedDisk,
  architecture: MachineSpec['architecture'],
  { isEncrypted, rootMib }: { isEncrypted: boolean; rootMib: number | undefined },
  random: Random,
): Promise<BootcPartitions> {
  const bios: WantedPartition = {
    name: 'BIOS-BOOT',
    type: PARTITION_TYPES.bios,
    mib: PARTITION_MIB.bios,
    attributes: LEGACY_BOOTABLE,
  }
  const wanted: WantedPartition[] = [
    ...(architecture === 'x86_64' ? [bios] : []),
    { name: 'EFI-SYSTEM', type: PARTITION_TYPES.esp, mib: PARTITION_MIB.esp },
    ...(isEncrypted ? [{ name: 'boot', type: PARTITION_TYPES.linux, mib: PARTITION_MIB.boot } as const] : []),
    { name: 'root', type: PARTITION_TYPES.root[architecture], mib: rootMib },
  ]
  const ranges = rangesOf(device, wanted)
  const partitions = wanted.map((one, index) => newPartition(one, ranges[index]!, device.sectorSize, random))
  const { size, sectorSize } = device
  await writeGpt(device, buildGpt({ size, sectorSize, diskGuid: randomUuid(random), partitions }))
  await device.flush()
  const at = (name: WantedPartition['name']) => ranges[wanted.findIndex((one) => one.name === name)]
  return { esp: at('EFI-SYSTEM')!, boot: at('boot'), root: at('root')! }
}

/**
 * sfdisk begins at the first MiB, and aligns to it. A partition that is larger than what is left gets that, but for a MiB
 * (seen with util-linux 2.38.1).
 */
function rangesOf({ size, sectorSize }: SimulatedDisk, wanted: readonly WantedPartition[]): NewRange[] {
  const end = Math.floor((size - sectorSize - BACKUP_BYTES) / MIB) * MIB
  let offset = MIB
  return wanted.map(({ mib }, index) => {
    const left = end - offset
    const length = mib === undefined ? left : mib * MIB <= left ? mib * MIB : left - MIB
    if (length <= 0)
      throw new BootcFailure(
        'Failed to run sfdisk: Task Initializing partitions failed: ExitStatus(unix_wait_status(256))',
      )
    const range = { number: index + 1, offset, length }
    offset += length
    return range
  })
}

function newPartition(
  { name, type, attributes = 0n }: WantedPartition,
  { number, offset, length }: NewRange,
  sectorSize: number,
  random: Random,
): NewPartition {
  const firstLba = offset / sectorSize
  return {
    number,
    name,
    type,
    attributes,
    firstLba,
    lastLba: firstLba + length / sectorSize - 1,
    guid: randomUuid(random),
  }
}
