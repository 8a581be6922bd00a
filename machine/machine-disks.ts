import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { held, temporaryFolder, type Clock, type Logger, type Probe, type TemporaryFolder } from '../runtime/index.js'
import type { BlockDevice } from './disk/block-device.js'
import { describedDisk, type DescribedDevice, type DiskState } from './disk/described-disk.js'
import { FileBacked } from './disk/file-backed.js'
import { whilePowered } from './disk/powered-disk.js'
import { probed, showsPartitions } from './disk/probed-disk.js'
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

/** Sectors at the start of a disk that a GPT takes. */
const TABLE_SECTORS = 34

/** When a partition table was written, and in which boot. */
interface TableWrite {
  readonly at: number
  readonly boot: string
}

/** A disk in a snapshot. */
export type TakenDisk = DiskState & { readonly written: readonly WrittenRange[]; readonly table?: TableWrite }

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
  /** The last write to the partition table of each. */
  readonly #tables = new Map<string, TableWrite>()
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
    const { clock, probe } = this.#parts
    return new Map(
      this.#spec.disks.map((disk) => {
        const image = imageOf(disk)
        const wrote = (offset: number, length: number): void => {
          const at = clock.now()
          if (offset < TABLE_SECTORS * disk.sectorSize) this.#tables.set(image, { at, boot })
          this.#logOf(image).note({ offset, length, at, boot, by: writer() })
        }
        const place = { machine: this.#spec.id, disk: disk.name }
        const shows = (): Promise<boolean> => {
          const table = this.#tables.get(image)
          // A boot finds the partitions that are there.
          return table?.boot === boot ? showsPartitions(probe, { ...place, written: table.at }) : Promise.resolve(true)
        }
        return [disk.name, whilePowered(this.#devices.get(image)!, { signal, wrote, showsPartitions: shows })]
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
      if (!state) return []
      const table = this.#tables.get(image)
      return [[image, { ...state, written: this.#written.get(image)?.ranges ?? [], ...(table ? { table } : {}) }]]
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
    this.#tables.clear()
    for (const [image, { written: ranges, table }] of states) {
      this.#logOf(image).restore(ranges)
      if (table) this.#tables.set(image, table)
    }
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
