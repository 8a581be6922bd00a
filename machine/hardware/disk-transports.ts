import type { DiskSpec } from '../machine-spec.js'

/** All that follows from how a disk is attached. */
export interface DiskTransport {
  /** `ID_BUS` of udev. */
  readonly bus: 'ata' | 'scsi' | 'usb' | 'nvme'
  /** The SCSI layer has it: with a host, channel, target and LUN, and a vendor. */
  readonly isScsi: boolean
  /** Major number of its device. */
  readonly major: number
  /** Subsystems as lsblk prints them. */
  readonly subsystems: string
  readonly isRemovable: boolean
  /** `Protocol` of a drive of Redfish. */
  readonly protocol: string
  /** The RAID controller has it, and can make volumes of it. */
  readonly isBehindRaid: boolean
  /** How a program tells it to erase itself; null if none can. */
  readonly erasure: 'ata security' | 'nvme format' | null
  /** `secureErase` of a disk that does not say it. */
  readonly canEraseByDefault: boolean
  /** Members that a disk of a hardware file has by default, where they differ from those of the default machine. */
  readonly defaults: Partial<DiskSpec>
  /** @param index from 0 among the disks of the machine, as below */
  readonly kernelName: (index: number) => string
  /** Name in /dev/disk/by-path. */
  readonly byPath: (index: number) => string
  /** Names in /dev/disk/by-id. */
  readonly byId: (disk: DiskSpec) => string[]
}

const scsiDisk = {
  isScsi: true,
  major: 8,
  subsystems: 'block:scsi:pci',
  isRemovable: false,
  isBehindRaid: true,
  erasure: null,
  canEraseByDefault: false,
  defaults: {},
  kernelName: (index: number) => `sd${String.fromCharCode('a'.charCodeAt(0) + index)}`,
} as const

const modelOf = ({ model }: DiskSpec): string => model.trim().replaceAll(/\s+/g, '_')

/** The transports, by their names in hardware files. */
export const DISK_TRANSPORTS: Readonly<Record<DiskSpec['transport'], DiskTransport>> = {
  sata: {
    ...scsiDisk,
    bus: 'ata',
    protocol: 'SATA',
    erasure: 'ata security',
    byPath: (index) => `pci-0000:00:1f.2-ata-${index + 1}`,
    byId: (disk) => [`ata-${modelOf(disk)}_${disk.serial}`, `wwn-${disk.wwn}`],
  },
  nvme: {
    bus: 'nvme',
    isScsi: false,
    // Namespaces live in the extended block range.
    major: 259,
    subsystems: 'block:nvme:pci',
    isRemovable: false,
    protocol: 'NVMe',
    isBehindRaid: false,
    erasure: 'nvme format',
    canEraseByDefault: true,
    defaults: { model: 'ISTAGE NVMe', vendor: '', rotational: false },
    kernelName: (index) => `nvme${index}n1`,
    byPath: (index) => `pci-0000:${(0x40 + index).toString(16)}:00.0-nvme-1`,
    byId: (disk) => [`nvme-${modelOf(disk)}_${disk.serial}`, `nvme-${disk.wwn}`],
  },
  sas: {
    ...scsiDisk,
    bus: 'scsi',
    protocol: 'SAS',
    byPath: (index) => `pci-0000:03:00.0-sas-phy${index}-lun-0`,
    byId: ({ wwn }) => [`scsi-3${wwn.replace(/^0x/, '')}`, `wwn-${wwn}`],
  },
  usb: {
    ...scsiDisk,
    bus: 'usb',
    isRemovable: true,
    protocol: 'USB',
    byPath: (index) => `pci-0000:00:14.0-usb-0:${index + 1}:1.0-scsi-0:0:0:0`,
    byId: (disk) => [`usb-${disk.vendor.trim()}_${modelOf(disk)}_${disk.serial}-0:0`],
  },
}

export const transportOf = ({ transport }: Pick<DiskSpec, 'transport'>): DiskTransport => DISK_TRANSPORTS[transport]
