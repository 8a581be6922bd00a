import type { HttpThrough } from '../../base/bytes/index.js'
import type { Clock, LazyMap, Random } from '../../base/runtime/index.js'
import type { SimulatedDisk } from '../disk/block-device.js'
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

/** A machine as its own programs use it. */
export interface ProgramMachine {
  readonly spec: MachineSpec
  readonly boot: Boot
  readonly files: FileTree
  /** Disks by kernel name. Every access passes the probe, so that faults can strike it. */
  readonly disks: ReadonlyMap<string, SimulatedDisk>
  /** Firmware variables, which outlive reboots. {@link persist} stores changes. */
  readonly efi: { entries: EfiEntry[]; order: string[]; current: string | null }
  /** Mounts by mount point. */
  readonly mounts: LazyMap<string, { device: string; readOnly: boolean }>
  /** Files of this process with staged images, by their path in the machine. */
  readonly staged?: Pick<ReadonlyMap<string, string>, 'get'>
  /** Stores firmware variables and mounts. */
  persist(): Promise<void>
  /** Ejects the CD; absent without one. */
  eject?(): Promise<void>
  /** Asks for power off or reboot, which happens after the program has ended. */
  request(action: 'power off' | 'reboot'): void
}

/** A running program. */
export interface Process {
  readonly argv: readonly [string, ...string[]]
  readonly stdin: Uint8Array
  readonly tty: boolean
  readonly inside: ProgramMachine
  readonly clock: Clock
  readonly random: Random
  readonly pace: MachinePace
  /** Sees the requests of the program for files. */
  readonly downloads?: HttpThrough
  /** Aborted when the machine loses power or the program is cancelled. */
  readonly signal: AbortSignal
  stdout(text: string | Uint8Array): void
  stderr(text: string | Uint8Array): void
}

/** The process as another program sees it. It reads no member of the process, since a signal is made when it is read. */
export const withArgv = (process: Process, argv: Process['argv']): Process =>
  Object.create(process, { argv: { value: argv, enumerable: true } }) as Process

/** Resolves with the exit code. A rejection is a defect of the simulator, except for the signal's reason. */
export type MachineProgram = (process: Process) => Promise<number>
