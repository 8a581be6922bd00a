/** A disk of a simulated machine. */
export interface DiskSpec {
  /** Kernel name without /dev: `sda`, `nvme0n1`. */
  name: string
  /** Bytes. */
  size: number
  serial: string
  wwn: string
  model: string
  vendor: string
  rotational: boolean
  transport: 'sata' | 'nvme' | 'sas' | 'usb'
  /** Logical sector size in bytes: 512 or 4096. */
  sectorSize: number
  /**
   * Whether it can erase itself: ATA security for SATA, NVMe Format. Frozen: the firmware has locked the command until
   * the next boot. Default: NVMe can, others cannot.
   */
  secureErase?: boolean | 'frozen'
  /**
   * `file`: real bytes in a sparse file (`file` names it; without, one in the state folder). `described`: the same
   * programs on the same structures, bulk contents remembered instead of kept, for fleets.
   */
  backing: { kind: 'file'; file?: string } | { kind: 'described' }
}

/** A network interface of a simulated machine. */
export interface NicSpec {
  name: string
  /** Lower case. */
  mac: string
  ipv4: string | null
  carrier: boolean
  /** The NIC that the firmware boots from. */
  pxe: boolean
}

/** A simulated computer: its hardware and how its BMC is reached. */
export interface MachineSpec {
  id: string
  /** Address and system id, as a node's driver_info has them; null for a machine without BMC. */
  bmc: { address: string; systemId: string; username?: string; password?: string } | null
  firmware: 'uefi' | 'bios'
  architecture: 'x86_64' | 'aarch64'
  cpus: number
  memoryMib: number
  manufacturer: string
  product: string
  serial: string
  nics: NicSpec[]
  disks: DiskSpec[]
  /** The first CoreOS with drivers for its network; an older live system never gets to its agent. All have, without. */
  supportedSince?: string
  /**
   * As some HPE servers: virtual media that the running system was booted from stay inserted when the BMC is told to
   * eject them, and are booted before the disks, until that system itself lets go of them.
   */
  holdsBootMedia?: boolean
  /** The image that its live ramdisk carries and `--offline` installs; a file on this host. */
  liveImage: string | null
}

export type MachineBootSource =
  | { kind: 'disk' }
  /** A live CoreOS with an agent in it, built into the machine: no server is needed. */
  | { kind: 'ramdisk'; parameters: Record<string, string> }
  /** A live ISO as virtual media, really fetched: it runs what its kernel arguments and its Ignition config say. */
  | { kind: 'iso'; url: string }
  /** A kernel and its initramfs by the network, or built into an ISO; `append` is the kernel's command line. */
  | { kind: 'pxe'; kernel: string; ramdisk: string; append: string }
  /** The medium that is inserted as a CD; the disks while there is none. */
  | { kind: 'cdrom' }
  /** A live system of the user, which runs from memory: its contents are unknown, and no program can reach it. */
  | { kind: 'live'; image: { iso: string } | { kernel: string; ramdisk: string } }
