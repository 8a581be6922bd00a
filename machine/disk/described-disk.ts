import type { SimulatedDisk } from './block-device.js'
import { DiskError } from './disk-error.js'
import { bufferOf, isZero } from '../../base/bytes/index.js'
import { copyPart, PAGE, storedPage, type StoredPage, ZERO_PAGE } from './stored-page.js'

export { PAGE }

/** Contents of an image in pages of {@link PAGE} bytes; shared by every disk that it was written to. */
export interface ImageContents {
  readonly size: number
  /** Pages in memory that are not all zero, by index. They are never changed. */
  readonly pages: ReadonlyMap<number, Uint8Array>
  /** True if a page that is not in memory may have contents: {@link reload} then reads it from the file. */
  mustReload(page: number): boolean
  /** Reads contents that are not in memory. Rejects when the image has changed or was removed. */
  reload(offset: number, length: number): Promise<Uint8Array>
}

/** Contents of a described disk at one moment. Nothing changes them. */
export interface DiskState {
  readonly pages: ReadonlyMap<number, StoredPage>
  readonly adopted: readonly Readonly<Adopted>[]
  readonly revision: number
}

/** A described disk, whose contents can be taken and put back without copying them. */
export interface DescribedDevice extends AdoptingDevice {
  revision(): number
  /** Undefined for a disk that nothing was ever written to. */
  take(): DiskState | undefined
  /** Without a state, the disk is as new. */
  restore(state: DiskState | undefined): void
}

/** A disk in memory, which can adopt a range of an image at the same offset, without copying its bytes. */
export interface AdoptingDevice extends SimulatedDisk {
  revision(): number | undefined
  /** @throws DiskError ENOSPC when the range ends past the end of the disk; the part that fits is adopted */
  adopt(offset: number, length: number, image: ImageContents): Promise<void>
}

export const canAdopt = (device: SimulatedDisk): device is AdoptingDevice =>
  'adopt' in device && device.adopt !== undefined

interface Adopted {
  start: number
  end: number
  image: ImageContents
}

/**
 * A disk in memory: a page exists once it was written; ranges adopted from an image share the image's pages until they
 * are written to. A thousand installed disks so need memory only for their differences.
 *
 * @param changing called before its contents change
 */
export function describedDisk(
  options: { name: string; size: number; sectorSize: number },
  changing: () => void = () => {},
): DescribedDevice {
  return new DescribedDisk(options.name, options.size, options.sectorSize, changing)
}

/** Contents of all disks that nothing was ever written to: those of thousands of machines would be megabytes. */
const NO_PAGES: ReadonlyMap<number, StoredPage> = new Map()
const NONE_ADOPTED: readonly Adopted[] = []

class DescribedDisk implements DescribedDevice {
  /** Written pages. They have precedence over adopted ones. Copied before the next change while others have them too. */
  #pages: Map<number, StoredPage> = NO_PAGES as Map<number, StoredPage>
  #isShared = true
  /** Adopted ranges by page index, without overlaps, in no order. */
  #adopted = NONE_ADOPTED as Adopted[]
  #revision = 0

  constructor(
    readonly name: string,
    readonly size: number,
    readonly sectorSize: number,
    private readonly changing: () => void,
  ) {}

  read(offset: number, length: number): Promise<Uint8Array> {
    const end = Math.max(offset, Math.min(this.size, offset + length))
    const out = Buffer.alloc(end - offset)
    return this.#copy(out, offset, offset)?.then(() => out) ?? Promise.resolve(out)
  }

