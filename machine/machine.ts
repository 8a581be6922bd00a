import type { AgentOnCoreos } from '../coreos/index.js'
import type { ConfigFile } from '../base/runtime/index.js'
import type { Executor, Target } from '../targets/index.js'
import type { NewDisk } from './hardware/changed-hardware.js'
import type { WrittenFile } from './live/live-ignition.js'
import type { DiskSpec, MachineBootSource, MachineSpec } from './machine-spec.js'
import type { SeenDisk } from './machine-disks.js'
import type { MachineFirmware } from './hardware/machine-firmware.js'
import type { OsReport } from './os/os-report.js'
import type { RunningOs } from './os/running-os.js'
import type { JournalLine } from './os/installed-system.js'
import type { RootTree } from './root/root-tree.js'

/** One boot of a machine, from power-on to power-off. */
export interface Boot {
  /** The boot id of the kernel: new at every boot, the same after a restart of ironstage. */
  id: string
  source: MachineBootSource
  /**
   * `no bootable device` for a disk without a bootable system, and for media that cannot be fetched; `kernel panic` for
   * an initramfs that cannot be unpacked; `emergency shell` when Ignition or the root filesystem of a live system failed;
   * `live` for a live system that starts no agent.
   */
  outcome: 'ramdisk' | 'disk' | 'live' | 'no bootable device' | 'kernel panic' | 'emergency shell'
  /** Details of a boot from served media. */
  live?: LiveBoot
}

/** A boot from served media. */
export interface LiveBoot {
  kernelArguments: string
  /** Parameters of the agent on a virtual stick or floppy, which win over those of the kernel's command line. */
  parameters?: Readonly<Record<string, string>>
  /** The config that Ignition applied: from `initramfs` (as it is embedded in an ISO) or a URL. */
  ignition: { from: string; version: string } | null
  /** Files that Ignition wrote; large contents are left out. */
  files: readonly WrittenFile[]
  /** The agent that the config starts; null for none, and for a ramdisk that contains the agent. */
  agent: AgentOnCoreos | null
  /** Configuration files on the medium that an agent takes, of a ramdisk that contains one. */
  configFiles?: readonly ConfigFile[]
  /** The reason why there is no agent. */
  failure: string | null
  /** The last lines of the machine's console. */
  console: string[]
}

/** Report of the first boot of the OS on the disk. */
export interface FirstBoot {
  ignitionVersion: string | null
  /** SHA-256 of /ignition/config.ign as found on the disk, hex; null when there was none. */
  configDigest: string | null
  /** Permission bits of that file. It is removed at the end of a first boot that does not fail. */
  configMode: number | null
  hostname: string | null
  users: { name: string; sshKeyFingerprints: string[] }[]
  files: string[]
  units: string[]
  kernelArguments: string[]
  /** The disk that was booted, as /dev/sda. */
  disk: string
  /** Ignition's error, after which the machine is in its emergency shell; null without one. */
  failure: string | null
  /** The stage in which it failed. */
  failedStage: 'fetch-offline' | 'fetch' | 'kargs' | 'disks' | 'mount' | 'files' | 'umount' | null
  /** URLs that were fetched for the config, in order, without the parts that may be secret. */
  fetched: string[]
  /** Partitions, arrays, volumes and filesystems of the config. They are checked, but not made on the disks. */
  plannedDiskChanges: { section: 'disks' | 'raid' | 'luks' | 'filesystems'; device: string; what: string }[]
  /** A system that bootc installed has no Ignition: its image by digest, and the config drive that it found. */
  container?: { image: string; configDrive: string | null }
}

export type MachinePower = 'on' | 'off'

/**
 * A simulated computer. It outlives ironstage's process: power, disks, the current boot and the values that its agent
 * saved are stored; a program that was running is reported killed.
 */
