import type { DiskSpec, MachineSpec, NicSpec } from '../machine-spec.js'
import { transportOf } from './disk-transports.js'

/**
 * Names that Linux gives hardware by its position in the spec's lists. All programs and files of the machine take them
 * from here, so that they agree.
 */
export interface DiskNames {
  /** Host, channel, target, LUN of the SCSI layer; null for a disk that is not of it. */
  hctl: string | null
  /** Name in /dev/disk/by-path. */
  byPath: string
  /** Names in /dev/disk/by-id. */
  byId: string[]
}

export function diskNames(spec: MachineSpec, disk: DiskSpec): DiskNames {
  const index = spec.disks.indexOf(disk)
  const transport = transportOf(disk)
  return {
    hctl: disk.hctl ?? (transport.isScsi ? `${index}:0:0:0` : null),
    byPath: disk.byPath ?? transport.byPath(index),
    byId: transport.byId(disk),
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
