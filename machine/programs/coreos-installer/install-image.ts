import { open, stat } from 'node:fs/promises'
import { withClockHeld, type Clock, type Random, MIB } from '../../../base/runtime/index.js'
import type { SimulatedDisk } from '../../disk/block-device.js'
import {
  ByteReader,
  countReads,
  DecodeError,
  decompress,
  detectCompression,
  fileSource,
  READ_BYTES,
  hasXzProgram,
  readXzIndex,
  unxzByProgram,
  type XzIndex,
} from '../../../base/bytes/index.js'
import { canAdopt, readContents } from '../../disk/described-disk.js'
import { gptSectorSize } from '../../disk/gpt.js'
import { ImageTooLarge, imageCache, MAX_CACHED_FILE_BYTES, type LoadedImage } from '../../disk/image-contents.js'
import { duringInstall, Failure } from './installer-error.js'
import type { InstallerProcess } from './installer-host.js'
import { Pacer } from './pacer.js'
import { ProgressMeter } from './installer-progress.js'
import type { SavedPartitions } from './saved-partitions.js'
import type { ImageSource } from './source/source.js'
import { writeBlocks } from './write-blocks.js'
import { positionAt, writeContents } from './write-image-contents.js'
import { writeRawImage } from './write-raw-image.js'

type ImageBytes = AsyncGenerator<Uint8Array, void, undefined>

/** Size of writes; smaller pieces of a decoder's output are joined. */
const WRITE = MIB / 2

/**
 * Writes the image in an order that leaves the disk unbootable until it is complete: an empty partition table, the bytes
 * from 1 MiB on, the first MiB.
 */
export async function writeImage(
  process: InstallerProcess,
  device: SimulatedDisk,
  source: ImageSource,
  saved: SavedPartitions,
): Promise<void> {
  const { clock, signal, tty } = process
  const meter = new ProgressMeter({ clock, length: source.bytes.length, tty, print: (text) => process.stderr(text) })
  try {
    // With saved partitions the bytes must pass the check for overlaps.
    const image = saved.any ? undefined : await cachedImage(process, device, source)
    if (image) return await writeLoaded(process, device, image, meter, saved)
    const read = (position: number) => {
      signal.throwIfAborted()
      meter.seen(position)
    }
    const raw = saved.any ? undefined : await rawHead(process, source)
    if (raw) return await writeRaw(process, device, raw, read, saved)
    const xz = await wholeXz(process, source)
    if (xz && (await hasXzProgram(clock))) {
      const decoded = xzFile(xz, clock, read)
      return await writeStream(process, device, decoded, saved)
    }
    if (xz && xz.index.blocks.length > 1 && !saved.any) return await writeLarge(process, device, xz, meter, saved)
    const input = new ByteReader(countReads(source.bytes, read))
    await duringInstall('sniffing input', () => input.peek(6))
    await writeStream(process, device, decompress(input, clock), saved)
  } finally {
    if (!signal.aborted) meter.end()
  }
}

async function cachedImage(
  { clock }: InstallerProcess,
  device: SimulatedDisk,
  { path, bytes }: ImageSource,
): Promise<LoadedImage | undefined> {
  if (path === undefined || !(canAdopt(device) || (bytes.length ?? Infinity) <= MAX_CACHED_FILE_BYTES)) return undefined
  try {
    const image = await imageCache.load(path, clock, device.size)
    return image.whole || canAdopt(device) ? image : undefined
  } catch (error) {
    // A broken image, or one for a larger disk, is written by the other path as far as possible.
    if (error instanceof DecodeError || error instanceof ImageTooLarge) return undefined
    throw error
  }
}

/** The file of an image that is not compressed, with its first MiB; undefined for others and for shorter ones. */
async function rawHead({ clock }: InstallerProcess, { path }: ImageSource): Promise<RawImage | undefined> {
  if (path === undefined) return undefined
  return withClockHeld(clock, `reading ${path}`, async () => {
    await using file = await open(path)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MIB), 0, MIB, 0)
    return bytesRead === MIB && detectCompression(buffer) === 'raw' ? { path, firstMib: buffer } : undefined
  })
}

interface RawImage {
  path: string
  firstMib: Buffer
}

async function writeRaw(
  process: InstallerProcess,
  device: SimulatedDisk,
  { path, firstMib }: RawImage,
  read: (position: number) => void,
  saved: SavedPartitions,
) {
  const { clock } = process
  for (let position = READ_BYTES; position <= MIB; position += READ_BYTES) read(position)
  await writeFirstMibLast(process, device, firstMib, saved, (pacer) =>
    writeRawImage({ path, device, from: MIB, clock, pacer, read }),
  )
}

/** Index of a file that is one complete xz stream; undefined for others. */
async function wholeXz({ clock }: InstallerProcess, { path }: ImageSource): Promise<WholeXz | undefined> {
  if (path === undefined) return undefined
  const index = await readXzIndex(path, clock)
  return index && index.size > MIB ? { path, index } : undefined
}

interface WholeXz {
  path: string
  index: XzIndex
}

async function* xzFile({ path, index }: WholeXz, clock: Clock, read: (position: number) => void) {
  let last = 0
  yield* unxzByProgram(path, clock, (position) => read((last = position)), { index })
  // The real installer reads the end twice more (recorded).
  for (let time = 0; time < 2; time++) read(last)
}