  /** Copies contents from `start` on into a buffer whose first byte is at `offset`; a promise if pages are not in memory. */
  #copy(out: Buffer, offset: number, start: number): Promise<void> | undefined {
    const end = offset + out.length
    for (let at = start; at < end;) {
      const page = Math.floor(at / PAGE)
      const next = Math.min(end, (page + 1) * PAGE)
      const from = at - page * PAGE
      const to = next - page * PAGE
      const place = at - offset
      const written = this.#pages.get(page)
      if (written) copyPart(written, from, to, out, place)
      else {
        const bytes = this.#fromImage(page)
        if (bytes instanceof Promise)
          return bytes.then((contents) => {
            out.set(contents.subarray(from, to), place)
            return this.#copy(out, offset, next)
          })
        if (bytes) out.set(bytes.subarray(from, to), place)
      }
      at = next
    }
    return undefined
  }

  take(): DiskState | undefined {
    if (this.#revision === 0) return undefined
    this.#isShared = true
    return { pages: this.#pages, adopted: this.#adopted.map((range) => ({ ...range })), revision: this.#revision }
  }

  restore(state: DiskState | undefined): void {
    this.#pages = (state?.pages ?? NO_PAGES) as Map<number, StoredPage>
    this.#isShared = true
    this.#adopted = (state?.adopted ?? NONE_ADOPTED).map((range) => ({ ...range }))
    this.#revision = state?.revision ?? 0
  }

  async write(offset: number, bytes: Uint8Array): Promise<void> {
    this.#change()
    const fitting = Math.max(0, Math.min(bytes.length, this.size - offset))
    const buffer = bufferOf(bytes)
    for (let at = 0; at < fitting;) {
      const page = Math.floor((offset + at) / PAGE)
      const from = offset + at - page * PAGE
      const length = Math.min(PAGE - from, fitting - at)
      const part = buffer.subarray(at, at + length)
      if (length === PAGE) this.#put(page, isZero(part) ? undefined : storedPage(part))
      else {
        const contents = Buffer.alloc(PAGE)
        const written = this.#pages.get(page)
        if (written) copyPart(written, 0, PAGE, contents, 0)
        else contents.set((await this.#fromImage(page)) ?? [])
        contents.set(part, from)
        this.#put(page, storedPage(contents))
      }
      at += length
    }
    if (fitting < bytes.length) throw new DiskError('ENOSPC', this.name, offset + fitting)
  }

  async discard(offset: number, length: number): Promise<void> {
    this.#change()
    const end = Math.min(this.size, offset + length)
    const first = Math.ceil(offset / PAGE)
    const last = Math.floor(end / PAGE)
    if (first >= last) return this.write(offset, Buffer.alloc(Math.max(0, end - offset)))
    this.#forget(first, last)
    await this.write(offset, Buffer.alloc(first * PAGE - offset))
    await this.write(last * PAGE, Buffer.alloc(end - last * PAGE))
  }

  async adopt(offset: number, length: number, image: ImageContents): Promise<void> {
    this.#change()
    const end = Math.min(this.size, offset + length)
    const first = Math.ceil(offset / PAGE)
    const last = Math.floor(end / PAGE)
    if (first < last) {
      this.#forget(first, last)
      const before = this.#adopted.at(-1)
      if (before?.image === image && before.end === first) before.end = last
      else this.#adopted.push({ start: first, end: last, image })
    }
    const edges =
      first < last ? [[offset, first * PAGE] as const, [last * PAGE, end] as const] : [[offset, end] as const]
    for (const [from, to] of edges) if (from < to) await this.write(from, await readContents(image, from, to - from))
    if (end < offset + length) throw new DiskError('ENOSPC', this.name, end)
  }

  revision(): number {
    return this.#revision
  }

  flush(): Promise<void> {
    return Promise.resolve()
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#pages = NO_PAGES as Map<number, StoredPage>
    this.#isShared = true
    this.#adopted = []
    return Promise.resolve()
  }

  #change(): void {
    this.#revision++
    this.changing()
    if (!this.#isShared) return
    this.#pages = new Map(this.#pages)
    this.#adopted = [...this.#adopted]
    this.#isShared = false
  }

  #put(page: number, contents: StoredPage | undefined): void {
    if (contents) this.#pages.set(page, contents)
    else if (this.#imageOf(page)) this.#pages.set(page, ZERO_PAGE)
    else this.#pages.delete(page)
  }

  #imageOf(page: number): ImageContents | undefined {
    return this.#adopted.find((range) => page >= range.start && page < range.end)?.image
  }

  #fromImage(page: number): Uint8Array | undefined | Promise<Uint8Array> {
    const image = this.#imageOf(page)
    if (!image) return undefined
    return image.pages.get(page) ?? (image.mustReload(page) ? image.reload(page * PAGE, PAGE) : undefined)
  }

  /** Makes whole pages read as zeros. */
  #forget(first: number, last: number): void {
    if (this.#pages.size < last - first) {
      for (const page of this.#pages.keys()) if (page >= first && page < last) this.#pages.delete(page)
    } else for (let page = first; page < last; page++) this.#pages.delete(page)
    this.#adopted = this.#adopted.flatMap((range) =>
      range.end <= first || range.start >= last
        ? [range]
        : [
            { ...range, end: Math.min(range.end, first) },
            { ...range, start: Math.max(range.start, last) },
          ].filter(({ start, end }) => start < end),
    )
  }
}

/** Bytes of a range of an image. */
export async function readContents(image: ImageContents, offset: number, length: number): Promise<Buffer> {
  const end = Math.min(image.size, offset + length)
  const out = Buffer.alloc(Math.max(0, end - offset))
  for (let at = offset; at < end;) {
    const page = Math.floor(at / PAGE)
    const next = Math.min(end, (page + 1) * PAGE)
    const bytes = image.pages.get(page) ?? (image.mustReload(page) ? await image.reload(page * PAGE, PAGE) : undefined)
    if (bytes) out.set(bytes.subarray(at - page * PAGE, next - page * PAGE), at - offset)
    at = next
  }
  return out
}
