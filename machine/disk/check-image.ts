import { UserError, type Clock, MIB } from '../../base/runtime/index.js'
import {
  type Compression,
  DecodeError,
  decodedFile,
  fileSource,
  readXzIndex,
  detectCompression,
  TRAILING_DATA,
} from '../../base/bytes/index.js'
import { readContents } from './described-disk.js'
import { recogniseFilesystem, SUPERBLOCK_AREA_BYTES } from './filesystem-probe.js'
import { gptSectorSize, NotAGpt, parseGpt, type Gpt, type GptPartition } from './gpt.js'
import { ImageTooLarge, imageCache, MAX_CACHED_FILE_BYTES } from './image-contents.js'
import { ERRORS } from '../errors.js'

/** A metal image that can be installed. */
export interface CheckedImage {
  path: string
  compression: Compression
  /** Bytes of the file. */
  fileSize: number
  /** Bytes that a disk must have at least. */
  size: number
  /** Sector size of the disks that it is for. */
  sectorSize: 512 | 4096
  /** The partition with the filesystem labelled `boot`. */
  boot: { offset: number; length: number }
}

/** Parts of an image that show whether it can be installed. */
interface ImageSample {
  compression: Compression
  fileSize: number
  /** Bytes after decompression; undefined when unknown. */
  size: number | undefined
  head: Buffer
  /** First bytes of each partition, by number. */
  starts: Map<number, Buffer>
}

/**
 * Checks that a file is a complete metal image: partition table, a filesystem labelled `boot`, no trailing data. Small
 * files are decompressed whole (and cached for the installation); a large .xz only up to the boot filesystem, and its
 * end is checked by its index.
 *
 * @param options.disk bytes of the disk that it is for; it is not decompressed further
 * @param options.keep whether a small file stays in memory for an installation by this process; true by default
 * @throws UserError image-unreadable, image-not-a-disk, image-truncated, image-corrupt, image-trailing-data,
 *   image-no-boot, disk-too-small
 */
export async function checkMetalImage(
  path: string,
  clock: Clock,
  { disk = Infinity, keep = true }: { disk?: number; keep?: boolean } = {},
): Promise<CheckedImage> {
  const image = await sampleImage(path, clock, disk, keep)
  const { gpt, sectorSize } = readGptHead(path, image.head)
  const size = image.size ?? (gpt.backupLba + 1) * sectorSize
  const needed = neededBy(gpt, sectorSize)
  if (size < needed)
    throw new UserError(
      'image-truncated',
      `the image ${path} is truncated: its partition table describes ${needed} bytes, and it has ${size}`,
      { remedy: 'download it again, and compare its checksum' },
    )
  if (size > needed && image.compression === 'raw') await refuseJunk(path, needed, clock)
  const boot = gpt.partitions.find(({ number }) => recogniseFilesystem(image.starts.get(number)!)?.label === 'boot')
  if (!boot)
    throw new UserError('image-no-boot', `the image ${path} has no filesystem labelled boot`, {
      remedy: 'name a CoreOS metal image: the installer puts Ignition config and kernel arguments on that filesystem',
    })
  return {
    path,
    compression: image.compression,
    fileSize: image.fileSize,
    size,
    sectorSize,
    boot: { offset: boot.offset, length: boot.length },
  }
}

async function sampleImage(path: string, clock: Clock, disk: number, keep: boolean): Promise<ImageSample> {
  try {
    const source = await fileSource(path, clock)
    const fileSize = source.length ?? 0
    try {
      const first = (await source.next()) ?? new Uint8Array()
      const compression = detectCompression(first)
      const largest = await largestContents(path, clock, disk)
      const whole = compression !== 'raw' && fileSize <= MAX_CACHED_FILE_BYTES
      if (whole && keep) return await glanceWhole(path, clock, largest)
      const knownSize =
        compression === 'raw'
          ? fileSize
          : compression === 'xz' && !whole
            ? (await readXzIndex(path, clock))?.size
            : undefined
      return await sampleStream(path, { compression, fileSize, knownSize, largest }, clock)
    } finally {
      await source[Symbol.asyncDispose]()
    }
  } catch (error) {
    throw explained(path, error)
  }
}

/**
 * Limit on the decompressed size of an image: the end of its partition table, or a MiB more.
 *
 * @throws UserError disk-too-small, before anything more is decompressed
 */
async function largestContents(path: string, clock: Clock, disk: number): Promise<number> {
  const parts: Buffer[] = []
  let length = 0
  for await (const bytes of decodedFile(path, clock)) {
    parts.push(Buffer.from(bytes))
    length += bytes.length
    if (length >= MIB) break
  }
  const { gpt, sectorSize } = readGptHead(path, Buffer.concat(parts).subarray(0, MIB))
  const needed = neededBy(gpt, sectorSize)
  if (needed > disk)
    throw new UserError(
      'disk-too-small',
      `the image ${path} needs a disk of ${needed} bytes, and this one has ${disk}`,
      {
        remedy: ERRORS['disk-too-small'].remedy,
        kind: 'usage',
      },
    )
  return needed + MIB
}

/** Bytes up to the end of a partition table's disk, the backup table included. */
const neededBy = (gpt: Gpt, sectorSize: number): number =>
  Math.max((gpt.backupLba + 1) * sectorSize, ...gpt.partitions.map((part) => part.offset + part.length))

