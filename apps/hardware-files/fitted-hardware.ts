import { isIP, isIPv4 } from 'node:net'
import { defined } from '../../base/runtime/index.js'
import {
  DISK_TRANSPORTS,
  NIC_DRIVERS,
  switchSystemOf,
  type DiskSpec,
  type LldpNeighbour,
  type LldpVlan,
  type MachineHardware,
  type NicDriver,
  type NicSpec,
} from '../../machine/index.js'
import type { ImportedDisk, FoundMachine, FoundNeighbour, FoundNic } from './found-machine.js'
import type { ImportNotes } from './import-notes.js'

const MAX_NICS = 64
const MAX_DISKS = 16
const MAX_CPUS = 4096
const MIN_DISK_BYTES = 2 ** 20
const MAX_DISK_BYTES = 2 ** 50
const MAX_VLANS = 64
const MAX_ADDRESSES = 16
const MAX_TEXT = 120
const MAC_PATTERN = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/
const HOSTNAME_PATTERN = /^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/

/** A description's machine as a hardware file can hold it; what it cannot is noted. */
export function fittedHardware(found: FoundMachine, notes: ImportNotes): MachineHardware {
  const nics = fittedNics(found.nics, notes)
  const disks = fittedDisks(found.disks, notes)
  return defined({
    firmware: fittedFirmware(found.firmware, notes),
    architecture: fittedArchitecture(found.architecture, notes),
    cpus: wholeNumber(found.cpus, MAX_CPUS, 'the number of CPUs is not one, and is left out', notes),
    memoryMib: wholeNumber(found.memoryMib, 2 ** 40, 'the size of the memory is not one, and is left out', notes),
    manufacturer: plainText(found.manufacturer),
    product: plainText(found.product),
    serial: plainText(found.serial),
    hostname: found.hostname !== undefined && HOSTNAME_PATTERN.test(found.hostname) ? found.hostname : undefined,
    nics: nics.length > 0 ? nics : undefined,
    disks,
  })
}

function fittedFirmware(mode: string | undefined, notes: ImportNotes): MachineHardware['firmware'] {
  const known = mode?.toLowerCase()
  if (known === undefined || known === 'uefi' || known === 'bios') return known
  notes.add('an unknown boot mode is left out, so UEFI is used', mode ?? '')
  return undefined
}

function fittedArchitecture(architecture: string | undefined, notes: ImportNotes): MachineHardware['architecture'] {
  const known = architecture === 'arm64' ? 'aarch64' : architecture === 'amd64' ? 'x86_64' : architecture
  if (known === undefined || known === '' || known === 'x86_64' || known === 'aarch64') return known || undefined
  notes.add('machines of another architecture are not simulated, so x86_64 is used', known)
  return undefined
}

function wholeNumber(value: number | undefined, most: number, reason: string, notes: ImportNotes): number | undefined {
  if (value === undefined || (Number.isInteger(value) && value >= 1 && value <= most)) return value
  notes.add(reason, `${value}`)
  return undefined
}

/** A text without the control characters and the spaces around it that firmware pads with; undefined if none is left. */
function plainText(text: string | undefined): string | undefined {
  const plain = text?.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '').trim()
  return plain === '' ? undefined : plain
}

function fittedNics(found: readonly FoundNic[], notes: ImportNotes): Partial<NicSpec>[] {
  const names = new Set<string>()
  const cards = found.filter((nic) => {
    const isVirtual = /\.\d+$|^(bond|br|virbr|veth|docker|vnet|tun|tap|lo)\d*$/.test(nic.name ?? '')
    if (isVirtual) notes.add('interfaces that are no hardware are left out', nic.name ?? '')
    return !isVirtual
  })
  for (const { name = 'a NIC without a name' } of cards.slice(MAX_NICS))
    notes.add(`a hardware file has at most ${MAX_NICS} NICs, so others are left out`, name)
  const [first, ...others] = cards
  if (first && others.length > 0 && !cards.some(({ pxe }) => pxe))
    notes.add('the NIC that the machine boots from is unknown, so the first one is used', first.name ?? 'NIC 1')
  return cards.slice(0, MAX_NICS).map((nic, index) => fittedNic(nic, index, names, notes))
}

