import { LazyMap, defined } from '../base/runtime/index.js'
import type { Boot, FirstBoot, MachinePower } from './machine.js'
import type { MachineBootSource, MachineSpec } from './machine-spec.js'
import type { FirmwareState } from './hardware/firmware-state.js'
import { liveSpec } from './hardware/live-spec.js'
import { copyOfState, type MachineContents } from './machine-snapshot.js'
import type { MachineStore, RecordKind } from './machine-store.js'
import { InstalledSystem } from './os/installed-system.js'
import type { EfiEntry, ProgramMachine } from './programs/machine-program.js'
import { toRecord, type FileRecord } from './ramdisk/file-record.js'
import type { StoredRun } from './ramdisk/run-log.js'

/** Stored state of a machine besides its specification. */
export interface MachineState {
  power: MachinePower
  source: MachineBootSource
  /** The current or, when off, the latest boot. */
  boot: BootState | null
  efi: { entries: EfiEntry[]; order: string[]; current: string | null }
  firstBoot: FirstBoot | null
  mounts: [string, { device: string; readOnly: boolean }][]
  /** Absent in the factory state. */
  firmware?: FirmwareState
}

export interface BootState {
  id: string
  source: MachineBootSource
  /** Null while the firmware and boot loader are at work. */
  outcome: Boot['outcome'] | null
  reported: boolean
  firmware?: MachineSpec['firmware']
  live?: Boot['live']
  /** Whether the container of the agent runs. */
  agentUp?: boolean
}

export const newState = (source: MachineBootSource = { kind: 'disk' }): MachineState => ({
  power: 'off',
  source,
  boot: null,
  efi: { entries: [], order: [], current: null },
  firstBoot: null,
  mounts: NO_MOUNTS,
  firmware: {},
})

/** The mounts of all machines without any. */
const NO_MOUNTS: MachineState['mounts'] = []

/** Records that an earlier process stored of a machine's boot, and of the system on its disk. */
export interface StoredBoot {
  readonly system: readonly (readonly [string, unknown])[]
  readonly saved: readonly (readonly [string, unknown])[]
  readonly files: readonly (readonly [string, FileRecord])[]
  readonly runs: readonly (readonly [string, StoredRun])[]
}

/** The part of a machine that outlives the process: its state, values that its programs saved, and the system on its disk. */
export class MachineRecord {
  /** Hardware as it is now. */
  readonly spec: MachineSpec
  #hardware: MachineSpec
  /** Hardware that the machine had before, in this process. */
  #earlier: WeakSet<MachineSpec> | undefined
  readonly state: MachineState
  readonly mounts: ProgramMachine['mounts']
  /**
   * True from the report of a first boot until its last write to the disk: who learns of the report reads the disk next,
   * in another process too.
   */
  finishesFirstBoot: boolean
  readonly #store: MachineStore
  readonly #saved = new LazyMap<string, unknown>()
  #system: InstalledSystem | undefined

  constructor(spec: MachineSpec, state: MachineState, store: MachineStore) {
    this.#hardware = spec
    this.spec = liveSpec(() => this.#hardware)
    this.state = state
    this.#store = store
    this.mounts = new LazyMap(state.mounts)
    this.finishesFirstBoot = state.power === 'on' && state.boot?.outcome === null && state.boot.reported
  }

  get system(): InstalledSystem {
    return (this.#system ??= this.#openSystem([]))
  }

  restore({ saved, system }: Pick<StoredBoot, 'saved' | 'system'>): void {
    for (const [name, value] of saved) this.#saved.set(name, value)
    this.#system = this.#openSystem(system)
  }

  get hardware(): MachineSpec {
    return this.#hardware
  }

  /** Resolves when a later process would find the hardware. */
  change(hardware: MachineSpec): Promise<void> {
    this.#changeTo(hardware)
    this.#store.put(hardware.id, 'spec', '', () => hardware)
    return this.#store.flush()
  }

  /** Whether its hardware was this one, so that it is the machine of a snapshot. */
  had(hardware: MachineSpec): boolean {
    return hardware === this.#hardware || (this.#earlier?.has(hardware) ?? false)
  }

  #changeTo(hardware: MachineSpec): void {
    this.#earlier ??= new WeakSet()
    this.#earlier.add(this.#hardware)
    this.#hardware = hardware
  }

  /** Notes a change that nothing stores. */
  note(): void {
    this.#store.note(this.spec.id)
  }

  take(): Pick<MachineContents, 'spec' | 'state' | 'saved' | 'system'> {
    this.state.mounts = this.mounts.size === 0 ? NO_MOUNTS : [...this.mounts]
    return {
      spec: this.#hardware,
      state: copyOfState(this.state),
      saved: [...this.#saved],
      system: this.#system?.take() ?? [],
    }
  }

  /** Becomes what it was in a snapshot, and stores that. */
  async adopt({ spec, state, saved, system, session }: MachineContents): Promise<void> {
    this.#changeTo(spec)
    const { firmware = {}, ...values } = copyOfState(state)
    // Machine and firmware share these two objects with the record.
    const same = (this.state.firmware ??= {})
    for (const key of Object.keys(same)) delete same[key as keyof typeof same]
    Object.assign(this.state, values, { firmware: Object.assign(same, firmware) })
    this.mounts.clear()
    for (const [path, mount] of values.mounts) this.mounts.set(path, mount)
    this.finishesFirstBoot = false
    this.#saved.clear()
    this.restore({ saved, system })
    const { id } = this.spec
    const put = (kind: RecordKind, name: string, value: unknown) => this.#store.put(id, kind, name, () => value ?? null)
    this.#store.remove(id)
    put('spec', '', spec)
    this.#store.put(id, 'state', '', () => this.state)
    for (const [name, value] of saved) put('saved', name, value)
    for (const [part, value] of system) put('system', part, value)
    for (const [path, node] of session?.files ?? []) put('file', path, toRecord(node))
    for (const [run, record] of session?.runs ?? []) put('run', run, record)
    await this.#store.flush()
  }

  /** Stores the state. Resolves when a later process would find it. */
  persist(): Promise<void> {
    this.state.mounts = this.mounts.size === 0 ? NO_MOUNTS : [...this.mounts]
    this.#store.put(this.spec.id, 'state', '', () => this.state)
    return this.#store.flush()
  }

  saved(name: string): unknown {
    return this.#saved.get(name)
  }

  async save(name: string, value: unknown): Promise<void> {
    this.#saved.set(name, value)
    this.#store.put(this.spec.id, 'saved', name, () => value ?? null)
    await this.#store.flush()
  }

  /** Removes the records that last for one boot. */
  forgetBoot(): void {
    for (const kind of ['saved', 'run', 'file'] as const) this.#store.remove(this.spec.id, kind)
    this.#saved.clear()
    this.mounts.clear()
  }

  /** The current boot or the one before; undefined while booting. */
  lastBoot(): Boot | undefined {
    const { boot } = this.state
    if (!boot?.outcome) return undefined
    const { id, source, outcome, live } = boot
    return { id, source, outcome, ...defined({ live }) }
  }

  /** The spec with the boot mode of the current boot: a changed mode applies from the next boot on. */
  asBooted(): MachineSpec {
    const mode = this.state.boot?.firmware ?? this.spec.firmware
    return mode === this.spec.firmware ? this.spec : liveSpec(() => ({ ...this.#hardware, firmware: mode }))
  }

  #openSystem(stored: StoredBoot['system']): InstalledSystem {
    const put = (name: string, value: () => unknown) => this.#store.put(this.spec.id, 'system', name, value)
    return new InstalledSystem({ put, note: () => this.note() }, new Map(stored))
  }
}