async function writeLarge(
  process: InstallerProcess,
  device: SimulatedDisk,
  { path, index }: WholeXz,
  meter: ProgressMeter,
  saved: SavedPartitions,
) {
  const { clock, signal } = process
  const head = await duringInstall('decoding first MiB of image', async () => {
    const source = await fileSource(path, clock)
    const decoded = decompress(source, clock)
    try {
      return await readHead(decoded)
    } finally {
      await decoded.return()
      await source[Symbol.asyncDispose]()
    }
  })
  const read = (position: number) => {
    signal.throwIfAborted()
    meter.seen(position)
  }
  await writeFirstMibLast(process, device, head.subarray(0, MIB), saved, async (pacer) => {
    await writeBlocks({ path, index, device, from: MIB, clock, pacer, read })
    // The real installer reads the end of the file three times (recorded).
    const { size } = await withClockHeld(clock, `looking at ${path}`, () => stat(path))
    for (let time = 0; time < 3; time++) meter.seen(size)
  })
}

async function writeStream(
  process: InstallerProcess,
  device: SimulatedDisk,
  image: ImageBytes,
  saved: SavedPartitions,
) {
  const decoded = saved.guarded(image)
  try {
    await writeDecoded(process, device, decoded, saved)
  } finally {
    await decoded.return()
  }
}

async function writeDecoded(
  process: InstallerProcess,
  device: SimulatedDisk,
  decoded: ImageBytes,
  saved: SavedPartitions,
) {
  const { clock, random, pace, signal } = process
  const pacer = new Pacer(clock, pace.writeRate, signal)
  const head = await duringInstall('decoding first MiB of image', () => readHead(decoded))
  const firstMib = head.subarray(0, MIB)
  checkSectorSize(firstMib, device)
  await clearTable(device, saved, random)
  await duringInstall('decoding and writing image', async () => {
    let offset = MIB
    // Two buffers for all pieces, one filled while the other is written: new ones would be garbage as large as the image.
    let buffer = Buffer.allocUnsafe(WRITE)
    let other = Buffer.allocUnsafe(WRITE)
    let filled = 0
    let written = Promise.resolve()
    const write = async (at: number, bytes: Uint8Array) => {
      await device.write(at, bytes)
      await pacer.written(at + bytes.length)
    }
    const flush = async () => {
      await written
      written = write(offset, buffer.subarray(0, filled))
      // Awaited before the next one.
      written.catch(() => {})
      offset += filled
      filled = 0
      ;[buffer, other] = [other, buffer]
      // The progress of a disk with a speed would show that bytes were read ahead.
      if (pacer.rate > 0) await written
    }
    const put = async (bytes: Uint8Array) => {
      for (let at = 0; at < bytes.length;) {
        const piece = bytes.subarray(at, at + WRITE - filled)
        buffer.set(piece, filled)
        filled += piece.length
        at += piece.length
        if (filled === WRITE) await flush()
      }
    }
    try {
      await put(head.subarray(MIB))
      for (let next = await decoded.next(); !next.done; next = await decoded.next()) await put(next.value)
    } finally {
      // Write all bytes of a broken image before the damage.
      if (filled > 0 && !signal.aborted) await flush()
      await written
    }
  })
  await saved.writeFirstMib(firstMib, (line) => process.stderr(`${line}\n`))
}

async function writeLoaded(
  process: InstallerProcess,
  device: SimulatedDisk,
  image: LoadedImage,
  meter: ProgressMeter,
  saved: SavedPartitions,
) {
  meter.seen(positionAt(image, MIB, process.pace.writeRate > 0))
  if (image.size < MIB) {
    meter.seen(image.compressedLength)
    throw new Failure('decoding first MiB of image', new Failure('failed to fill whole buffer'))
  }
  const firstMib = await readContents(image, 0, MIB)
  await writeFirstMibLast(process, device, firstMib, saved, (pacer) =>
    writeContents({ device, image, from: MIB, pacer, meter }),
  )
}

/** Writes an image whose first MiB is known: the empty table, what `writeRest` writes, the first MiB. */
async function writeFirstMibLast(
  process: InstallerProcess,
  device: SimulatedDisk,
  firstMib: Uint8Array,
  saved: SavedPartitions,
  writeRest: (pacer: Pacer) => Promise<void>,
): Promise<void> {
  const { clock, random, pace, signal } = process
  checkSectorSize(firstMib, device)
  await clearTable(device, saved, random)
  const pacer = new Pacer(clock, pace.writeRate, signal)
  await duringInstall('decoding and writing image', () => writeRest(pacer))
  await saved.writeFirstMib(firstMib, (line) => process.stderr(`${line}\n`))
}

/** Writes the table that the disk has during the installation. */
async function clearTable(device: SimulatedDisk, saved: SavedPartitions, random: Random): Promise<void> {
  await duringInstall('overwriting disk partition table', () => saved.clearTable(random))
  // A block device refuses to seek past its end.
  if (device.size < MIB) throw new Failure('seeking disk', new Failure('Invalid argument (os error 22)'))
}

/** Reads the first MiB, with the rest of the last piece. */
async function readHead(decoded: ImageBytes): Promise<Buffer> {
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

function checkSectorSize(firstMib: Uint8Array, device: SimulatedDisk): void {
  const sectorSize = gptSectorSize(firstMib)
  if (sectorSize !== undefined && sectorSize !== device.sectorSize)
    throw new Failure(`source has sector size ${sectorSize} but destination has sector size ${device.sectorSize}`)
}
