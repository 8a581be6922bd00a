import { MIB } from '../../../base/runtime/index.js'
import { READ_BYTES } from '../../../base/bytes/index.js'
import type { SimulatedDisk } from '../../disk/block-device.js'
import { canAdopt } from '../../disk/described-disk.js'
import { DiskError } from '../../disk/disk-error.js'
import type { LoadedImage } from '../../disk/image-contents.js'
import type { Pacer } from './pacer.js'
import type { ProgressMeter } from './installer-progress.js'

const STEP = 16 * MIB
/** Seconds for a step on a paced disk. */
const PACED_STEP = 0.25

/**
 * Writes a cached image in steps: a described disk adopts its pages, a file gets the bytes that are not zero. Progress
 * shows the bytes that coreos-installer would have read.
 */
export async function writeContents(options: {
  device: SimulatedDisk
  image: LoadedImage
  from: number
  pacer: Pacer
  meter: ProgressMeter
}): Promise<void> {
  const { device, image, from, pacer, meter } = options
  const paced = pacer.rate > 0
  const step = paced ? Math.min(STEP, Math.ceil((pacer.rate * PACED_STEP) / MIB) * MIB) : STEP
  const position = (offset: number) => positionAt(image, offset, paced)
  // The first MiB has been read already.
  let reported = position(from)
  const report = (offset: number) => {
    const now = position(offset)
    if (now !== reported || now !== image.compressedLength) meter.seen(now)
    reported = now
  }
  for (let at = from; at < image.size; at += step) {
    const length = Math.min(step, image.size - at)
    await writeImagePiece(device, image, at, length)
    await pacer.written(at + length)
    report(at + length)
  }
  // The real installer reads the end once more, twice with xz and zstd (recorded).
  for (let time = image.compression === 'raw' || image.compression === 'gz' ? 1 : 2; time > 0; time--)
    meter.seen(image.compressedLength)
}

/** Bytes of the file that are read when the image is written up to an offset. */
export function positionAt({ size, compressedLength }: LoadedImage, offset: number, paced: boolean): number {
  const share = (Math.min(offset, size) / size) * compressedLength
  // The real installer reads a small file whole before it writes; a paced disk shows steady progress instead.
  return Math.min(
    compressedLength,
    paced ? Math.floor(share) : Math.max(READ_BYTES, Math.ceil(share / READ_BYTES) * READ_BYTES),
  )
}

async function writeImagePiece(
  device: SimulatedDisk,
  image: LoadedImage,
  offset: number,
  length: number,
): Promise<void> {
  if (canAdopt(device)) return device.adopt(offset, length, image)
  const end = Math.min(offset + length, device.size)
  let at = offset
  for (const run of image.runs) {
    const start = Math.max(run.offset, at)
    const stop = Math.min(run.offset + run.bytes.length, end)
    if (start >= stop) continue
    if (start > at) await device.discard(at, start - at)
    await device.write(start, run.bytes.subarray(start - run.offset, stop - run.offset))
    at = stop
  }
  if (at < end) await device.discard(at, end - at)
  if (end < offset + length) throw new DiskError('ENOSPC', device.name, end)
}
