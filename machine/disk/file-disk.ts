import { constants, ftruncateSync, readSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { withWorkStopped, isDiskFull, type Clock } from '../../base/runtime/index.js'
import type { SimulatedDisk } from './block-device.js'
import { DiskError } from './disk-error.js'
import { bufferOf, isZero, zeroRuns } from '../../base/bytes/index.js'

/** Bytes for which one flag records whether there may be data. */
const CHUNK = 1024 * 1024

/** Most bytes that are read without a thread: handing a piece of this size to one takes longer than reading it. */
const MAX_SYNC_READ_BYTES = 16 * 1024

export interface FileDiskOptions {
  /** The sparse file that holds the disk's bytes. */
  path: string
  /** Kernel name: `sda`. */
  name: string
  /** 512 or 4096. */
  sectorSize: number
  clock: Clock
  /** True if {@link SimulatedDisk.flush} syncs the file, so that writes survive a crash of the host. */
  durable?: boolean
  /**
   * True if the file may be truncated and extended again, which empties it at once. A process that is killed in between
   * leaves a shorter file, so the caller must know its length.
   */
  mayCut?: boolean
  /**
   * Called when the file system of the file is full; the write then fails with EIO, as on a thin volume without space.
   * Without it the write fails with the error itself.
   */
  hostIsFull?: (error: unknown) => void
}

/**
 * Makes a disk of `size` zero bytes in a new sparse file.
 *
 * @throws an error with code EEXIST when the file exists
 */
export const createFileDisk = (options: FileDiskOptions & { size: number }): Promise<SimulatedDisk> =>
  withWorkStopped(options.clock, `creating the disk file ${options.path}`, async () => {
    const handle = await open(options.path, 'wx+', 0o600)
    try {
      await handle.truncate(options.size)
    } catch (error) {
      await handle.close()
      throw error
    }
    return new FileDisk(handle, options, options.size, true)
  })

/** Opens a disk that {@link createFileDisk} made, or any raw disk file; the file's length is the disk's size. */
export const openFileDisk = (options: FileDiskOptions & { readOnly?: boolean }): Promise<SimulatedDisk> =>
  withWorkStopped(options.clock, `opening the disk file ${options.path}`, async () => {
    const handle = await open(options.path, options.readOnly ? 'r' : 'r+')
    try {
      const { size, blocks } = await handle.stat()
      return new FileDisk(handle, options, size, blocks === 0)
    } catch (error) {
      await handle.close()
      throw error
    }
  })

/**
 * Opens a true block device, whose size its file does not say. What it has is unknown, so zeros are written too; the kernel
 * refuses to open one that is mounted or otherwise in use.
 */
export const openBlockDevice = (options: FileDiskOptions & { size: number }): Promise<SimulatedDisk> =>
  withWorkStopped(options.clock, `opening ${options.path}`, async () => {
    const handle = await open(options.path, constants.O_RDWR | constants.O_EXCL)
    return new FileDisk(handle, { ...options, durable: true }, options.size, false)
  })

/** A disk in a file. Zeros are not written where the file is empty, so that it stays sparse. */
class FileDisk implements SimulatedDisk {
  readonly name: string
  readonly size: number
  readonly sectorSize: number
  readonly #handle: FileHandle
  readonly #clock: Clock
  readonly #durable: boolean
  readonly #mayCut: boolean
  readonly #hostIsFull: FileDiskOptions['hostIsFull']
  /** Flag of each chunk: 1 when the file may have data there. */
  readonly #used: Uint8Array
  #closed: Promise<void> | undefined

  constructor(handle: FileHandle, options: FileDiskOptions, size: number, fresh: boolean) {
    this.name = options.name
    this.size = size
    this.sectorSize = options.sectorSize
    this.#handle = handle
    this.#clock = options.clock
    this.#durable = options.durable ?? false
    this.#mayCut = options.mayCut ?? false
    this.#hostIsFull = options.hostIsFull
    this.#used = new Uint8Array(Math.ceil(size / CHUNK)).fill(fresh ? 0 : 1)
  }

  read(offset: number, length: number): Promise<Uint8Array> {
    const wanted = Math.max(0, Math.min(length, this.size - offset))
    const buffer = Buffer.allocUnsafe(wanted)
    return withWorkStopped(this.#clock, `reading ${this.name}`, async () => {
      let filled = 0
      while (filled < wanted) {
        const bytesRead = await this.#readPart(buffer, filled, offset + filled)
        // Past the end of a file that is being truncated.
        if (bytesRead === 0) {
          buffer.fill(0, filled)
          break
        }
        filled += bytesRead
      }
      return buffer
    })
  }

  /** Reads into the rest of a buffer; returns how many bytes came. */
  async #readPart(buffer: Buffer, filled: number, offset: number): Promise<number> {
    const length = buffer.length - filled
    const { fd } = this.#handle
    // A closed file has none, and answers with an error of its own.
    if (length <= MAX_SYNC_READ_BYTES && fd >= 0) return readSync(fd, buffer, filled, length, offset)
    return (await this.#handle.read(buffer, filled, length, offset)).bytesRead
  }

  write(offset: number, bytes: Uint8Array): Promise<void> {
    return withWorkStopped(this.#clock, `writing ${this.name}`, async () => {
      const fitting = Math.max(0, Math.min(bytes.length, this.size - offset))
      for (const run of zeroRuns(offset, bytes.subarray(0, fitting))) {
        if (!run.zero) this.#mark(run.offset, run.bytes.length)
        else if (this.#untouched(run.offset, run.bytes.length)) continue
        await this.#put(run.offset, run.bytes)
      }
      // As a kernel does, write the bytes that fit before the error.
      if (fitting < bytes.length) throw new DiskError('ENOSPC', this.name, offset + fitting)
    })
  }

  discard(offset: number, length: number): Promise<void> {
    return withWorkStopped(this.#clock, `discarding on ${this.name}`, async () => {
      const end = Math.min(this.size, offset + length)
      if (this.#cut(offset, end)) return
      for (let at = offset; at < end;) {
        const next = Math.min(end, at + CHUNK - (at % CHUNK))
        if (!this.#untouched(at, next - at)) {
          const old = await this.read(at, next - at)
          if (!isZero(old)) await this.#put(at, Buffer.alloc(next - at))
          if (next - at === CHUNK || (at % CHUNK === 0 && next === this.size)) this.#used[at / CHUNK] = 0
        }
        at = next
      }
    })
  }

  flush(): Promise<void> {
    if (!this.#durable) return Promise.resolve()
    return withWorkStopped(this.#clock, `flushing ${this.name}`, () => this.#handle.datasync())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closed ??= withWorkStopped(this.#clock, `closing ${this.name}`, () => this.#handle.close()))
  }

  /** Truncates the file at `offset`, when there is no data after `end`. */
  #cut(offset: number, end: number): boolean {
    const behind = end === this.size ? this.#used.length : Math.floor(end / CHUNK)
    if (!this.#mayCut || this.#untouched(offset, end - offset) || this.#used.includes(1, behind)) return false
    // Both calls at once, so that the file is short for as little time as possible.
    ftruncateSync(this.#handle.fd, offset)
    ftruncateSync(this.#handle.fd, this.size)
    this.#used.fill(0, Math.ceil(offset / CHUNK))
    return true
  }

  async #put(offset: number, bytes: Uint8Array): Promise<void> {
    const buffer = bufferOf(bytes)
    let written = 0
    try {
      while (written < buffer.length)
        written += (await this.#handle.write(buffer, written, buffer.length - written, offset + written)).bytesWritten
    } catch (error) {
      if (!this.#hostIsFull || !isDiskFull(error)) throw error
      this.#hostIsFull(error)
      throw new DiskError('EIO', this.name, offset + written)
    }
  }

  #mark(offset: number, length: number): void {
    this.#used.fill(1, Math.floor(offset / CHUNK), Math.ceil((offset + length) / CHUNK))
  }

  #untouched(offset: number, length: number): boolean {
    const last = Math.ceil((offset + length) / CHUNK)
    for (let chunk = Math.floor(offset / CHUNK); chunk < last; chunk++) if (this.#used[chunk]) return false
    return true
  }
}