async function glanceWhole(path: string, clock: Clock, largest: number): Promise<ImageSample> {
  const image = await imageCache.load(path, clock, largest)
  const head = await readContents(image, 0, MIB)
  const starts = new Map<number, Buffer>()
  for (const { number, offset } of partitionsOf(head))
    starts.set(number, await readContents(image, offset, SUPERBLOCK_AREA_BYTES))
  return { compression: image.compression, fileSize: image.compressedLength, size: image.size, head, starts }
}

/** Reads until every partition's start was seen, or to the end when the size is not known otherwise. */
async function sampleStream(
  path: string,
  {
    compression,
    fileSize,
    knownSize,
    largest,
  }: { compression: Compression; fileSize: number; knownSize: number | undefined; largest: number },
  clock: Clock,
): Promise<ImageSample> {
  const parts: Buffer[] = []
  let wanted: readonly GptPartition[] | undefined
  const starts = new Map<number, Buffer>()
  let at = 0
  for await (const bytes of decodedFile(path, clock)) {
    if (at < MIB) parts.push(Buffer.from(bytes))
    const end = at + bytes.length
    if (end >= MIB) wanted ??= partitionsOf(Buffer.concat(parts))
    for (const { number, offset } of wanted ?? []) {
      const start = starts.get(number) ?? Buffer.alloc(SUPERBLOCK_AREA_BYTES)
      const from = Math.max(at, offset)
      const to = Math.min(end, offset + SUPERBLOCK_AREA_BYTES)
      if (from < to) start.set(bytes.subarray(from - at, to - at), from - offset)
      starts.set(number, start)
    }
    at = end
    const seen = wanted?.every(({ offset, name }) => offset + SUPERBLOCK_AREA_BYTES <= at || name === 'root') ?? false
    if (seen && knownSize !== undefined) break
    if (at > largest && compression !== 'raw') throw new ImageTooLarge(largest)
  }
  const head = Buffer.concat(parts).subarray(0, MIB)
  return { compression, fileSize, size: knownSize ?? at, head, starts }
}

function partitionsOf(head: Buffer): GptPartition[] {
  const sectorSize = gptSectorSize(head)
  if (sectorSize === undefined) return []
  try {
    return parseGpt(head, sectorSize).partitions
  } catch (error) {
    if (error instanceof NotAGpt) return []
    throw error
  }
}

function readGptHead(path: string, head: Buffer): { gpt: Gpt; sectorSize: 512 | 4096 } {
  const sectorSize = gptSectorSize(head)
  const remedy = 'name a CoreOS metal image: .raw, or .raw.xz, .raw.gz, .raw.zst'
  if (sectorSize === undefined) {
    const kind = otherKind(head)
    throw new UserError(
      'image-not-a-disk',
      kind ? `${path} is ${kind}, not a metal image` : `${path} is not a disk image: it has no GPT partition table`,
      { remedy },
    )
  }
  try {
    return { gpt: parseGpt(head, sectorSize), sectorSize }
  } catch (cause) {
    if (!(cause instanceof NotAGpt)) throw cause
    throw new UserError('image-not-a-disk', `the partition table of ${path} is damaged: ${cause.message}`, {
      remedy,
      cause,
    })
  }
}

function otherKind(head: Buffer): string | undefined {
  if (head.toString('latin1', 32769, 32774) === 'CD001') return 'an ISO image'
  if (head.toString('latin1', 0, 3) === 'QFI') return 'a qcow2 image'
  if (head.toString('latin1', 0, 4) === 'KDMV') return 'a VMDK image'
  return undefined
}

/** Refuses trailing data, except zeros, which are padding. */
async function refuseJunk(path: string, from: number, clock: Clock): Promise<void> {
  const source = await fileSource(path, clock)
  try {
    let at = 0
    for (let bytes = await source.next(); bytes; bytes = await source.next()) {
      const behind = bytes.subarray(Math.min(bytes.length, Math.max(0, from - at)))
      if (behind.some((byte) => byte !== 0)) throw trailing(path)
      at += bytes.length
    }
  } finally {
    await source[Symbol.asyncDispose]()
  }
}

const trailing = (path: string, cause?: unknown): UserError =>
  new UserError('image-trailing-data', `the image ${path} is followed by bytes that do not belong to it`, {
    remedy: 'download it again, and compare its checksum',
    cause,
  })

function explained(path: string, error: unknown): unknown {
  const remedy = 'download it again, and compare its checksum'
  if (error instanceof ImageTooLarge) return trailing(path, error)
  if (error instanceof DecodeError) {
    if (error.message === TRAILING_DATA) return trailing(path, error)
    const truncated = /truncated|premature EOF|unexpected end|incomplete/.test(error.message)
    return truncated
      ? new UserError('image-truncated', `the image ${path} is truncated: ${error.message}`, { remedy, cause: error })
      : new UserError('image-corrupt', `the image ${path} is damaged: ${error.message}`, { remedy, cause: error })
  }
  if (error instanceof Error && 'code' in error && !(error instanceof UserError))
    return new UserError('image-unreadable', `the image ${path} cannot be read: ${error.message}`, {
      remedy: ERRORS['image-unreadable'].remedy,
      cause: error,
      kind: 'usage',
    })
  return error
}
