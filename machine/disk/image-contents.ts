import { stat } from 'node:fs/promises'
import { held, type Clock } from '../../runtime/index.js'
import { bufferOf, type Compression, counted, decompress, fileSource, isZero, sniff } from '../../bytes/index.js'
import { PAGE, type ImageContents } from './described-disk.js'
import { gptSectorSize, NotAGpt, parseGpt } from './gpt.js'

const MIB = 1024 * 1024
/** Non-zero bytes of one image that are kept besides its structures. */
const BULK = 64 * MIB
/** And of its structures: a boot filesystem has some hundred MiB, a damaged table can claim any number. */
const STRUCTURES = 128 * MIB
/** Images kept at a time, and bytes of them all. */
const IMAGES = 8
const SHELF = 96 * MIB

/** An image has more bytes than it was read for. */
export class ImageTooLarge extends Error {
  override name = 'ImageTooLarge'

  constructor(readonly largest: number) {
    super(`more than ${largest} bytes`)
  }
}

/** An image that was decompressed once, as far as it is worth keeping. */
export interface LoadedImage extends ImageContents {
  readonly compression: Compression
  readonly compressedLength: number
  /** Runs of neighbouring kept pages, ascending. */
  readonly runs: readonly { offset: number; bytes: Buffer }[]
  /** Whether every byte is kept. */
  readonly whole: boolean
  /** Bytes in memory. */
  readonly kept: number
}

/**
 * Images by file, so that a thousand machines installed from one file decompress it once. A file that was written to
 * since is read again. Two that ask at the same time share the work.
 */
class ImageShelf {
  readonly #images = new Map<string, Promise<LoadedImage>>()

  /**
   * @param largest bytes that the image may have, decompressed; it is not read further
   * @throws DecodeError; ImageTooLarge; the file system's errors
   */
  async load(path: string, clock: Clock, largest = Infinity): Promise<LoadedImage> {
    const key = await identity(path, clock)
    const known = this.#images.get(key)
    this.#images.delete(key)
    const image = known ?? held(clock, `reading the image ${path}`, () => loadImage(path, key, clock, largest))
    this.#images.set(key, image)
    try {
      const { size } = await image
      await this.#makeRoom()
      if (size > largest) throw new ImageTooLarge(largest)
      return await image
    } catch (error) {
      if (!(error instanceof ImageTooLarge && error.largest < largest)) {
        if (this.#images.get(key) === image && !(await settled(image))) this.#images.delete(key)
        throw error
      }
      // Another was content with less of it.
      this.#images.delete(key)
      return this.load(path, clock, largest)
    }
  }

  /** Drops the images that were not asked for the longest, but never the newest. */
  async #makeRoom(): Promise<void> {
    const entries = await Promise.all(
      [...this.#images].map(async ([key, image]) => [key, (await settled(image))?.kept ?? 0] as const),
    )
    let left = entries.length
    let kept = entries.reduce((sum, [, bytes]) => sum + bytes, 0)
    for (const [key, bytes] of entries.slice(0, -1)) {
      if (left <= IMAGES && kept <= SHELF) return
      this.#images.delete(key)
      left--
      kept -= bytes
    }
  }
}

/** What a promise has come to; undefined when it failed or is not done. */
const settled = (image: Promise<LoadedImage>): Promise<LoadedImage | undefined> =>
  Promise.race([image, Promise.resolve(undefined)]).catch(() => undefined)

/** The one that installations, checks and comparisons of this process share: files are what they are for everybody. */
export const imageShelf = new ImageShelf()

/** A compressed file up to this size is decompressed once for all, whatever is done with it. */
export const SMALL_IMAGE_FILE = 8 * MIB

const identity = (path: string, clock: Clock): Promise<string> =>
  held(clock, `looking at ${path}`, async () => {
    const { dev, ino, size, mtimeMs } = await stat(path)
    return [path, dev, ino, size, mtimeMs].join('\0')
  })

async function loadImage(path: string, key: string, clock: Clock, largest: number): Promise<LoadedImage> {
  const source = await fileSource(path, clock)
  try {
    const keeper = new Keeper()
    let compression: Compression = 'raw'
    let compressedLength = 0
    const input = counted(source, (position, bytes) => {
      if (compressedLength === 0 && bytes) compression = sniff(bytes)
      compressedLength = position
    })
    for await (const bytes of decompress(input, clock)) {
      keeper.add(bytes)
      if (keeper.size > largest) throw new ImageTooLarge(largest)
    }
    const { pages, size, forgetsFrom, forgetsStructuresFrom, structures } = keeper.finish()
    return {
      size,
      pages,
      compression,
      compressedLength,
      runs: [...runsOf(pages)],
      whole: forgetsFrom === Infinity && forgetsStructuresFrom === Infinity,
      kept: pages.size * PAGE,
      forgotten: (page) =>
        page >= (structures.some(({ from, to }) => page >= from && page < to) ? forgetsStructuresFrom : forgetsFrom),
      reload: (offset, length) => reload(path, key, offset, length, clock),
    }
  } finally {
    await source[Symbol.asyncDispose]()
  }
}

/** Keeps what is not zero: the first and last MiB and the boot partition always, the rest up to {@link BULK}. */
class Keeper {
  readonly #pages = new Map<number, Uint8Array>()
  readonly #head: Buffer[] = []
  #size = 0
  #partial: Buffer[] = []
  #partialLength = 0
  #bulk = 0
  #structures = 0
  #forgetsFrom = Infinity
  #forgetsStructuresFrom = Infinity
  /** The newest pages of what is not kept, for the image's end. */
  #tail: [number, Uint8Array][] = []
  #boot = { from: 0, to: 0 }