function fittedNic(nic: FoundNic, index: number, names: Set<string>, notes: ImportNotes): Partial<NicSpec> {
  const name = uniqueName(plainText(nic.name), names)
  const label = name ?? `NIC ${index + 1}`
  const mac = nic.mac === undefined || MAC_PATTERN.test(nic.mac) ? nic.mac : undefined
  if (mac !== nic.mac) notes.add('addresses that are no Ethernet addresses are replaced by made-up ones', label)
  const driver = nic.driver !== undefined && Object.hasOwn(NIC_DRIVERS, nic.driver) ? nic.driver : undefined
  return defined({
    name,
    mac,
    ipv4: nic.ipv4 === null || isIPv4(nic.ipv4 ?? '') ? nic.ipv4 : undefined,
    carrier: nic.carrier,
    pxe: nic.pxe === true ? true : undefined,
    driver: driver as NicDriver | undefined,
    lldp: nic.lldp ? fittedNeighbour(nic.lldp, label, notes) : nic.carrier === false ? undefined : nic.lldp,
  })
}

/** Undefined for a second device of the same name: names of the simulated Linux are used then. */
function uniqueName(name: string | undefined, names: Set<string>): string | undefined {
  if (name === undefined || names.has(name)) return undefined
  names.add(name)
  return name
}

function fittedNeighbour(found: FoundNeighbour, label: string, notes: ImportNotes): LldpNeighbour {
  const chassis = found.chassis?.toLowerCase()
  const isMac = chassis !== undefined && MAC_PATTERN.test(chassis)
  if (chassis !== undefined && !isMac)
    notes.add('switches that do not announce a MAC address get a made-up one', `${label} (${shortText(chassis)})`)
  const addresses = found.managementAddresses?.filter((address) => isIP(address) !== 0 && !address.includes('%'))
  return defined({
    switch: switchSystemOf(found.systemDescription ?? ''),
    name: shortText(found.name),
    chassis: isMac ? chassis : undefined,
    port: shortText(found.port),
    portDescription: shortText(found.portDescription),
    untaggedVlan: isVlan(found.untaggedVlan) ? found.untaggedVlan : undefined,
    vlans: fittedVlans(found.vlans),
    mtu: found.mtu !== undefined && found.mtu >= 64 && found.mtu <= 65535 ? found.mtu : undefined,
    managementAddresses: addresses && addresses.length > 0 ? addresses.slice(0, MAX_ADDRESSES) : undefined,
  })
}

const isVlan = (id: number | undefined): id is number => id !== undefined && Number.isInteger(id) && id > 0 && id < 4095

function fittedVlans(vlans: FoundNeighbour['vlans']): LldpVlan[] | undefined {
  const usable = (vlans ?? []).filter(({ id }) => isVlan(id)).slice(0, MAX_VLANS)
  if (usable.length === 0) return undefined
  return usable.map(({ id, name }) => {
    const plain = plainText(name)
    return { id, ...defined({ name: plain !== undefined && Buffer.byteLength(plain) <= 32 ? plain : undefined }) }
  })
}

function shortText(text: string | undefined): string | undefined {
  const plain = plainText(text)
  return plain === undefined ? undefined : [...plain].slice(0, MAX_TEXT).join('')
}

