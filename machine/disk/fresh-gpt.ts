import type { Random } from '../../base/runtime/index.js'
import type { SimulatedDisk } from './block-device.js'
import { buildGpt, HEADER_SIZE, readGuid, type GptBytes, type NewPartition } from './gpt.js'

/** A table with a random disk GUID, as coreos-installer makes it. */
export function freshGpt(
  { size, sectorSize }: Pick<SimulatedDisk, 'size' | 'sectorSize'>,
  random: Random,
  partitions: readonly NewPartition[] = [],
): GptBytes {
  return buildGpt({ size, sectorSize, diskGuid: rawGuid(random), partitions })
}

/** Writes a {@link freshGpt} with its protective MBR, whose boot code is cleared. */
export async function writeFreshGpt(
  device: SimulatedDisk,
  random: Random,
  partitions: readonly NewPartition[] = [],
): Promise<void> {
  await writeGpt(device, freshGpt(device, random, partitions))
  await device.flush()
}

/** Writes a table. The bytes after the header in its sector stay, as with coreos-installer (seen on its disks). */
export async function writeGpt(device: SimulatedDisk, { primary, backup, backupOffset }: GptBytes): Promise<void> {
  const { sectorSize } = device
  const header = (bytes: Buffer) => bytes.subarray(0, HEADER_SIZE)
  await device.write(0, primary.subarray(0, sectorSize))
  await device.write(sectorSize, header(primary.subarray(sectorSize)))
  await device.write(2 * sectorSize, primary.subarray(2 * sectorSize))
  const entries = backup.length - sectorSize
  await device.write(backupOffset, backup.subarray(0, entries))
  await device.write(backupOffset + entries, header(backup.subarray(entries)))
}

/**
 * A GUID as coreos-installer writes it: the bytes of a version 4 UUID in printed order, so that other tools print the
 * version digit in the middle of the third group (recorded: `57E6B5F3-F575-574F-...`).
 */
function rawGuid(random: Random): string {
  const bytes = Buffer.from(random.bytes(16))
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return readGuid(bytes, 0)
}
