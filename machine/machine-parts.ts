import type { HttpThrough } from '../base/bytes/index.js'
import type { Clock, Logger, Probe, Random } from '../base/runtime/index.js'
import type { StageAsset } from '../targets/index.js'
import type { MachineRecord } from './machine-record.js'
import type { BootNetwork } from './live/boot-network.js'
import type { Machine, MachineEvents, MachinePace } from './machine.js'
import type { MachineDisks } from './machine-disks.js'
import type { MachineStore } from './machine-store.js'
import type { StagedFiles } from './ramdisk/staged-files.js'
import type { ImageRegistry } from './os/machine-registry.js'

/** Dependencies of simulated machines, which most of them share. */
export interface MachineParts {
  store: MachineStore
  clock: Clock
  random: Random
  probe: Probe
  logger: Logger
  pace: MachinePace
  events: MachineEvents
  /** Fetches images to files of this process; without it the machine's installer fetches by itself. */
  stage?: StageAsset
  /** Network for boot media; without it no served medium can be booted. */
  network?: BootNetwork
  /** Sees the requests of its programs and of its Ignition for files, and of what it boots. */
  downloads?: HttpThrough
  /** File of this process with the metal image that a served live system of a version carries; default: the machine's. */
  metalImageOf?: (liveVersion: string) => string | undefined
  /** Registry of the system on the disk; without it every pull fails. */
  registry?: ImageRegistry
}

/** The machine as a boot uses it. */
export interface BootingMachine {
  machine: Machine
  record: MachineRecord
  parts: MachineParts
  disks: MachineDisks
  /** Files of this process by their path in the machine. */
  staged: StagedFiles
  /** Lines of the console; later lines are added to the same array. */
  console: string[]
  /** Asks for power off or reboot from inside the OS, without waiting for it. */
  request(action: 'power off' | 'reboot'): void
}
