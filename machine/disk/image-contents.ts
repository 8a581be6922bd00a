import { stat } from 'node:fs/promises'
import { withWorkStopped, type Clock, MIB } from '../../base/runtime/index.js'
import {
  bufferOf,
  type Compression,
  countReads,
  decompress,
  fileSource,
  isZero,
  detectCompression,
} from '../../base/bytes/index.js'
import { PAGE, type ImageContents } from './described-disk.js'
import { gptSectorSize, NotAGpt, parseGpt } from './gpt.js'

/** Limit on the non-zero bytes of one image in memory, besides its structures. */
const MAX_IMAGE_BYTES = 64 * MIB
/** Limit on the bytes of its structures: a boot filesystem has some hundred MiB, but a damaged table can have any size. */
const MAX_STRUCTURE_BYTES = 128 * MIB
/** Limits of the cache: images, and bytes of them all. */
const MAX_CACHED_IMAGES = 8
const CACHE_BYTES = 96 * MIB

/** An image has more bytes than the caller's limit. */
export class ImageTooLarge extends Error {
  override name = 'ImageTooLarge'

  constructor(readonly largest: number) {
    super(`more than ${largest} bytes`)
  }
}

/** A decompressed image, with the parts that are worth holding in memory. */
export interface LoadedImage extends ImageContents {
  readonly compression: Compression
  readonly compressedLength: number
  /** Runs of consecutive pages in memory, ascending. */
  readonly runs: readonly { offset: number; bytes: Buffer }[]
  /** True if every byte is in memory. */
  readonly whole: boolean
  /** Bytes in memory. */
  readonly memory: number
}

/**
 * Cache of images by file, so that a thousand machines installed from one file decompress it once. A changed file is
 * read again. Concurrent calls for one file share the work.
 */
class ImageCache {
  readonly #images = new Map<string, Promise<LoadedImage>>()

  /**
   * @param largest limit on the decompressed bytes; the image is not read further
   * @throws DecodeError; ImageTooLarge; the file system's errors
   */
  async load(path: string, clock: Clock, largest = Infinity): Promise<LoadedImage> {
    const key = await fileIdentityOf(path, clock)
    const known = this.#images.get(key)
    this.#images.delete(key)
    const image =
      known ?? withWorkStopped(clock, `reading the image ${path}`, () => loadImage(path, key, clock, largest))
    this.#images.set(key, image)
    try {
      const { size } = await image
      await this.#makeRoom()
      if (size > largest) throw new ImageTooLarge(largest)
      return await image
    } catch (error) {
      if (!(error instanceof ImageTooLarge && error.largest < largest)) {
        if (this.#images.get(key) === image && !(await settledImage(image))) this.#images.delete(key)
        throw error
      }
      // Another call had a lower limit: read it again.
      this.#images.delete(key)
      return this.load(path, clock, largest)
    }
  }

  /** An image that was loaded before, unless its file has changed. */
  async loaded(path: string, clock: Clock): Promise<LoadedImage | undefined> {
    return this.#images.get(await fileIdentityOf(path, clock))?.catch(() => undefined)
  }

  /** Drops the least recently used images, but never the newest. */
  async #makeRoom(): Promise<void> {
    const entries = await Promise.all(
      [...this.#images].map(async ([key, image]) => [key, (await settledImage(image))?.memory ?? 0] as const),
    )
    let left = entries.length
    let memory = entries.reduce((sum, [, bytes]) => sum + bytes, 0)
    for (const [key, bytes] of entries.slice(0, -1)) {
      if (left <= MAX_CACHED_IMAGES && memory <= CACHE_BYTES) return
      this.#images.delete(key)
      left--
      memory -= bytes
    }
  }
}

/** The result of a promise; undefined when it failed or is pending. */
const settledImage = (image: Promise<LoadedImage>): Promise<LoadedImage | undefined> =>
  Promise.race([image, Promise.resolve(undefined)]).catch(() => undefined)

/** The cache of this process, shared by installations, checks and comparisons. */
export const imageCache = new ImageCache()

/** Size up to which a compressed file is decompressed whole and cached. */
export const MAX_CACHED_FILE_BYTES = 8 * MIB

const fileIdentityOf = (path: string, clock: Clock): Promise<string> =>
  withWorkStopped(clock, `looking at ${path}`, async () => {
    const { dev, ino, size, mtimeMs } = await stat(path)
    return [path, dev, ino, size, mtimeMs].join('\0')
  })

async function loadImage(path: string, key: string, clock: Clock, largest: number): Promise<LoadedImage> {
  const source = await fileSource(path, clock)
  try {
    const keeper = new PageCollector()
    let compression: Compression = 'raw'
    let compressedLength = 0
    const input = countReads(source, (position, bytes) => {
      if (compressedLength === 0 && bytes) compression = detectCompression(bytes)
      compressedLength = position
    })
    for await (const bytes of decompress(input, clock)) {
      keeper.add(bytes)
      if (keeper.size > largest) throw new ImageTooLarge(largest)
    }
    const { pages, size, droppedFrom, droppedStructuresFrom, structures } = keeper.finish()
    return {
      size,
      pages,
      compression,
      compressedLength,
      runs: [...runsOf(pages)],
      whole: droppedFrom === Infinity && droppedStructuresFrom === Infinity,
      memory: pages.size * PAGE,
      mustReload: (page) =>
        page >= (structures.some(({ from, to }) => page >= from && page < to) ? droppedStructuresFrom : droppedFrom),
      reload: (offset, length) => reload(path, key, offset, length, clock),
    }
  } finally {
    await source[Symbol.asyncDispose]()
  }
}

/** Collects pages that are not zero: the first and last MiB, the boot partition, and the rest up to {@link MAX_IMAGE_BYTES}. */
class PageCollector {
  readonly #pages = new Map<number, Uint8Array>()
  /** The image so far, until its partition table was read. */
  #head: Buffer[] | null = []
  #size = 0
  /** The beginning of a page whose end is in the next chunk. */
  readonly #partial = Buffer.alloc(PAGE)
  #partialLength = 0
  #bulk = 0
  #structures = 0
  #droppedFrom = Infinity
  #droppedStructuresFrom = Infinity
  /** The latest dropped pages, since the last MiB is known only at the end. */
  #tail: [number, Uint8Array][] = []
  #boot = { from: 0, to: 0 }