  get size(): number {
    return this.#size
  }

  add(bytes: Uint8Array): void {
    if (this.#size < MIB) this.#lookForBoot(bytes)
    this.#size += bytes.length
    this.#partial.push(bufferOf(bytes))
    this.#partialLength += bytes.length
    if (this.#partialLength < PAGE) return
    const all = this.#partial.length === 1 ? this.#partial[0]! : Buffer.concat(this.#partial)
    let page = Math.floor((this.#size - all.length) / PAGE)
    let at = 0
    for (; at + PAGE <= all.length; at += PAGE, page++) this.#page(page, all.subarray(at, at + PAGE))
    this.#partial = at < all.length ? [Buffer.from(all.subarray(at))] : []
    this.#partialLength = all.length - at
  }

  finish() {
    if (this.#partialLength > 0) {
      const last = Buffer.concat([...this.#partial, Buffer.alloc(PAGE - this.#partialLength)])
      this.#page(Math.floor(this.#size / PAGE), last)
    }
    for (const [page, bytes] of this.#tail) this.#pages.set(page, bytes)
    const end = Math.ceil(this.#size / PAGE)
    const lastMib = { from: Math.max(0, end - MIB / PAGE), to: end }
    return {
      pages: this.#pages,
      size: this.#size,
      forgetsFrom: this.#forgetsFrom,
      forgetsStructuresFrom: this.#forgetsStructuresFrom,
      structures: [{ from: 0, to: MIB / PAGE }, this.#boot, lastMib],
    }
  }

  #page(page: number, bytes: Buffer): void {
    if (isZero(bytes)) return
    const structure = page < MIB / PAGE || (page >= this.#boot.from && page < this.#boot.to)
    if (structure ? this.#structures < STRUCTURES : this.#bulk < BULK) {
      this.#pages.set(page, Buffer.from(bytes))
      if (structure) this.#structures += PAGE
      else this.#bulk += PAGE
      return
    }
    if (structure) this.#forgetsStructuresFrom = Math.min(this.#forgetsStructuresFrom, page)
    else this.#forgetsFrom = Math.min(this.#forgetsFrom, page)
    this.#tail.push([page, Buffer.from(bytes)])
    const kept = page - MIB / PAGE
    if (this.#tail.length > (2 * MIB) / PAGE) this.#tail = this.#tail.filter(([index]) => index > kept)
  }

  #lookForBoot(bytes: Uint8Array): void {
    this.#head.push(bufferOf(bytes))
    const head = Buffer.concat(this.#head)
    const sectorSize = gptSectorSize(head)
    if (sectorSize === undefined) return
    try {
      const boot = parseGpt(head, sectorSize).partitions.find(({ name }) => name === 'boot')
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

/** Decompresses again up to what is wanted: rare, since nobody reads the bulk of a described disk but to compare it. */
async function reload(path: string, key: string, offset: number, length: number, clock: Clock): Promise<Uint8Array> {
  if ((await identity(path, clock)) !== key)
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
