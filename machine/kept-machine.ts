import type { Boot, FirstBoot, MachinePower } from './machine.js'
import type { MachineBootSource, MachineSpec } from './machine-spec.js'
import type { FirmwareState } from './hardware/machine-firmware.js'
import type { MachineStore } from './machine-store.js'
import { InstalledSystem } from './os/installed-system.js'
import type { EfiEntry, Inside } from './programs/program.js'
import type { FileRecord } from './ramdisk/ramdisk-session.js'
import type { RunRecord } from './ramdisk/run-log.js'

/** What is kept of a machine besides its specification. */
export interface MachineState {
  power: MachinePower
  source: MachineBootSource
  /** The current or, when off, the latest boot. */
  boot: BootState | null
  efi: { entries: EfiEntry[]; order: string[]; current: string | null }
  firstBoot: FirstBoot | null
  mounts: [string, { device: string; readOnly: boolean }][]
  /** Absent as it left the factory. */
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
  /** The container of the agent runs. */
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

/** What an earlier process had kept of a machine's boot, and of the system on its disk. */
export interface KeptOfBoot {
  system: [string, unknown][]
  saved: [string, unknown][]
  files: [string, FileRecord][]
  runs: [string, RunRecord][]
}

/** What of a machine outlives the process: its state, what its processes saved, and the system on its disk. */
export class KeptMachine {
  readonly spec: MachineSpec
  readonly state: MachineState
  readonly mounts: Inside['mounts']
  readonly #store: MachineStore
  readonly #saved = new Map<string, unknown>()
  #system: InstalledSystem

  constructor(spec: MachineSpec, state: MachineState, store: MachineStore) {
    this.spec = spec
    this.state = state
    this.#store = store
    this.mounts = new Map(state.mounts)
    this.#system = this.#openSystem([])
  }

  get system(): InstalledSystem {
    return this.#system
  }

  restore({ saved, system }: KeptOfBoot): void {
    for (const [name, value] of saved) this.#saved.set(name, value)
    this.#system = this.#openSystem(system)
  }

  /** Resolves when the state as it is now would be found by a later process. */
  keep(): Promise<void> {
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

  /** Forgets what lasts for a boot only. */
  forgetBoot(): void {
    for (const kind of ['saved', 'run', 'file'] as const) this.#store.remove(this.spec.id, kind)
    this.#saved.clear()
    this.mounts.clear()
  }

  /** The current boot or the one before; undefined while on its way up. */
  lastBoot(): Boot | undefined {
    const { boot } = this.state
    if (!boot?.outcome) return undefined
    const { id, source, outcome, live } = boot
    return { id, source, outcome, ...(live && { live }) }
  }

  /** The machine as it was set up when it booted: another boot mode counts from the next time on. */
  asBooted(): MachineSpec {
    const mode = this.state.boot?.firmware ?? this.spec.firmware
    return mode === this.spec.firmware ? this.spec : { ...this.spec, firmware: mode }
  }

  #openSystem(kept: [string, unknown][]): InstalledSystem {
    const put = (name: string, value: () => unknown) => this.#store.put(this.spec.id, 'system', name, value)
    return new InstalledSystem({ put }, new Map(kept))
  }
}