  get size(): number {
    return this.#size
  }

  /** Only pages that stay in memory are copied: an image has thousands of chunks, and most of its pages are zero. */
  add(bytes: Uint8Array): void {
    if (this.#size < MIB) this.#lookForBoot(bytes)
    const chunk = bufferOf(bytes)
    let at = 0
    if (this.#partialLength > 0) {
      at = chunk.copy(this.#partial, this.#partialLength)
      this.#partialLength += at
      if (this.#partialLength < PAGE) return void (this.#size += chunk.length)
      this.#page(Math.floor(this.#size / PAGE), this.#partial)
    }
    for (; at + PAGE <= chunk.length; at += PAGE) this.#page((this.#size + at) / PAGE, chunk.subarray(at, at + PAGE))
    this.#partialLength = chunk.copy(this.#partial, 0, at)
    this.#size += chunk.length
  }

  finish() {
    if (this.#partialLength > 0) this.#page(Math.floor(this.#size / PAGE), this.#partial.fill(0, this.#partialLength))
    for (const [page, bytes] of this.#tail) this.#pages.set(page, bytes)
    const end = Math.ceil(this.#size / PAGE)
    const lastMib = { from: Math.max(0, end - MIB / PAGE), to: end }
    return {
      pages: this.#pages,
      size: this.#size,
      droppedFrom: this.#droppedFrom,
      droppedStructuresFrom: this.#droppedStructuresFrom,
      structures: [{ from: 0, to: MIB / PAGE }, this.#boot, lastMib],
    }
  }

  #page(page: number, bytes: Buffer): void {
    if (isZero(bytes)) return
    const structure = page < MIB / PAGE || (page >= this.#boot.from && page < this.#boot.to)
    if (structure ? this.#structures < MAX_STRUCTURE_BYTES : this.#bulk < MAX_IMAGE_BYTES) {
      this.#pages.set(page, Buffer.from(bytes))
      if (structure) this.#structures += PAGE
      else this.#bulk += PAGE
      return
    }
    if (structure) this.#droppedStructuresFrom = Math.min(this.#droppedStructuresFrom, page)
    else this.#droppedFrom = Math.min(this.#droppedFrom, page)
    this.#tail.push([page, Buffer.from(bytes)])
    const tailStart = page - MIB / PAGE
    if (this.#tail.length > (2 * MIB) / PAGE) this.#tail = this.#tail.filter(([index]) => index > tailStart)
  }

  #lookForBoot(bytes: Uint8Array): void {
    if (this.#head === null) return
    this.#head.push(bufferOf(bytes))
    const head = Buffer.concat(this.#head)
    const sectorSize = gptSectorSize(head)
    if (sectorSize === undefined) return
    try {
      const boot = parseGpt(head, sectorSize).partitions.find(({ name }) => name === 'boot')
      this.#head = null
      if (boot) this.#boot = { from: Math.floor(boot.offset / PAGE), to: Math.ceil((boot.offset + boot.length) / PAGE) }
    } catch (error) {
      if (!(error instanceof NotAGpt)) throw error
    }
  }
}

function* runsOf(pages: ReadonlyMap<number, Uint8Array>): Generator<{ offset: number; bytes: Buffer }> {
  let run: Uint8Array[] = []
  let next = -1
  const take = () => ({ offset: (next - run.length) * PAGE, bytes: Buffer.concat(run) })
  for (const page of [...pages.keys()].sort((a, b) => a - b)) {
    if (run.length > 0 && (page !== next || run.length * PAGE >= MIB)) {
      yield take()
      run = []
    }
    run.push(pages.get(page)!)
    next = page + 1
  }
  if (run.length > 0) yield take()
}

/** Decompresses the image again up to the range. Rare: only comparisons read the bulk of a described disk. */
async function reload(path: string, key: string, offset: number, length: number, clock: Clock): Promise<Uint8Array> {
  if ((await fileIdentityOf(path, clock)) !== key)
    throw new Error(`${path} has changed since a disk was installed from it: its bytes cannot be read back`)
  const source = await fileSource(path, clock)
  try {
    const out = Buffer.alloc(length)
    let at = 0
    for await (const bytes of decompress(source, clock)) {
      const from = Math.max(at, offset)
      const to = Math.min(at + bytes.length, offset + length)
      if (from < to) out.set(bytes.subarray(from - at, to - at), from - offset)
      at += bytes.length
      if (at >= offset + length) break
    }
    return out
  } finally {
    await source[Symbol.asyncDispose]()
  }
}
