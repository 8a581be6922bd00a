import { GIB } from '../../base/runtime/index.js'
import type { MachineSpec } from '../machine-spec.js'

/**
 * A two-disk, two-NIC UEFI server. The same number, or the same id, always gives the same machine: `machine-1` has MACs
 * 52:54:00:00:00:02 and :03 and its BMC at 198.19.0.1 (RFC 2544's range for tests: nothing answers there).
 *
 * @param n number of the machine from 1; or an id with the fields that differ from the profile
 *
 * @example
 * import { createLab, defaultMachineSpec } from 'ironstage'
 *
 * await using lab = await createLab()
 * const node = await lab.enroll({ machine: { ...lab.spec(1), cpus: defaultMachineSpec(1).cpus * 2 } })
 */
export function defaultMachineSpec(n: number | (Partial<MachineSpec> & { id: string })): MachineSpec {
  if (typeof n !== 'number') return { ...profile(n.id, hashId(n.id)), ...n }
  return profile(`machine-${n}`, n)
}

function profile(id: string, n: number): MachineSpec {
  const serial = n.toString(16).toUpperCase().padStart(6, '0')
  const mac = (port: number) => {
    const value = 2 * n + port
    return ['52', '54', '00', toHexByte(value >> 16), toHexByte(value >> 8), toHexByte(value)].join(':')
  }
  const wwn = (disk: number) => `0x5000c500${((n * 16 + disk) >>> 0).toString(16).padStart(8, '0')}`
  return {
    id,
    bmc: { address: `198.19.${(n >> 8) & 0xff}.${n & 0xff}`, systemId: id },
    firmware: 'uefi',
    architecture: 'x86_64',
    cpus: 8,
    memoryMib: 32 * 1024,
    manufacturer: 'ironstage',
    product: 'Simulated Server',
    serial: `IST-${serial}`,
    nics: [
      { name: 'eno1', mac: mac(0), ipv4: `198.18.${(n >> 8) & 0xff}.${n & 0xff}`, carrier: true, pxe: true },
      { name: 'eno2', mac: mac(1), ipv4: null, carrier: false, pxe: false },
    ],
    disks: [
      {
        name: 'sda',
        size: 64 * GIB,
        serial: `SSD${serial}A`,
        wwn: wwn(0),
        model: 'ISTAGE SSD 64',
        vendor: 'ATA',
        rotational: false,
        transport: 'sata',
        sectorSize: 512,
        backing: { kind: 'file' },
      },
      {
        name: 'sdb',
        size: 256 * GIB,
        serial: `HDD${serial}B`,
        wwn: wwn(1),
        model: 'ISTAGE HDD 256',
        vendor: 'ATA',
        rotational: true,
        transport: 'sata',
        sectorSize: 512,
        backing: { kind: 'file' },
      },
    ],
    metalImage: null,
  }
}

const toHexByte = (value: number): string => (value & 0xff).toString(16).padStart(2, '0')

/** FNV-1a hash of an id, above the small numbers that counted machines use. */
function hashId(id: string): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(id)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return (hash & 0x3fffff) | 0x400000
}
