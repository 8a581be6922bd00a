import { randomUuid, type Random } from '../../base/runtime/index.js'
import type { SimulatedDisk } from './block-device.js'
import { buildGpt, readGpt } from './gpt.js'
import { bufferOf } from '../../base/bytes/index.js'

/** The disk GUID in every CoreOS image. */
const UNINITIALIZED = '00000000-0000-4000-a000-000000000001'

/** Range of the partition entries in an MBR. */
export const MBR_ENTRIES = { from: 446, to: 510 } as const

/** Ranges of a GPT header that depend on the disk: checksum, position of the backup, last usable sector, disk GUID. */
export const HEADER_OF_DISK = [
  { from: 16, to: 20 },
  { from: 32, to: 40 },
  { from: 48, to: 72 },
] as const

/**
 * Changes the partition table as CoreOS does at the first boot, before Ignition runs: the disk gets a GUID of its own,
 * and the backup table moves to the disk's end. Partitions and boot code stay. A disk whose GUID is not the image's was
 * set up before and is left alone.
 */
export async function setUpGpt(device: SimulatedDisk, random: Random): Promise<void> {
  const gpt = await readGpt(device)
  if (gpt?.diskGuid !== UNINITIALIZED) return
  const { size, sectorSize } = device
  const { primary, backup, backupOffset } = buildGpt({
    size,
    sectorSize,
    diskGuid: randomUuid(random),
    partitions: gpt.partitions,
  })
  const bootCode = bufferOf(await device.read(0, MBR_ENTRIES.from))
  bootCode.copy(primary)
  // Write the backup first: a machine that loses power in between still has the image's own table.
  await device.write(backupOffset, backup)
  await device.write(0, primary)
  await device.flush()
}
