import type { Clock } from '../../base/runtime/index.js'
import type { SimulatedDisk } from './block-device.js'
import { bufferOf } from '../../base/bytes/index.js'
import { bootRange, forgetDisk, imageBlocks } from './image-blocks.js'

const COMPARED_BLOCK_BYTES = 4096
/** Limit on the differences in the result. */
const MAX_DIFFERENCES = 16

export interface ImageComparison {
  /** Whether all bytes outside the boot filesystem are the image's. */
  identical: boolean
  /** Bytes compared: the image's size. */
  compared: number
  /** Ranges outside the boot filesystem that differ, in whole blocks of 4 KiB, the first ones. */
  differences: { offset: number; length: number }[]
  /** Blocks of 4 KiB changed in the boot filesystem, where the installer writes config and arguments. */
  changedBootBlocks: number
}

/**
 * Compares a disk's bytes with the image that was installed on it. Not compared are the disk after the end of the image,
 * where the backup partition table is, and the fields of the primary table that the first boot changes: the disk's GUID
 * and the position of the backup.
 *
 * @param imagePath raw or compressed
 * @throws DecodeError for a broken image
 */
export async function compareWithImage(
  device: SimulatedDisk,
  imagePath: string,
  clock: Clock,
): Promise<ImageComparison> {
  const result: ImageComparison = { identical: true, compared: 0, differences: [], changedBootBlocks: 0 }
  const boot = await bootRange(device)
  for await (const block of imageBlocks(imagePath, clock)) {
    const offset = result.compared
    result.compared += block.length
    const read = bufferOf(await device.read(offset, block.length))
    if (offset === 0) for (const bytes of [block, read]) forgetDisk(bytes, device.sectorSize)
    if (!read.equals(block)) note(result, boot, offset, block, read)
  }
  return result
}

function note(
  result: ImageComparison,
  boot: { from: number; to: number },
  offset: number,
  image: Buffer,
  disk: Buffer,
): void {
  for (let at = 0; at < image.length; at += COMPARED_BLOCK_BYTES) {
    if (image.subarray(at, at + COMPARED_BLOCK_BYTES).equals(disk.subarray(at, at + COMPARED_BLOCK_BYTES))) continue
    const from = offset + at
    if (from >= boot.from && from < boot.to) {
      result.changedBootBlocks++
      continue
    }
    result.identical = false
    const last = result.differences.at(-1)
    if (last && last.offset + last.length === from) last.length += COMPARED_BLOCK_BYTES
    else if (result.differences.length < MAX_DIFFERENCES)
      result.differences.push({ offset: from, length: COMPARED_BLOCK_BYTES })
  }
}
