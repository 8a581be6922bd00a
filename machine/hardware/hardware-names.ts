import type { DiskSpec, MachineSpec, NicDriver, NicSpec } from '../machine-spec.js'
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
  bus: NicBus
  /** Address on its bus, as `ethtool -i` prints it. */
  busAddress: string
  /** Null for a NIC on another bus. */
  pciAddress: string | null
  vendor: string
  device: string
  driver: NicDriver
  /** Megabits a second. */
  speed: number
}

export type NicBus = 'pci' | 'usb'

/** Bus and speed, in megabits a second, by the driver of a NIC. */
export const NIC_DRIVERS: Readonly<Record<NicDriver, { bus: NicBus; speed: number }>> = {
  virtio_net: { bus: 'pci', speed: 10_000 },
  cdc_ether: { bus: 'usb', speed: 100 },
  cdc_ncm: { bus: 'usb', speed: 1000 },
}

export function nicNames(spec: MachineSpec, nic: NicSpec): NicNames {
  const position = spec.nics.indexOf(nic) + 1
  const driver = nic.driver ?? 'virtio_net'
  const { bus, speed } = NIC_DRIVERS[driver]
  const pciAddress = bus === 'pci' ? `0000:${position.toString(16).padStart(2, '0')}:00.0` : null
  return {
    bus,
    busAddress: pciAddress ?? `usb-0000:00:14.0-${position}`,
    pciAddress,
    vendor: '0x1af4',
    device: '0x0001',
    driver,
    speed,
  }
}

/** The hostname of a live system: what the machine has from DHCP. */
export function hostName({ hostname, id }: MachineSpec): string {
  if (hostname !== undefined) return hostname ?? 'localhost'
  const name = id
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
