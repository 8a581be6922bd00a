import type { AgentOnCoreos } from '../coreos/index.js'
import type { Executor, Target } from '../targets/index.js'
import type { PlannedDiskChange } from './ignition/disk-plan.js'
import type { IgnitionStage } from './ignition/run-ignition.js'
import type { WrittenFile } from './live/ignite.js'
import type { MachineBootSource, MachineSpec } from './machine-spec.js'
import type { MachineFirmware } from './hardware/machine-firmware.js'
import type { OsReport } from './os/os-report.js'
import type { JournalLine } from './os/installed-system.js'
import type { RootTree } from './root/root-tree.js'

/** One boot of a machine, from power-on to power-off. */
export interface Boot {
  /** As in /proc/sys/kernel/random/boot_id: new at every boot, the same after a restart of ironstage. */
  id: string
  source: MachineBootSource
  /**
   * `no bootable device` for a disk without a bootable system, and for media that cannot be had; `kernel panic` for an
   * initramfs that cannot be unpacked; `emergency shell` where Ignition or the root filesystem of a live system failed;
   * `live` for a system that starts no agent.
   */
  outcome: 'ramdisk' | 'disk' | 'live' | 'no bootable device' | 'kernel panic' | 'emergency shell'
  /** What was found on media that were really fetched. */
  live?: LiveBoot
}

/** A boot from served media. */
export interface LiveBoot {
  kernelArguments: string
  /** The config that Ignition applied: from `initramfs` (as it is embedded in an ISO) or a URL. */
  ignition: { from: string; version: string } | null
  /** What Ignition wrote, as far as anybody may look for it. */
  files: readonly WrittenFile[]
  /** Which agent the config starts; null for none, and for a ramdisk that has the agent in it. */
  agent: AgentOnCoreos | null
  /** Why there is no agent. */
  failure: string | null
  /** What the machine's console showed, the last lines of it. */
  console: string[]
}

/** What the OS on the disk said at its first boot. */
export interface FirstBoot {
  ignitionVersion: string | null
  /** SHA-256 of /ignition/config.ign as found on the disk, hex; null when there was none. */
  configDigest: string | null
  hostname: string | null
  users: { name: string; sshKeyFingerprints: string[] }[]
  files: string[]
  units: string[]
  kernelArguments: string[]
  /** From which disk, as /dev/sda. */
  disk: string
  /** Why Ignition failed, and the machine sits in its emergency shell; null when it did not. */
  failure: string | null
  /** The stage in which it failed. */
  failedStage: IgnitionStage | null
  /** What the config refers to and was fetched for it, in order; URLs without what may be secret in them. */
  fetched: string[]
  /** Partitions, arrays, volumes and filesystems that were planned and checked. Nothing of it is done to the disks. */
  plannedDiskChanges: PlannedDiskChange[]
}

export type MachinePower = 'on' | 'off'

/**
 * A simulated computer. It goes on living when ironstage's process dies: power, disks, what was booted and what its
 * agent had saved are kept; a program that was running is reported killed.
 */
export interface Machine {
  readonly spec: MachineSpec
  power(): MachinePower
  /** Hard unless `soft`; resolves when the state is reached. Repeating it is harmless, except for `reboot`. */
  setPower(target: MachinePower | 'reboot', options?: { soft?: boolean }): Promise<void>
  /** The ISO that the next boots come from. */
  readonly medium: string | undefined
  /** Where the next boots come from, until set again. */
  setBoot(source: MachineBootSource): Promise<void>
  /** The current boot; undefined when powered off or still on its way up. */
  boot(): Boot | undefined
  /** The current boot or, when powered off, the one before; undefined while on its way up. */
  lastBoot(): Boot | undefined
  /** The console of a boot from served media, from its start to now; empty for others. */
  console(): readonly string[]
  /** Adds a line to it. */
  say(line: string): void
  /** The latest first boot from disk. */
  firstBoot(): FirstBoot | undefined
  /** The root filesystem of the system on its disk, a copy; undefined before that system's first boot. */
  rootFiles(): RootTree | undefined
  /** What the system on its disk has written to its journal, the last lines. */
  journal(): readonly JournalLine[]
  /** Which versions of the OS are on its disk, and whether it may join its cluster; null before its first boot. */
  os(): OsReport | null
  /** Reaches the booted ramdisk; every call rejects while it is off or runs something else. */
  readonly executor: Executor
  readonly target: Target
  /** Settings, versions and media, as its BMC reaches them. */
  readonly firmware: MachineFirmware
  /** Path of the file that a disk's bytes are in, by kernel name; undefined for a described disk. */
  diskFile(disk: string): Promise<string | undefined>
  /** What a process on the machine saved, kept over restarts of ironstage and forgotten at the next boot. */
  saved(name: string): unknown
  save(name: string, value: unknown): Promise<void>
}

/** Told of what happens to machines. Called after the change is kept. */
export interface MachineEvents {
  /** The ramdisk is up. Called again with the same boot after ironstage restarted. */
  ramdiskUp(machine: Machine, boot: Boot): void
  /** The boot is over: power lost, reset. */
  down(machine: Machine, boot: Boot): void
  firstBoot?(machine: Machine, report: FirstBoot): void
}

/** How long hardware takes, in milliseconds; all zero unless paced realistically. */
export interface MachinePace {
  power: number
  bootRamdisk: number
  bootDisk: number
  /** Bytes a second that an image is written with; 0 means as fast as it goes. */
  writeRate: number
}

export const NO_PACE: MachinePace = { power: 0, bootRamdisk: 0, bootDisk: 0, writeRate: 0 }

export interface Machines extends AsyncDisposable {
  create(spec: MachineSpec): Promise<Machine>
  /** Powers off and forgets it; its disk files in the state folder are deleted. */
  remove(id: string): Promise<void>
  get(id: string): Machine | undefined
  byBmc(address: string, systemId: string): Machine | undefined
  list(): Machine[]
}
