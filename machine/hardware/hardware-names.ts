import type { DiskSpec, MachineSpec, NicSpec } from '../machine-spec.js'

/**
 * Names that Linux gives hardware by its position in the spec's lists. All programs and files of the machine take them
 * from here, so that they agree.
 */
export interface DiskNames {
  /** Host, channel, target, LUN of the SCSI layer; null for NVMe. */
  hctl: string | null
  /** Name in /dev/disk/by-path. */
  byPath: string
  /** Names in /dev/disk/by-id. */
  byId: string[]
  /** `ID_BUS` of udev. */
  bus: 'ata' | 'scsi' | 'usb' | 'nvme'
}

export function diskNames(spec: MachineSpec, disk: DiskSpec): DiskNames {
  const index = spec.disks.indexOf(disk)
  const hctl = `${index}:0:0:0`
  const model = disk.model.trim().replaceAll(/\s+/g, '_')
  const wwn = `wwn-${disk.wwn}`
  switch (disk.transport) {
    case 'sata':
      return {
        hctl,
        byPath: `pci-0000:00:1f.2-ata-${index + 1}`,
        byId: [`ata-${model}_${disk.serial}`, wwn],
        bus: 'ata',
      }
    case 'sas':
      return {
        hctl,
        byPath: `pci-0000:03:00.0-sas-phy${index}-lun-0`,
        byId: [`scsi-3${disk.wwn.replace(/^0x/, '')}`, wwn],
        bus: 'scsi',
      }
    case 'usb':
      return {
        hctl,
        byPath: `pci-0000:00:14.0-usb-0:${index + 1}:1.0-scsi-0:0:0:0`,
        byId: [`usb-${disk.vendor.trim()}_${model}_${disk.serial}-0:0`],
        bus: 'usb',
      }
    case 'nvme':
      return {
        hctl: null,
        byPath: `pci-0000:${(0x40 + index).toString(16)}:00.0-nvme-1`,
        byId: [`nvme-${model}_${disk.serial}`, `nvme-${disk.wwn}`],
        bus: 'nvme',
      }
  }
}

export interface NicNames {
  pciAddress: string
  vendor: string
  device: string
  driver: string
  /** Megabits a second. */
  speed: number
}

export function nicNames(spec: MachineSpec, nic: NicSpec): NicNames {
  return {
    pciAddress: `0000:${(spec.nics.indexOf(nic) + 1).toString(16).padStart(2, '0')}:00.0`,
    vendor: '0x1af4',
    device: '0x0001',
    driver: 'virtio_net',
    speed: 10_000,
  }
}

/** The hostname that the machine has from DHCP. */
export function hostName(spec: MachineSpec): string {
  const name = spec.id
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .slice(0, 63)
    .replaceAll(/^-+|-+$/g, '')
  return name === '' ? 'localhost' : name
}

/** Firmware fields of the SMBIOS tables, which /sys/class/dmi and lshw show too. */
export const FIRMWARE = { vendor: 'EDK II', version: '1.0.0', date: '01/01/2026' } as const

export const CPU = {
  x86_64: {
    vendor: 'GenuineIntel',
    model: 'Simulated x86-64 CPU @ 2.50GHz',
    flags:
      'fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat clflush mmx fxsr sse sse2 ss ht syscall nx pdpe1gb rdtscp lm constant_tsc rep_good nopl pni pclmulqdq vmx ssse3 fma cx16 sse4_1 sse4_2 x2apic movbe popcnt aes xsave avx f16c rdrand hypervisor lahf_lm abm avx2 bmi2 rdseed',
  },
  aarch64: {
    vendor: 'ARM',
    model: 'Neoverse-N1',
    flags: 'fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp ssbs',
  },
} as const
export const CPU_MHZ = 2500
