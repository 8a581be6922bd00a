import type { DiskSpec, Machine, MachineBootSource, MachineSpec, NicSpec, RootNode } from '../../machine/index.js'

/** A machine as the lab's API shows it. */
export interface MachineReport {
  id: string
  bmc: { address: string; systemId: string } | null
  power: 'on' | 'off'
  boot: BootReport | null
  /** The current boot or, for a machine that is off, the previous one. */
  lastBoot: BootReport | null
  /** Last console lines of a boot from served media. */
  console: readonly string[]
  /** `file` is a path on ironstage's host; null for a described disk. */
  disks: (Omit<DiskSpec, 'backing' | 'image'> & { file: string | null })[]
  /** Disks that were swapped for others, and can come back. */
  takenOut: Pick<DiskSpec, 'name' | 'size' | 'serial' | 'wwn'>[]
  /** NICs; a port of Ironic with the `mac` of one belongs to this machine. */
  nics: NicSpec[]
  hardware: Pick<
    MachineSpec,
    'firmware' | 'architecture' | 'cpus' | 'memoryMib' | 'manufacturer' | 'product' | 'serial' | 'hostname'
  >
  firmware: {
    bootMode: 'uefi' | 'bios'
    secureBoot: boolean
    health: string
    /** Devices in the order in which they are tried, by their names and what they are. */
    bootOrder: { reference: string; target: string; device: string | null }[]
    /** Device that the BMC was asked to boot before the order; null without such a request. */
    override: { target: string; enabled: string } | null
    /** Inserted virtual media: device and image. */
    media: { device: string; image: string }[]
    versions: { component: string; version: string }[]
  }
  firstBoot: ReturnType<Machine['firstBoot']> | null
  /** Versions of the OS on its disk, and how far it is from joining its cluster; null before its first boot. */
  os: ReturnType<Machine['os']>
  /** Reason why the node's ramdisk cannot boot, for a machine that was looked up by its node. */
  waitsFor?: string | null
}

/** @public the compiler names it in declarations of other files */
export interface BootReport {
  id: string
  outcome: string
  from: MachineBootSource['kind']
  /** Reason why a live system from served media starts no agent. */
  failure: string | null
}

/** A file, directory or link in the root filesystem of an installed system. */
export interface InstalledFile {
  path: string
  kind: RootNode['kind']
  /** Mode as `stat` prints it: `0644`. */
  mode: string
  uid: number
  gid: number
  /** Bytes of a file. */
  size?: number
  /** Where a link points. */
  target?: string
  /** Contents, only for a single requested file. */
  base64?: string
}

/** A file as people may see it. */
export interface ShownFile {
  path: string
  kind: 'file' | 'directory' | 'link'
  /** Mode as `stat` prints it: `0644`. */
  mode: string
  uid: number
  gid: number
  /** Bytes of a file. */
  size?: number
  /** Where a link points. */
  target?: string
  /** Text of a single requested file; null for one that is binary, too large, or secret. */
  text?: string | null
  /** True if the contents are left out since only the owner may read them. */
  isSecret?: boolean
}

/** `console` has all lines that are there, and takes the place of what came before; `line` is one more. */
export type ConsoleEvent = { event: 'console'; lines: string[] } | { event: 'line'; line: string }

/** A line of the journal of the system on a machine's disk. */
export interface SystemJournalLine {
  /** Milliseconds since the epoch, in lab time. */
  readonly at: number
  readonly from: string
  readonly message: string
}

/** Account of a BMC. */
export interface BmcAccount {
  username: string
  password: string
}
