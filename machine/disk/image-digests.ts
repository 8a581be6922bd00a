import { createHash, type Hash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { hasXzProgram, readXzIndex, unxzByProgram } from '../../base/bytes/index.js'
import { MIB, type Clock } from '../../base/runtime/index.js'
import type { SimulatedDisk } from './block-device.js'
import { bootRange, forgetDisk } from './image-blocks.js'

interface Digests {
  /** The first block of a MiB: which of its bytes belong to the disk depends on the disk's sectors. */
  first: Buffer
  /** Digests of all further blocks. */
  others: Buffer[]
  /** Bytes. */
  size: number
}

/**
 * Reads an image while it is installed, so that the disk can be compared with it right afterwards: to decompress it takes
 * as long as the installation. Only for images that the xz of this computer decompresses, which leaves the processors to
 * the installer: this process, which serves the image meanwhile, could not.
 */
export class ImageDigests implements AsyncDisposable {
  readonly #read: Promise<Digests | null>
  readonly #stop = new AbortController()

  /** @param path raw or compressed */
  constructor(path: string, clock: Clock) {
    this.#read = this.#digests(path, clock).catch(() => null)
  }

  /**
   * Compares a disk with the image, as {@link compareWithImage} does.
   *
   * @param path the file of the disk, read into one buffer: a new one a block would be 30 MiB of garbage at a time
   * @returns the bytes of the image; null when they differ outside the boot filesystem, or the image was not read: comparing
   *   with the image itself shows where and why
   */
  async equalOn(device: SimulatedDisk, path: string): Promise<number | null> {
    const image = await this.#read
    if (image === null) return null
    const boot = await bootRange(device)
    const first = Buffer.from(await device.read(0, image.first.length))
    const expected = Buffer.from(image.first)
    for (const bytes of [first, expected]) forgetDisk(bytes, device.sectorSize)
    if (!first.equals(expected)) return null
    await using file = await open(path)
    const buffer = Buffer.alloc(MIB)
    for (const [n, digest] of image.others.entries()) {
      const offset = (n + 1) * MIB
      const length = Math.min(MIB, image.size - offset)
      if (offset >= boot.from && offset + length <= boot.to) continue
      const { bytesRead } = await file.read(buffer, 0, length, offset)
      if (!newDigest().update(buffer.subarray(0, bytesRead)).digest().equals(digest)) return null
    }
    return image.size
  }

  /** Takes the pieces as they come: joining them to blocks would double the memory of this process. */
  async #digests(path: string, clock: Clock): Promise<Digests | null> {
    if (!(await readXzIndex(path, clock)) || !(await hasXzProgram(clock))) return null
    const { signal } = this.#stop
    const first = Buffer.alloc(MIB)
    const others: Buffer[] = []
    let block: Hash = newDigest()
    let size = 0
    for await (const piece of unxzByProgram(path, clock, () => {}, { background: true, signal })) {
      for (let at = 0; at < piece.length;) {
        const part = piece.subarray(at, at + MIB - (size % MIB))
        if (size < MIB) first.set(part, size)
        else block.update(part)
        at += part.length
        size += part.length
        if (size % MIB > 0 || size === MIB) continue
        others.push(block.digest())
        block = newDigest()
      }
    }
    if (size > MIB && size % MIB > 0) others.push(block.digest())
    return { first: first.subarray(0, size), others, size }
  }

  /** Stops reading. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#read
  }
}

/** Half the processor time of SHA-256 on a processor without instructions for that. */
const newDigest = (): Hash => createHash('blake2b512')
