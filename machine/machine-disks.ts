import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  defined,
  withClockHeld,
  temporaryFolder,
  type Clock,
  type Logger,
  type Probe,
  type TemporaryFolder,
} from '../base/runtime/index.js'
import type { SimulatedDisk } from './disk/block-device.js'
import { describedDisk, type DescribedDevice, type DiskState } from './disk/described-disk.js'
import { FileBacked } from './disk/file-backed.js'
import { PoweredDisk, type BootOfDisks } from './disk/powered-disk.js'
import { ProbedDisk, showsPartitions } from './disk/probed-disk.js'
import { WriteLog, type WrittenRange } from './disk/write-log.js'
import { diskFileOf, noSuchDisk } from './hardware/changed-hardware.js'
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
    await withClockHeld(this.#clock, 'deleting disks', () => rm(folder, { recursive: true, force: true }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const folder = await this.#temporary
    await folder?.[Symbol.asyncDispose]()
  }

  async #temporaryFolder(): Promise<string> {
    const folder = (this.#temporary ??= withClockHeld(this.#clock, 'making a folder for disks', () =>
      temporaryFolder(),
    ))
    return (await folder).path
  }
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
  /** Undefined where its file does not exist yet, because nothing was written. */
  device: SimulatedDisk | undefined
  written: readonly WrittenRange[]
}

/** The parts that the disks of all machines share. */
export interface DiskParts {
  folder: DiskFolder
  /** Called before a described disk of a machine changes. */
  changing: (machine: string) => void
  clock: Clock
  probe: Probe
  logger: Logger
}

/** A disk of the machine, or one that was taken out. */
class MachineDisk {
  /** The writes of this process. */
  written: WriteLog | undefined
  /** The last write to the partition table. */
  table: TableWrite | undefined

  constructor(
    /** The disk as programs reach it, through the probe. */
    readonly device: SimulatedDisk,
    readonly own: DescribedDevice | FileBacked,
  ) {}

  get file(): FileBacked | undefined {
    return this.own instanceof FileBacked ? this.own : undefined
  }

  get described(): DescribedDevice | undefined {
    return this.own instanceof FileBacked ? undefined : this.own
  }

  get log(): WriteLog {
    return (this.written ??= new WriteLog())
  }
}

interface PlacedDisk {
  spec: DiskSpec
  disk: MachineDisk
}

/** The user of a machine's disks in one boot. */
export interface DiskUser {
  readonly isOver: boolean
  /** Has the reason of the boot's end. */
  readonly signal: AbortSignal
  /** Program that writes at the moment. */
  readonly writer: string
}

class DisksOfBoot implements BootOfDisks {
  constructor(
    private readonly disks: MachineDisks,
    private readonly boot: string,
    private readonly user: DiskUser,
  ) {}

  get over(): { reason: unknown } | undefined {
    return this.user.isOver ? this.user.signal : undefined
  }

  wrote(name: string, offset: number, length: number): void {
    const { disk, spec } = this.disks.inPlace(name)
    const at = this.disks.parts.clock.now()
    const boot = this.boot
    if (offset < TABLE_SECTORS * spec.sectorSize) disk.table = { at, boot }
    disk.log.note({ offset, length, at, boot, by: this.user.writer })
  }

  showsPartitions(name: string): true | Promise<boolean> {
    const { machine, parts } = this.disks
    const { table } = this.disks.inPlace(name).disk
    // A boot finds the partitions that are there.
    if (table?.boot !== this.boot) return true
    return showsPartitions(parts.probe, { machine, disk: name, written: table.at })
  }
}

/** A machine's disks, also those that were taken out. Files are opened on first use and closed when the machine is switched off. */
export class MachineDisks implements AsyncDisposable {
  /** Disks by the names of their files. */
  readonly #disks = new Map<string, MachineDisk>()
  readonly #spec: MachineSpec
  readonly #changing = (): void => this.parts.changing(this.#spec.id)
  readonly parts: DiskParts

  /** @param spec hardware as it is now */
  constructor(spec: MachineSpec, parts: DiskParts) {
    this.#spec = spec
    this.parts = parts
    this.fit()
  }

  get machine(): string {
    return this.#spec.id
  }