export interface Machine {
  readonly spec: MachineSpec
  /** Disks that were swapped for others. */
  readonly takenOut: readonly DiskSpec[]
  power(): MachinePower
  /** Changes power, hard unless `soft`; resolves when the state is reached. Idempotent except for `reboot`. */
  setPower(target: MachinePower | 'reboot', options?: { soft?: boolean }): Promise<void>
  /** Sets the source of all next boots. */
  setBoot(source: MachineBootSource): Promise<void>
  /**
   * Plugs a cable in, or pulls it. The ramdisk notices it at once; an agent without any cable is not reached.
   *
   * @throws UserError `no-such-nic`
   */
  setCarrier(nic: string, carrier: boolean): Promise<void>
  /**
   * Puts another disk in the place of one: a blank one, or one that was there before, with its contents.
   *
   * @throws UserError `no-such-disk`; `machine-on` for a machine that is on; `disk-swap`, `machine-spec` for a disk that cannot be
   */
  swapDisk(disk: string, wanted?: NewDisk): Promise<void>
  /** The current boot; undefined when powered off or still booting. */
  boot(): Boot | undefined
  /** The current boot or, when powered off, the one before; undefined while booting. */
  lastBoot(): Boot | undefined
  /** Lines of the console of a boot from served media; empty for others. */
  console(): readonly string[]
  /** Adds a line to the console. */
  say(line: string): void
  /** The latest first boot from disk. */
  firstBoot(): FirstBoot | undefined
  /** The root filesystem of the system on its disk, a copy; undefined before that system's first boot. */
  rootFiles(): RootTree | undefined
  /** The last lines of the journal of the system on its disk. */
  journal(): readonly JournalLine[]
  /** Versions of the OS on the disk, and whether it may join its cluster; null before the first boot. */
  os(): OsReport | null
  /** The system on its disk while it runs, for the programs on it. */
  readonly running: RunningOs
  /** Runs commands in the booted ramdisk; every call rejects while the machine is off or runs another system. */
  readonly executor: Executor
  readonly target: Target
  /** Firmware settings, versions and media, as the BMC has access to them. */
  readonly firmware: MachineFirmware
  /** Path of the file that a disk's bytes are in, by kernel name; undefined for a described disk. */
  diskFile(disk: string): Promise<string | undefined>
  /**
   * Looks at a disk as it is, whether the machine is on or off. Nothing of the machine notices, and no fault strikes.
   *
   * @throws UserError `no-such-disk`
   */
  look<T>(disk: string, work: (seen: SeenDisk) => Promise<T>): Promise<T>
  /** A value that a program on the machine saved. It outlives restarts of ironstage and ends with the boot. */
  saved(name: string): unknown
  save(name: string, value: unknown): Promise<void>
}

/** Callbacks for events of machines, called after the change is stored. */
export interface MachineEvents {
  /** The ramdisk runs. Called again with the same boot after a restart of ironstage. */
  ramdiskUp(machine: Machine, boot: Boot): void
  /** The boot is over: power lost, reset. */
  down(machine: Machine, boot: Boot): void
  firstBoot?(machine: Machine, report: FirstBoot): void
}

/** Durations of hardware in milliseconds; all zero unless paced realistically. */
export interface MachinePace {
  power: number
  bootRamdisk: number
  /** Where boots of ramdisks are spread: each takes a random time from {@link bootRamdisk} up to this. */
  bootRamdiskMost?: number
  bootDisk: number
  /** Bytes per second at which an image is written; 0 for no limit. */
  writeRate: number
}

export const NO_PACE: MachinePace = { power: 0, bootRamdisk: 0, bootDisk: 0, writeRate: 0 }

/** A machine at one moment: what it was is for the machines that took it. */
export interface MachineSnapshot {
  readonly spec: MachineSpec
}

/** Machines that can go back to an earlier moment. */
export interface MachineSnapshots {
  /** Present work of a machine, for people; undefined when all of them rest. */
  busyWith(): string | undefined
  /** Names a disk that is a file with contents, which no snapshot has. */
  writtenFile(): Promise<string | undefined>
  /** A machine whose ramdisk runs. */
  runningRamdisk(): string | undefined
  /** Only while they rest. */
  take(): readonly MachineSnapshot[]
  /** Ends what the machines do that are not as in the snapshots, for {@link restore}. */
  end(snapshots: readonly MachineSnapshot[]): Promise<void>
  /**
   * The machines become what they were; nothing runs in those that had changed before what this resolves
   * with is called.
   */
  restore(snapshots: readonly MachineSnapshot[]): Promise<() => void>
}

export interface Machines extends AsyncDisposable {
  readonly snapshots: MachineSnapshots
  /** @param source source of its boots; default: its disks */
  create(spec: MachineSpec, source?: MachineBootSource): Promise<Machine>
  /** Powers the machine off and removes it, with its disk files in the state folder. */
  remove(id: string): Promise<void>
  get(id: string): Machine | undefined
  byBmc(address: string, systemId: string): Machine | undefined
  list(): Machine[]
}
