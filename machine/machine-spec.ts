import type { DialectChoice } from '../bmc/dialects/index.js'
import type { BootOverride } from './hardware/boot-override.js'
import type { LldpNeighbour } from './hardware/lldp/lldp-neighbour.js'

/** A disk of a simulated machine. */
export interface DiskSpec {
  /** Kernel name without /dev: `sda`, `nvme0n1`. */
  name: string
  /** Bytes. */
  size: number
  serial: string
  wwn: string
  /** Vendor's part of a WWN that is longer than `wwn`: `0x1234567890abcdef`. Default: none. */
  wwnExtension?: string
  /** Host, channel, target and LUN of the SCSI layer. Default: by its position. */
  hctl?: string
  /** Name in /dev/disk/by-path. Default: by its transport and position. */
  byPath?: string
  model: string
  vendor: string
  rotational: boolean
  transport: 'sata' | 'nvme' | 'sas' | 'usb'
  /** Logical sector size in bytes: 512 or 4096. */
  sectorSize: number
  /**
   * True if the disk can erase itself: ATA security for SATA, Format for NVMe. Frozen: the firmware has locked the command
   * until the next boot. Default: true for NVMe, false for others.
   */
  secureErase?: boolean | 'frozen'
  /**
   * `file`: real bytes in a sparse file, `file` or one in the state folder. `described`: a described disk, which keeps
   * structures instead of bulk contents, for fleets.
   */
  backing: { kind: 'file'; file?: string } | { kind: 'described' }
  /** Name of its file in the state folder. Default: its kernel name. */
  image?: string
}

/** Kernel driver of a network interface. */
export type NicDriver = 'virtio_net' | 'cdc_ether' | 'cdc_ncm'

/** A network interface of a simulated machine. */
export interface NicSpec {
  name: string
  /** Lower case. */
  mac: string
  ipv4: string | null
  carrier: boolean
  /** The NIC that the firmware boots from. */
  pxe: boolean
  /** Kernel driver. Those named `cdc_` are USB devices, as BMCs have them for their own host. Default: `virtio_net`. */
  driver?: NicDriver
  /** Switch port at the other end of the cable; null for one that sends no LLDP. Default: a port of `switch-1`. */
  lldp?: LldpNeighbour | null
}

/** A simulated computer: its hardware and how its BMC is reached. */
export interface MachineSpec {
  id: string
  /** Name by which others know it. Default: its id. */
  name?: string
  /** UUID that its firmware reports. Default: one that follows from its serial number. */
  uuid?: string
  /** Address and system id, as a node's driver_info has them; null for a machine without BMC. */
  bmc: { address: string; systemId: string; username?: string; password?: string } | null
  /** Dialect of its BMC: one of those that ironstage has, or one of the user's own. Default: `standard`. */
  dialect?: DialectChoice
  firmware: 'uefi' | 'bios'
  architecture: 'x86_64' | 'aarch64'
  cpus: number
  memoryMib: number
  manufacturer: string
  product: string
  serial: string
  /** Name that it gets from DHCP; null for none: its live systems are `localhost` then. Default: one like its id. */
  hostname?: string | null
  nics: NicSpec[]
  disks: DiskSpec[]
  /** Disks that were swapped for others. They can come back, with their contents. */
  takenOut?: DiskSpec[]
  /** First CoreOS version with a driver for the NICs; the agent of an older live system has no network. Default: any. */
  supportedSince?: string
  /**
   * Behaviour of some HPE servers: virtual media that the running system was booted from stay inserted when the BMC is
   * asked to eject them, and are booted before the disks, until that system itself ejects them.
   */
  holdsBootMedia?: boolean
  /** Defect with which it is delivered: a disk whose first megabyte cannot be read or written, or a BMC that is silent. */
  broken?: 'disk' | 'bmc'
  /** File on this host with the image that the live ramdisk carries and `--offline` installs. */
  metalImage: string | null
}

export type MachineBootSource =
  | { kind: 'disk' }
  /** A live CoreOS with an agent in it, built into the machine: no server is needed. */
  | { kind: 'ramdisk'; parameters: Record<string, string> }
  /** A live ISO as virtual media, which is fetched; its kernel arguments and its Ignition config decide what runs. */
  | { kind: 'iso'; url: string }
  /** A kernel and its initramfs over the network, or built into an ISO; `append` is the kernel's command line. */
  | { kind: 'pxe'; kernel: string; ramdisk: string; append: string }
  /** The medium that is inserted as a CD; the disks when there is none. */
  | { kind: 'cdrom' }
  /**
   * The BMC's override and the boot order: the first device from which something boots. The boot itself then has the source
   * that it came from.
   */
  | { kind: 'boot order'; override?: BootOverride }
  /** A live system of the user, whose contents are unknown; no program can be run on it. */
  | { kind: 'live'; image: { iso: string } | { kernel: string; ramdisk: string } }
