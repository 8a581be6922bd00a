import type { Boot, FirstBoot, MachinePower } from './machine.js'
import type { MachineBootSource, MachineSpec } from './machine-spec.js'
import type { FirmwareState } from './hardware/machine-firmware.js'
import type { MachineStore } from './machine-store.js'
import { InstalledSystem } from './os/installed-system.js'
import type { EfiEntry, Inside } from './programs/program.js'
import type { FileRecord } from './ramdisk/ramdisk-session.js'
import type { RunRecord } from './ramdisk/run-log.js'

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

export const newState = (): MachineState => ({
  power: 'off',
  source: { kind: 'disk' },
  boot: null,
  efi: { entries: [], order: [], current: null },
  firstBoot: null,
  mounts: [],
})

/** Records that an earlier process stored of a machine's boot, and of the system on its disk. */
export interface StoredBoot {
  system: [string, unknown][]
  saved: [string, unknown][]
  files: [string, FileRecord][]
  runs: [string, RunRecord][]
}

/** The part of a machine that outlives the process: its state, values that its programs saved, and the system on its disk. */
export class MachineRecord {
  readonly spec: MachineSpec
  readonly state: MachineState
  readonly mounts: Inside['mounts']
  /**
   * True from the report of a first boot until its last write to the disk: who learns of the report reads the disk next,
   * in another process too.
   */
  finishesFirstBoot: boolean
  readonly #store: MachineStore
  readonly #saved = new Map<string, unknown>()
  #system: InstalledSystem

  constructor(spec: MachineSpec, state: MachineState, store: MachineStore) {
    this.spec = spec
    this.state = state
    this.#store = store
    this.mounts = new Map(state.mounts)
    this.finishesFirstBoot = state.power === 'on' && state.boot?.outcome === null && state.boot.reported
    this.#system = this.#openSystem([])
  }

  get system(): InstalledSystem {
    return this.#system
  }

  restore({ saved, system }: StoredBoot): void {
    for (const [name, value] of saved) this.#saved.set(name, value)
    this.#system = this.#openSystem(system)
  }

  /** Stores the state. Resolves when a later process would find it. */
  persist(): Promise<void> {
    this.state.mounts = [...this.mounts]
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
    return { id, source, outcome, ...(live && { live }) }
  }

  /** The spec with the boot mode of the current boot: a changed mode applies from the next boot on. */
  asBooted(): MachineSpec {
    const mode = this.state.boot?.firmware ?? this.spec.firmware
    return mode === this.spec.firmware ? this.spec : { ...this.spec, firmware: mode }
  }

  #openSystem(stored: [string, unknown][]): InstalledSystem {
    const put = (name: string, value: () => unknown) => this.#store.put(this.spec.id, 'system', name, value)
    return new InstalledSystem({ put }, new Map(stored))
  }
}
