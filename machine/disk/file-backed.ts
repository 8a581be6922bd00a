import { rm, stat, truncate } from 'node:fs/promises'
import { dirname } from 'node:path'
import {
  during,
  withClockHeld,
  withWorkStopped,
  makeFolder,
  UserError,
  standsStill,
  type Clock,
  Mutex,
} from '../../base/runtime/index.js'
import type { DiskSpec } from '../machine-spec.js'
import type { SimulatedDisk } from './block-device.js'
import { DiskEdit, dropEdit, finishEdit } from './disk-edit.js'
import { createFileDisk, openFileDisk } from './file-disk.js'
import { ERRORS } from '../errors.js'

/** A disk in a file, opened at the first access, so that a thousand idle machines hold no descriptors. */
export class FileBacked implements SimulatedDisk {
  readonly name: string
  readonly size: number
  readonly sectorSize: number
  readonly #path: string | (() => Promise<string>)
  readonly #clock: Clock
  readonly #ours: boolean
  readonly #hostIsFull: (file: string) => void
  #opened: Promise<SimulatedDisk> | undefined
  /** Writes of the edit that is under way. */
  #edit: DiskEdit | undefined

  /** @param ours whether the file is in the state folder, where only ironstage writes */
  constructor(
    disk: DiskSpec,
    path: string | (() => Promise<string>),
    clock: Clock,
    { ours, hostIsFull }: { ours: boolean; hostIsFull: (file: string) => void },
  ) {
    this.name = disk.name
    this.size = disk.size
    this.sectorSize = disk.sectorSize
    this.#path = path
    this.#clock = clock
    this.#ours = ours
    this.#hostIsFull = hostIsFull
  }

  async path(): Promise<string> {
    return typeof this.#path === 'string' ? this.#path : this.#path()
  }

  async exists(): Promise<boolean> {
    const path = await this.path()
    return (await withWorkStopped(this.#clock, `looking for ${path}`, () => fileSize(path))) !== undefined
  }

  /** Removes the file while the machine does not use it. One of the user's own is left alone. */
  async remove(): Promise<void> {
    await this.close()
    if (!this.#ours) return
    const path = await this.path()
    await withWorkStopped(this.#clock, `removing ${path}`, () => rm(path, { force: true }))
    await dropEdit(path, this.#clock)
  }

  read(offset: number, length: number): Promise<Uint8Array> {
    return serializeAccess(this.#clock, async () => {
      const found = await (await this.#open()).read(offset, length)
      return this.#edit ? this.#edit.over(offset, found) : found
    })
  }

  write(offset: number, bytes: Uint8Array): Promise<void> {
    return serializeAccess(this.#clock, async () => {
      // One that does not fit fails as a whole disk does.
      if (this.#edit && offset + bytes.length <= this.size) return this.#edit.write(offset, bytes)
      await (await this.#open()).write(offset, bytes)
    })
  }

  discard(offset: number, length: number): Promise<void> {
    return serializeAccess(this.#clock, async () => {
      if (this.#edit) return this.#edit.discard(offset, length)
      await (await this.#open()).discard(offset, length)
    })
  }

  /** Also an edit that fails leaves what it has written. */
  async edit<T>(work: () => Promise<T>): Promise<T> {
    // A file of the user's own is written as it comes; an edit in an edit is part of it.
    if (!this.#ours || this.#edit) return work()
    this.#edit = new DiskEdit()
    try {
      return await work()
    } finally {
      await serializeAccess(this.#clock, () => this.#carryOut())
    }
  }

  async #carryOut(): Promise<void> {
    const edit = this.#edit
    this.#edit = undefined
    await edit?.carryOut(await this.#open(), await this.path(), this.#clock)
  }

  flush(): Promise<void> {
    return serializeAccess(this.#clock, async () => (await this.#opened)?.flush())
  }

  async close(): Promise<void> {
    const opened = this.#opened
    this.#opened = undefined
    // A file that could not be opened needs no close, and its reader has got the error.
    const device = await opened?.catch(() => undefined)
    await device?.[Symbol.asyncDispose]()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #open(): Promise<SimulatedDisk> {
    return (this.#opened ??= this.#openFile().catch((error: unknown) => {
      this.#opened = undefined
      throw error
    }))
  }

  async #openFile(): Promise<SimulatedDisk> {
    const path = await this.path()
    const options = {
      path,
      name: this.name,
      sectorSize: this.sectorSize,
      clock: this.#clock,
      mayCut: this.#ours,
      hostIsFull: () => this.#hostIsFull(path),
    }
    const size = await withWorkStopped(this.#clock, `looking for ${path}`, () => fileSize(path))
    if (size === undefined) {
      await withWorkStopped(this.#clock, `making the folder of ${path}`, () => makeFolder(dirname(path)))
      return during(`creating the disk ${this.name}`, () => createFileDisk({ ...options, size: this.size }))
    }
    // An earlier process was killed while it made or emptied the file: the missing end is all zeros.
    if (this.#ours && size < this.size)
      await withWorkStopped(this.#clock, `completing ${path}`, () => truncate(path, this.size))
    else if (size !== this.size)
      throw new UserError('disk-size', `the disk file ${path} has ${size} bytes, but ${this.name} is ${this.size}`, {
        remedy: ERRORS['disk-size'].remedy,
      })
    const opened = await during(`opening the disk ${this.name}`, () => openFileDisk(options))
    if (this.#ours) await finishEdit(opened, path, this.#clock)
    return opened
  }
}

/** Accesses to the disks of a lab, by its clock. */
const accesses = new WeakMap<Clock, Mutex>()

/**
 * Serializes disk accesses while virtual time stands still. The order in which two files of this host answer is random, and a repeated
 * lab must do the same each time.
 */
function serializeAccess<T>(clock: Clock, access: () => Promise<T>): Promise<T> {
  if (!standsStill(clock)) return access()
  const all = accesses.get(clock) ?? new Mutex()
  accesses.set(clock, all)
  return withClockHeld(clock, 'waiting for another disk', () => all.run(access))
}

async function fileSize(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