  /** Makes the devices of disks that are new in the machine. */
  fit(): void {
    const { disks, takenOut = [] } = this.#spec
    for (const disk of [...disks, ...takenOut])
      if (!this.#disks.has(diskFileOf(disk))) this.#disks.set(diskFileOf(disk), this.#made(disk))
  }

  /** The disks for one boot: after its end every access rejects. */
  forBoot(user: DiskUser, boot: string): ReadonlyMap<string, SimulatedDisk> {
    const ofBoot = new DisksOfBoot(this, boot, user)
    return new Map(this.#spec.disks.map(({ name }) => [name, new PoweredDisk(this.inPlace(name).disk.device, ofBoot)]))
  }

  /** Looks at a disk past the probe: no fault strikes. Files are closed after the work unless the machine is `on`. */
  async look<T>(name: string, on: boolean, work: (seen: SeenDisk) => Promise<T>): Promise<T> {
    const {
      spec,
      disk: { own, file, written },
    } = this.inPlace(name)
    const device = !file || (await file.exists()) ? own : undefined
    try {
      return await work({ spec, device, written: written?.ranges ?? [] })
    } finally {
      if (!on) await file?.close()
    }
  }

  /**
   * The disk with a kernel name.
   *
   * @throws UserError `no-such-disk`
   */
  inPlace(name: string): PlacedDisk {
    const spec = this.#spec.disks.find((each) => each.name === name)
    if (!spec) throw noSuchDisk(this.#spec, name)
    return { spec, disk: this.#disks.get(diskFileOf(spec))! }
  }

  /** Path of the file behind a disk; undefined for a described disk. */
  async fileOf(name: string): Promise<string | undefined> {
    const spec = this.#spec.disks.find((each) => each.name === name)
    return spec && this.#disks.get(diskFileOf(spec))?.file?.path()
  }

  async close(): Promise<void> {
    for (const { file } of this.#disks.values()) await file?.close()
  }

  /** A disk that is a file with contents, which no snapshot can keep. */
  async writtenFile(): Promise<string | undefined> {
    for (const { file } of this.#disks.values()) if (await file?.exists()) return file?.name
    return undefined
  }

  get hasFiles(): boolean {
    for (const { file } of this.#disks.values()) if (file) return true
    return false
  }

  /** The described disks that were written, by the names of their images. */
  take(): [name: string, state: TakenDisk][] {
    return [...this.#disks].flatMap(([image, { described, written, table }]) => {
      const state = described?.take()
      if (!state) return []
      return [[image, { ...state, written: written?.ranges ?? [], ...defined({ table }) }]]
    })
  }

  /** True if the described disks are in these states; a disk that is a file never is. */
  are(states: readonly (readonly [name: string, state: DiskState])[]): boolean {
    return [...this.#disks].every(
      ([image, { described }]) =>
        described?.revision() === (states.find(([name]) => name === image)?.[1].revision ?? 0),
    )
  }

  /** All other disks are as new; those that are files are made again when they are needed. */
  async restore(states: readonly (readonly [name: string, state: TakenDisk])[]): Promise<void> {
    const taken = new Map(states)
    this.fit()
    for (const [image, disk] of this.#disks) {
      const state = taken.get(image)
      disk.described?.restore(state)
      disk.written = undefined
      if (state) disk.log.restore(state.written)
      disk.table = state?.table
    }
    for (const { file } of this.#disks.values()) await file?.remove()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { device } of this.#disks.values()) await device[Symbol.asyncDispose]()
  }

  #made(disk: DiskSpec): MachineDisk {
    const own = disk.backing.kind === 'described' ? describedDisk(disk, this.#changing) : this.#file(disk)
    return new MachineDisk(new ProbedDisk(own, this.parts.probe, this.#spec.id), own)
  }

  #file(disk: DiskSpec): FileBacked {
    const { folder, clock, logger } = this.parts
    const { id } = this.#spec
    const ownPath = disk.backing.kind === 'file' ? disk.backing.file : undefined
    const path = ownPath ?? (async () => join(await folder.of(id), `${encodeURIComponent(diskFileOf(disk))}.img`))
    return new FileBacked(disk, path, clock, {
      ours: ownPath === undefined,
      hostIsFull: (file) => logger('error', `${id}: ${disk.name} cannot be written, since the disk of ${file} is full`),
    })
  }
}
