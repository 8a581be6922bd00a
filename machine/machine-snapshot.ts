import { defined } from '../base/runtime/index.js'
import type { TakenDisk } from './machine-disks.js'
import type { MachineState } from './machine-record.js'
import type { MachineSnapshot } from './machine.js'
import type { SessionState } from './ramdisk/session-state.js'

/** A machine at one moment. Nothing changes it; unchanged contents of disks are shared with the machine. */
export interface MachineContents extends MachineSnapshot {
  readonly state: MachineState
  /** Values that programs of this boot saved. */
  readonly saved: readonly (readonly [name: string, value: unknown])[]
  /** The system on its disk. */
  readonly system: readonly (readonly [part: string, value: unknown])[]
  readonly console: readonly string[]
  readonly staged: readonly (readonly [path: string, file: string])[]
  /** Described disks that were written, by name. */
  readonly disks: readonly (readonly [name: string, state: TakenDisk])[]
  /** The ramdisk that runs. */
  readonly session: SessionState | null
}

/** A copy that shares what is only ever replaced. */
export function copyOfState(state: MachineState): MachineState {
  const { boot, efi, firmware, mounts, ...values } = state
  return {
    // Not first, as V8 would give each of thousands of copies a shape of its own.
    firmware: { ...firmware },
    ...values,
    boot: boot && { ...boot, ...defined({ live: boot.live ? structuredClone(boot.live) : undefined }) },
    efi: efi.entries.length === 0 && efi.order.length === 0 ? { ...efi, entries: [], order: [] } : structuredClone(efi),
    mounts: mounts.map(([path, mount]) => [path, { ...mount }]),
  }
}
