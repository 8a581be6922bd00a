import { stat } from 'node:fs/promises'
import { held } from '../../../runtime/index.js'
import type { BlockDevice } from '../../disk/block-device.js'
import { counted, fileSource, PeekableSource, type ByteSource } from '../../disk/byte-source.js'
import { decompress } from '../../disk/decompress.js'
import { DecodeError } from '../../disk/decode-error.js'
import { canAdopt, readContents } from '../../disk/described-disk.js'
import { gptSectorSize } from '../../disk/gpt.js'
import { imageShelf, SMALL_IMAGE_FILE, type LoadedImage } from '../../disk/image-contents.js'
import { readXzIndex, type XzIndex } from '../../disk/xz-index.js'
import { during, Failure } from './failure.js'
import type { InstallerProcess } from './host.js'
import { Pacer } from './pacer.js'
import { ProgressMeter } from './progress.js'
import type { SavedPartitions } from './saved-partitions.js'
import type { ImageSource } from './source.js'
import { writeBlocks } from './write-blocks.js'
import { positionAt, writeContents } from './write-contents.js'

const MIB = 1024 * 1024
/** Small pieces of a decoder's output are joined before they are written. */
const WRITE = MIB / 2

/**
 * Puts the image on the disk, in the order that keeps a disk unbootable until it is complete: an empty partition table,
 * everything from 1 MiB on, the first MiB.
 */
export async function writeImage(
  process: InstallerProcess,
  device: BlockDevice,
  source: ImageSource,
  saved: SavedPartitions,
): Promise<void> {
  const { clock, signal, tty } = process
  const meter = new ProgressMeter({ clock, length: source.bytes.length, tty, print: (text) => process.stderr(text) })
  try {
    // With something to keep, every byte is looked at on its way to the disk.
    const image = saved.any ? undefined : await shelved(process, device, source)
    if (image) return await writeLoaded(process, device, image, meter, saved)
    const blocks = saved.any ? undefined : await largeXz(process, source)
    if (blocks) return await writeLarge(process, device, blocks, meter, saved)
    const input = counted(source.bytes, (position) => {
      signal.throwIfAborted()
      meter.seen(position)
    })
    await writeStream(process, device, input, saved)
  } finally {
    if (!signal.aborted) meter.end()
  }
}

async function shelved(
  { clock }: InstallerProcess,
  device: BlockDevice,
  { path, bytes }: ImageSource,
): Promise<LoadedImage | undefined> {
  if (path === undefined || !(canAdopt(device) || (bytes.length ?? Infinity) <= SMALL_IMAGE_FILE)) return undefined
  try {
    const image = await imageShelf.load(path, clock)
    return image.whole || canAdopt(device) ? image : undefined
  } catch (error) {
    // A broken image is written as far as it goes.
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

/** A file of several xz blocks is worth decompressing side by side. */
async function largeXz({ clock }: InstallerProcess, { path }: ImageSource): Promise<LargeXz | undefined> {
  if (path === undefined) return undefined
  const index = await readXzIndex(path, clock)
  return index && index.blocks.length > 1 && index.size > MIB ? { path, index } : undefined
}

interface LargeXz {
  path: string
  index: XzIndex
}

async function writeLarge(
  process: InstallerProcess,
  device: BlockDevice,
  { path, index }: LargeXz,
  meter: ProgressMeter,
  saved: SavedPartitions,
) {
  const { clock, random, pace, signal } = process
  const head = await during('decoding first MiB of image', async () => {
    const source = await fileSource(path, clock)
    const decoded = decompress(source, clock)
    try {
      return await readHead(decoded)
    } finally {
      await decoded.return()
      await source[Symbol.asyncDispose]()
    }
  })
  const firstMib = head.subarray(0, MIB)
  checkSectorSize(firstMib, device)
  await during('clearing partition table', () => saved.clearTable(random))
  const pacer = new Pacer(clock, pace.writeRate, signal)
  const read = (position: number) => {
    signal.throwIfAborted()
    meter.seen(position)
  }
  await during('decoding and writing image', async () => {
    await writeBlocks({ path, index, device, from: MIB, clock, pacer, read })
    // The end of the file is found three times (recorded); its index is not read as blocks are.
    const { size } = await held(clock, `looking at ${path}`, () => stat(path))
    for (let time = 0; time < 3; time++) meter.seen(size)
  })
  await saved.writeFirstMib(firstMib, (line) => process.stderr(`${line}\n`))
}

async function writeStream(process: InstallerProcess, device: BlockDevice, input: ByteSource, saved: SavedPartitions) {
  const { clock, random, pace, signal } = process
  const sniffed = new PeekableSource(input)
  await during('sniffing input', () => sniffed.peek(6))
  const decoded = saved.guarded(decompress(sniffed, clock))
  const pacer = new Pacer(clock, pace.writeRate, signal)
  const head = await during('decoding first MiB of image', () => readHead(decoded))
  const firstMib = head.subarray(0, MIB)
  checkSectorSize(firstMib, device)
  await during('clearing partition table', () => saved.clearTable(random))
  await during('decoding and writing image', async () => {
    let offset = MIB
    let parts: Uint8Array[] = [head.subarray(MIB)]
    let length = parts[0]!.length
    const flush = async () => {
      await device.write(offset, parts.length === 1 ? parts[0]! : Buffer.concat(parts))
      offset += length
      parts = []
      length = 0
      await pacer.written(offset)
    }
    try {
      for (;;) {
        if (length >= WRITE) await flush()
        const { done, value } = await decoded.next()
        if (done) break
        parts.push(value)
        length += value.length
      }
    } finally {
      // Also of an image that turns out to be broken, everything that could be had of it.
      if (length > 0 && !signal.aborted) await flush()
    }
  })
  await saved.writeFirstMib(firstMib, (line) => process.stderr(`${line}\n`))
}

async function writeLoaded(
  process: InstallerProcess,
  device: BlockDevice,
  image: LoadedImage,
  meter: ProgressMeter,
  saved: SavedPartitions,
) {
  const { clock, random, pace, signal } = process
  meter.seen(positionAt(image, MIB, pace.writeRate > 0))
  if (image.size < MIB) {
    meter.seen(image.compressedLength)
    throw new Failure('decoding first MiB of image', new Failure('failed to fill whole buffer'))
  }
  const firstMib = await readContents(image, 0, MIB)
  checkSectorSize(firstMib, device)
  await during('clearing partition table', () => saved.clearTable(random))
  const pacer = new Pacer(clock, pace.writeRate, signal)
  await during('decoding and writing image', () => writeContents({ device, image, from: MIB, pacer, meter }))
  await saved.writeFirstMib(firstMib, (line) => process.stderr(`${line}\n`))
}

/** The first MiB and what came with it. */
async function readHead(decoded: AsyncGenerator<Uint8Array, void, undefined>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let length = 0
  while (length < MIB) {
    const { done, value } = await decoded.next()
    if (done) throw new Failure('failed to fill whole buffer')
    parts.push(value)
    length += value.length
  }
  return Buffer.concat(parts)
}

function checkSectorSize(firstMib: Uint8Array, device: BlockDevice): void {
  const sectorSize = gptSectorSize(firstMib)
  if (sectorSize !== undefined && sectorSize !== device.sectorSize)
    throw new Failure(`source has sector size ${sectorSize} but destination has sector size ${device.sectorSize}`)
}
