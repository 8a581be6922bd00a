import { mkdir, rm, stat, truncate } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  during,
  held,
  temporaryFolder,
  UserError,
  type Clock,
  type Logger,
  type Probe,
  type TemporaryFolder,
} from '../runtime/index.js'
import type { BlockDevice } from './disk/block-device.js'
import { describedDisk, type DescribedDevice, type DiskState } from './disk/described-disk.js'
import { createFileDisk, openFileDisk } from './disk/file-disk.js'
import { whilePowered } from './disk/powered-disk.js'
import { probed } from './disk/probed-disk.js'
import { WriteLog, type WrittenRange } from './disk/write-log.js'
import { imageOf, noSuchDisk } from './hardware/changed-hardware.js'
import type { DiskSpec, MachineSpec } from './machine-spec.js'

/** The folder of disk files: in the state folder, or a temporary one that is made when the first machine needs it. */
export class DiskFolder implements AsyncDisposable {
  readonly #clock: Clock
  readonly #permanent: string | null
  #temporary: Promise<TemporaryFolder> | undefined

  constructor(stateDir: string | null, clock: Clock) {
    this.#permanent = stateDir === null ? null : join(stateDir, 'disks')
    this.#clock = clock
  }

  /** Folder of one machine's disks. Any id becomes a legal file name. */
  async of(machine: string): Promise<string> {
    return join(this.#permanent ?? (await this.#temporaryFolder()), encodeURIComponent(machine).replace(/^\./, '%2E'))
  }

  async forget(machine: string): Promise<void> {
    if (this.#permanent === null && this.#temporary === undefined) return
    const folder = await this.of(machine)
    await held(this.#clock, 'deleting disks', () => rm(folder, { recursive: true, force: true }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const folder = await this.#temporary
    await folder?.[Symbol.asyncDispose]()
  }

  async #temporaryFolder(): Promise<string> {
    const folder = (this.#temporary ??= held(this.#clock, 'making a folder for disks', () => temporaryFolder()))
    return (await folder).path
  }
}

/** A boot, and the program of it that writes at the moment. */
interface WriterOfBoot {
  boot: string
  writer: () => string
}

/** A disk in a snapshot. */
export type TakenDisk = DiskState & { readonly written: readonly WrittenRange[] }

/** A disk that is looked at. */
export interface SeenDisk {
  spec: DiskSpec
  /** Undefined where it is a file that there is not yet: nothing was written. */
  device: BlockDevice | undefined
  written: readonly WrittenRange[]
}

interface DiskParts {
  folder: DiskFolder
  /** Called before a described disk changes. */
  changing: () => void
  clock: Clock
  probe: Probe
  logger: Logger
}

/** A machine's disks, also those that were taken out. Files are opened on first use and closed when the machine is switched off. */
export class MachineDisks implements AsyncDisposable {
  /** By the names of their files. */
  readonly #devices = new Map<string, BlockDevice>()
  readonly #described = new Map<string, DescribedDevice>()
  readonly #files = new Map<string, FileBacked>()
  /** Those of disks that were written by this process. */
  readonly #written = new Map<string, WriteLog>()
  readonly #spec: MachineSpec
  readonly #parts: DiskParts

  /** @param spec hardware as it is now */
  constructor(spec: MachineSpec, parts: DiskParts) {
    this.#spec = spec
    this.#parts = parts
    this.fit()
  }

  /** Makes the devices of disks that are new in the machine. */
  fit(): void {
    const { id, disks, takenOut = [] } = this.#spec
    for (const disk of [...disks, ...takenOut])
      if (!this.#devices.has(imageOf(disk)))
        this.#devices.set(imageOf(disk), probed(this.#device(disk), this.#parts.probe, id))
  }

  /** The disks for one boot: after its end every access rejects with the signal's reason. */
  forBoot(signal: AbortSignal, { boot, writer }: WriterOfBoot): ReadonlyMap<string, BlockDevice> {
    const { clock } = this.#parts
    return new Map(
      this.#spec.disks.map((disk) => {
        const image = imageOf(disk)
        const wrote = (offset: number, length: number): void =>
          this.#logOf(image).note({ offset, length, at: clock.now(), boot, by: writer() })
        return [disk.name, whilePowered(this.#devices.get(image)!, signal, wrote)]
      }),
    )
  }

  /** Looks at a disk past the probe: no fault strikes. Files are closed after the work unless the machine is `on`. */
  async look<T>(name: string, on: boolean, work: (seen: SeenDisk) => Promise<T>): Promise<T> {
    const spec = this.#spec.disks.find((each) => each.name === name)
    if (!spec) throw noSuchDisk(this.#spec, name)
    const image = imageOf(spec)
    const file = this.#files.get(image)
    const device = file ? ((await file.exists()) ? file : undefined) : this.#described.get(image)
    try {
      return await work({ spec, device, written: this.#written.get(image)?.ranges ?? [] })
    } finally {
      if (!on) await file?.close()
    }
  }

  #logOf(image: string): WriteLog {
    const log = this.#written.get(image) ?? new WriteLog()
    this.#written.set(image, log)
    return log
  }

  /** Path of the file behind a disk; undefined for a described disk. */
  async fileOf(name: string): Promise<string | undefined> {
    const disk = this.#spec.disks.find((each) => each.name === name)
    return disk && this.#files.get(imageOf(disk))?.path()
  }

  async close(): Promise<void> {
    for (const file of this.#files.values()) await file.close()
  }

  /** A disk that is a file with contents, which no snapshot can keep. */
  async writtenFile(): Promise<string | undefined> {
    for (const file of this.#files.values()) if (await file.exists()) return file.name
    return undefined
  }

  get hasFiles(): boolean {
    return this.#files.size > 0
  }

  /** The described disks that were written, by the names of their images. */
  take(): [name: string, state: TakenDisk][] {
    return [...this.#described].flatMap(([image, disk]) => {
      const state = disk.take()
      return state ? [[image, { ...state, written: this.#written.get(image)?.ranges ?? [] }]] : []
    })
  }

  /** Whether the described disks are in these states; a disk that is a file never is. */
  are(states: readonly (readonly [name: string, state: DiskState])[]): boolean {
    if (this.#files.size > 0) return false
    return [...this.#described].every(
      ([image, disk]) => disk.revision!() === (states.find(([name]) => name === image)?.[1].revision ?? 0),
    )
  }

  /** All other disks are as new; those that are files are made again when they are needed. */
  async restore(states: readonly (readonly [name: string, state: TakenDisk])[]): Promise<void> {
    const written = new Map(states)
    this.fit()
    for (const [image, disk] of this.#described) disk.restore(written.get(image))
    this.#written.clear()
    for (const [image, { written: ranges }] of states) this.#logOf(image).restore(ranges)
    for (const file of this.#files.values()) await file.remove()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const device of this.#devices.values()) await device[Symbol.asyncDispose]()
  }

  #describe(disk: DiskSpec): BlockDevice {
    const device = describedDisk(disk, this.#parts.changing)
    this.#described.set(imageOf(disk), device)
    return device
  }

  #device(disk: DiskSpec): BlockDevice {
    const { folder, clock, logger } = this.#parts
    const { id } = this.#spec
    const image = imageOf(disk)
    switch (disk.backing.kind) {
      case 'described':
        return this.#describe(disk)
      case 'file': {
        const { file: ownPath } = disk.backing
        const path = ownPath ?? (async () => join(await folder.of(id), `${encodeURIComponent(image)}.img`))
        const file = new FileBacked(disk, path, clock, {
          ours: ownPath === undefined,
          hostIsFull: (file) =>
            logger('error', `${id}: ${disk.name} cannot be written, since the disk of ${file} is full`),
        })
        this.#files.set(image, file)
        return file
      }
    }
  }
}

/** A disk in a file, opened at the first access, so that a thousand idle machines hold no descriptors. */
class FileBacked implements BlockDevice {
  readonly name: string
  readonly size: number
  readonly sectorSize: number
  readonly #path: string | (() => Promise<string>)
  readonly #clock: Clock
  readonly #ours: boolean
  readonly #hostIsFull: (file: string) => void
  #opened: Promise<BlockDevice> | undefined

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
    return (await held(this.#clock, `looking for ${path}`, () => fileSize(path))) !== undefined
  }

  /** Removes the file while the machine does not use it. One of the user's own is left alone. */
  async remove(): Promise<void> {
    await this.close()
    if (!this.#ours) return
    const path = await this.path()
    await held(this.#clock, `removing ${path}`, () => rm(path, { force: true }))
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    return (await this.#open()).read(offset, length)
  }

  async write(offset: number, bytes: Uint8Array): Promise<void> {
    return (await this.#open()).write(offset, bytes)
  }

  async discard(offset: number, length: number): Promise<void> {
    return (await this.#open()).discard(offset, length)
  }

  async flush(): Promise<void> {
    await (await this.#opened)?.flush()
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

  #open(): Promise<BlockDevice> {
    return (this.#opened ??= this.#openFile().catch((error: unknown) => {
      this.#opened = undefined
      throw error
    }))
  }

  async #openFile(): Promise<BlockDevice> {
    const path = await this.path()
    const options = {
      ...{ path, name: this.name, sectorSize: this.sectorSize, clock: this.#clock, mayCut: this.#ours },
      hostIsFull: () => this.#hostIsFull(path),
    }
    const size = await held(this.#clock, `looking for ${path}`, () => fileSize(path))
    if (size === undefined) {
      await held(this.#clock, `making the folder of ${path}`, () => mkdir(dirname(path), { recursive: true }))
      return during(`creating the disk ${this.name}`, () => createFileDisk({ ...options, size: this.size }))
    }
    // An earlier process was killed while it made or emptied the file: the missing end is all zeros.
    if (this.#ours && size < this.size) await held(this.#clock, `completing ${path}`, () => truncate(path, this.size))
    else if (size !== this.size)
      throw new UserError('disk-size', `the disk file ${path} has ${size} bytes, but ${this.name} is ${this.size}`, {
        remedy: 'give the machine a disk of the size of its file, or another file',
      })
    return during(`opening the disk ${this.name}`, () => openFileDisk(options))
  }
}

async function fileSize(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
