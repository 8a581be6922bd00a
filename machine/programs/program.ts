import type { Clock, Random } from '../../runtime/index.js'
import type { BlockDevice } from '../disk/block-device.js'
import type { FileTree } from '../file-tree.js'
import type { Boot, MachinePace } from '../machine.js'
import type { MachineSpec } from '../machine-spec.js'

export interface EfiEntry {
  /** Four hex digits: `0001`. */
  number: string
  label: string
  active: boolean
  /** `HD(2,GPT,guid,0x1000,0x8000)/File(\EFI\fedora\shimx64.efi)` */
  path: string
}

/** A machine as its own programs see it. */
export interface Inside {
  readonly spec: MachineSpec
  readonly boot: Boot
  readonly files: FileTree
  /** By kernel name. Every access passes the probe, so faults reach it. */
  readonly disks: ReadonlyMap<string, BlockDevice>
  /** Firmware variables; survive reboots. Changes are kept by calling {@link persist}. */
  readonly efi: { entries: EfiEntry[]; order: string[]; current: string | null }
  /** Mount point -> what is mounted there. */
  readonly mounts: Map<string, { device: string; readOnly: boolean }>
  /** Images that were brought to it, and where this process finds them. */
  readonly staged?: ReadonlyMap<string, string>
  /** Saves firmware variables. */
  persist(): Promise<void>
  /** Ejects the CD that is in its drive; absent where there is none. */
  eject?(): Promise<void>
  /** Takes effect after the program has ended. */
  request(action: 'power off' | 'reboot'): void
}

/** A program under way. */
export interface Process {
  readonly argv: readonly [string, ...string[]]
  readonly stdin: Uint8Array
  readonly tty: boolean
  readonly inside: Inside
  readonly clock: Clock
  readonly random: Random
  readonly pace: MachinePace
  /** Aborted when it is killed: the machine lost power, the agent cancelled it. */
  readonly signal: AbortSignal
  stdout(text: string | Uint8Array): void
  stderr(text: string | Uint8Array): void
}

/** Resolves with the exit code. A rejection is a defect of the simulator, except for the signal's reason. */
export type Program = (process: Process) => Promise<number>