function fittedDisks(found: readonly ImportedDisk[], notes: ImportNotes): Partial<DiskSpec>[] {
  const names = new Set<string>()
  const usable = found.filter((disk) => {
    const label = disk.name ?? 'a disk without a name'
    const isMade = /^(\/dev\/)?(md|dm-|zram|loop|ram|mapper\/)/.test(disk.name ?? '')
    const hasSize = disk.size === undefined || (disk.size >= MIN_DISK_BYTES && disk.size <= MAX_DISK_BYTES)
    if (isMade) notes.add('volumes that are made of other disks are left out', label)
    else if (!hasSize) notes.add('disks with a size outside of 1 MiB to 1 PiB are left out', label)
    return !isMade && hasSize
  })
  for (const { name = 'a disk without a name' } of usable.slice(MAX_DISKS))
    notes.add(`a hardware file has at most ${MAX_DISKS} disks, so others are left out`, name)
  return usable.slice(0, MAX_DISKS).map((disk, index) => fittedDisk(disk, index, names, notes))
}

function fittedDisk(disk: ImportedDisk, index: number, names: Set<string>, notes: ImportNotes): Partial<DiskSpec> {
  const kernelName = disk.name?.replace(/^\/dev\//, '')
  const name = uniqueName(/^[a-z][a-z0-9]*$/.test(kernelName ?? '') ? kernelName : undefined, names)
  const label = name ?? `disk ${index + 1}`
  if (name === undefined && disk.name !== undefined)
    notes.add('disks whose names are none of the kernel get names by their position', disk.name)
  const transport = fittedTransport(disk, label, notes)
  const sectorSize = fittedSectorSize(disk.sectorSize, label, notes)
  return defined({
    name,
    size: fittedSize(disk.size, sectorSize ?? 512, label, notes),
    serial: plainText(disk.serial),
    model: plainText(disk.model),
    vendor: plainText(disk.vendor),
    wwn: fittedWwn(disk.wwn, label, notes),
    wwnExtension: fittedWwn(disk.wwnExtension, label, notes),
    hctl: transport !== 'nvme' && /^\d+(:\d+){3}$/.test(disk.hctl ?? '') ? disk.hctl : undefined,
    byPath: plainText(disk.byPath?.replace(/^\/dev\/disk\/by-path\//, '')),
    // By default the first disk is an SSD, and others are not.
    rotational: disk.rotational ?? false,
    transport,
    sectorSize,
  })
}

function fittedTransport(disk: ImportedDisk, label: string, notes: ImportNotes): DiskSpec['transport'] {
  const named = disk.transport === 'ata' ? 'sata' : disk.transport
  if (named !== undefined && Object.hasOwn(DISK_TRANSPORTS, named)) return named as DiskSpec['transport']
  if (/^(\/dev\/)?nvme/.test(disk.name ?? '')) return 'nvme'
  const guess = disk.vendor?.trim() === 'ATA' || disk.hctl === undefined ? 'sata' : 'sas'
  notes.add(`the transport is guessed to be ${guess}`, named === undefined ? label : `${label} (${named})`)
  return guess
}

function fittedSectorSize(bytes: number | undefined, label: string, notes: ImportNotes): number | undefined {
  if (bytes === undefined || bytes === 512 || bytes === 4096) return bytes
  notes.add('sectors of other sizes than 512 and 4096 bytes become such of 512', label)
  return 512
}

function fittedSize(bytes: number | undefined, sector: number, label: string, notes: ImportNotes): number | undefined {
  if (bytes === undefined) {
    notes.add('the size of a disk is unknown, so that of the default machine is used', label)
    return undefined
  }
  const whole = Math.floor(bytes / sector) * sector
  if (whole !== bytes) notes.add('sizes are rounded down to whole sectors', label)
  return whole
}

/** `0x5000...`, `naa.5000...` and `eui.0025...` are hexadecimal; identifiers of other forms have no key. */
function fittedWwn(wwn: string | undefined, label: string, notes: ImportNotes): string | undefined {
  if (wwn === undefined || wwn === '') return undefined
  const digits = /^(?:0x|naa\.|eui\.)?([0-9a-f]+)$/.exec(wwn.trim().toLowerCase())?.[1]
  if (digits === undefined) notes.add('identifiers of disks that are no hexadecimal numbers are left out', label)
  return digits === undefined ? undefined : `0x${digits}`
}
