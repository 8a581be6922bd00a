import { uuid, type Random } from '../../runtime/index.js'
import type { BlockDevice } from './block-device.js'
import { buildGpt, readGpt } from './gpt.js'
import { bufferOf } from '../../bytes/index.js'

/** The disk GUID of every CoreOS image as it is built. */
const UNINITIALIZED = '00000000-0000-4000-a000-000000000001'

/** Where the partition entries of an MBR stand in its sector. */
export const MBR_ENTRIES = { from: 446, to: 510 } as const

/** What of a GPT header depends on the disk and not on its partitions: checksum, backup's place, end, disk GUID. */
export const HEADER_OF_DISK = [
  { from: 16, to: 20 },
  { from: 32, to: 40 },
  { from: 48, to: 72 },
] as const

/**
 * What CoreOS does to its partition table at the first boot, before Ignition runs: the disk gets a GUID of its own in
 * place of the image's, and the backup table moves to the disk's end. Partitions and boot code stay. A disk that was set
 * up before is left alone.
 */
export async function setUpGpt(device: BlockDevice, random: Random): Promise<void> {
  const gpt = await readGpt(device)
  if (gpt?.diskGuid !== UNINITIALIZED) return
  const { size, sectorSize } = device
  const { primary, backup, backupOffset } = buildGpt({
    ...{ size, sectorSize, diskGuid: uuid(random), partitions: gpt.partitions },
  })
  const bootCode = bufferOf(await device.read(0, MBR_ENTRIES.from))
  bootCode.copy(primary)
  // The backup first: a machine that loses power in between has the image's own table, whole.
  await device.write(backupOffset, backup)
  await device.write(0, primary)
  await device.flush()
}
