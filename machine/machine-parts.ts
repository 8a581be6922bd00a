import type { Clock, Logger, Probe, Random } from '../runtime/index.js'
import type { StageAsset } from '../targets/index.js'
import type { KeptMachine } from './kept-machine.js'
import type { BootNetwork } from './live/boot-network.js'
import type { Machine, MachineEvents, MachinePace } from './machine.js'
import type { MachineDisks } from './machine-disks.js'
import type { MachineStore } from './machine-store.js'
import type { ImageRegistry } from './os/registry.js'

/** What a simulated machine is made of and what it is connected to. */
export interface MachineParts {
  disks: MachineDisks
  store: MachineStore
  clock: Clock
  random: Random
  probe: Probe
  logger: Logger
  pace: MachinePace
  events: MachineEvents
  /** Fetches images for it, to files of this process; without, its installer fetches by itself. */
  stage?: StageAsset
  /** How it reaches what it boots from; without, nothing that is served can be booted. */
  network?: BootNetwork
  /** Where the system on its disk pulls its images; without, it finds none. */
  registry?: ImageRegistry
}

/** What a boot has of the machine that it happens on. */
export interface BootingMachine {
  machine: Machine
  kept: KeptMachine
  parts: MachineParts
  /** By path in the machine, the file of this process. */
  staged: ReadonlyMap<string, string>
  /** The lines of its console, to which it goes on adding. */
  console: string[]
  /** The OS presses the machine's own power button: nobody waits for that. */
  request(action: 'power off' | 'reboot'): void
}
