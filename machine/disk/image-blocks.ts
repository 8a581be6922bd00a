import { MIB, type Clock } from '../../base/runtime/index.js'
import { decodedFile } from '../../base/bytes/index.js'
import type { SimulatedDisk } from './block-device.js'
import { readContents } from './described-disk.js'
import { HEADER_OF_DISK, MBR_ENTRIES } from './gpt-setup.js'
import { imageCache } from './image-contents.js'
import { partitionsLabelled } from './disk-partitions.js'

/**
 * The contents of an image in blocks of a MiB; only the last may be shorter.
 *
 * @param path raw or compressed
 * @throws DecodeError for a broken image
 */
export const imageBlocks = (path: string, clock: Clock): AsyncGenerator<Buffer, void, undefined> =>
  blocks(imageBytes(path, clock))

/** Clears the fields of a protective MBR and a GPT header that belong to the disk. */
export function forgetDisk(start: Buffer, sectorSize: number): void {
  start.fill(0, MBR_ENTRIES.from, MBR_ENTRIES.to)
  for (const { from, to } of HEADER_OF_DISK) start.fill(0, sectorSize + from, sectorSize + to)
}

export async function bootRange(device: SimulatedDisk): Promise<{ from: number; to: number }> {
  const [boot] = await partitionsLabelled(device, 'boot')
  return boot ? { from: boot.offset, to: boot.offset + boot.length } : { from: 0, to: 0 }
}

/** The image's bytes, from the cache when it is there whole. */
async function* imageBytes(path: string, clock: Clock): AsyncGenerator<Uint8Array, void, undefined> {
  const image = await imageCache.loaded(path, clock)
  if (!image?.whole) return yield* decodedFile(path, clock)
  for (let at = 0; at < image.size; at += MIB) yield await readContents(image, at, MIB)
}

/** Joins and splits pieces into blocks of a MiB. */
async function* blocks(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void, undefined> {
  let held: Uint8Array[] = []
  let length = 0
  for await (const piece of pieces) {
    held.push(piece)
    length += piece.length
    if (length < MIB) continue
    const all = Buffer.concat(held)
    let at = 0
    for (; at + MIB <= length; at += MIB) yield all.subarray(at, at + MIB)
    held = [all.subarray(at)]
    length -= at
  }
  if (length > 0) yield Buffer.concat(held)
}
