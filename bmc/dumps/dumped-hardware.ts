import { linkAt, linksAt, lastPartOf, numberAt, objectAt, textAt, textsAt, type DumpedDocument } from './dump-values.js'
import { membersOf, type DumpedSystem } from './dumped-system.js'
import type { DumpedResource, RedfishDump } from './redfish-dump.js'

/** A NIC of a dump. */
export interface DumpedNic {
  readonly path: string
  /** As the dump writes it: in capitals or not, with colons. */
  readonly mac: string
  readonly link: 'up' | 'down' | 'unknown'
  /** True for the BMC's own USB NIC, which some list with those of the host. */
  readonly isOfBmc: boolean
}

/** A disk of a dump: a drive, or a volume of a RAID. */
export interface DumpedDrive {
  readonly path: string
  readonly document: DumpedDocument
  readonly isVolume: boolean
  /** Bytes. */
  readonly size: number
}

const MAC_PATTERN = /^[0-9a-f]{2}([:-][0-9a-f]{2}){5}$/i
const MIN_DISK_BYTES = 2 ** 20
const MAX_DISK_BYTES = 2 ** 50

/** An address of a NIC; undefined for none, as "" or zeros say it. */
function macIn(document: DumpedDocument, ...names: readonly string[]): string | undefined {
  const found = textAt(document, ...names)
  return found !== undefined && MAC_PATTERN.test(found) && !/^(00[:-]){5}00$/.test(found) ? found : undefined
}

/**
 * The NICs of a system, in the order of the dump: EthernetInterfaces, or else the adapters of HPE, or else those of its
 * chassis.
 */
export function dumpedNics(dump: RedfishDump, machine: DumpedSystem): DumpedNic[] {
  const found = [interfaceNics, baseAdapterNics, chassisNics].map((read) => read(dump, machine)).find(hasSome) ?? []
  const seen = new Set<string>()
  return found.filter(({ mac }) => {
    const isFirst = !seen.has(mac.toLowerCase())
    seen.add(mac.toLowerCase())
    return isFirst
  })
}

const hasSome = (nics: readonly DumpedNic[]): boolean => nics.length > 0

function interfaceNics(dump: RedfishDump, { system }: DumpedSystem): DumpedNic[] {
  return membersOf(dump, linkAt(system.document, 'EthernetInterfaces')).flatMap(({ path, document }) => {
    // A VLAN has the address of its NIC.
    if (textAt(document, 'EthernetInterfaceType') === 'Virtual') return []
    const mac = macIn(document, 'MACAddress') ?? macIn(document, 'PermanentMACAddress')
    const isOfBmc = /tomanager|hostinterface|usb.?nic/i.test(`${lastPartOf(path)} ${textAt(document, 'Name') ?? ''}`)
    return mac === undefined ? [] : [{ path, mac, link: linkOf(document), isOfBmc }]
  })
}

/** `Systems/1/BaseNetworkAdapters`, as iLO 5 has them. */
function baseAdapterNics(dump: RedfishDump, { system }: DumpedSystem): DumpedNic[] {
  const collection = `${system.path}/BaseNetworkAdapters`
  return membersOf(dump, collection).flatMap(({ path, document }) => {
    const ports: readonly unknown[] = Array.isArray(document['PhysicalPorts']) ? document['PhysicalPorts'] : []
    return ports.flatMap((port) => {
      const plain = objectAt({ port }, 'port') ?? {}
      const mac = macIn(plain, 'MacAddress')
      return mac === undefined ? [] : [{ path, mac, link: linkOf(plain), isOfBmc: false }]
    })
  })
}

function chassisNics(dump: RedfishDump, { root }: DumpedSystem): DumpedNic[] {
  const chassis = membersOf(dump, linkAt(root.document, 'Chassis'))
  const adapters = chassis.flatMap(({ document }) => membersOf(dump, linkAt(document, 'NetworkAdapters')))
  return adapters.flatMap(({ document }) => {
    const functions = membersOf(dump, linkAt(document, 'NetworkDeviceFunctions')).flatMap(functionNic)
    if (functions.length > 0) return functions
    const ports = [...membersOf(dump, linkAt(document, 'Ports')), ...membersOf(dump, linkAt(document, 'NetworkPorts'))]
    return ports.flatMap(portNic)
  })
}

function functionNic({ path, document }: DumpedResource): DumpedNic[] {
  const mac = macIn(document, 'Ethernet', 'MACAddress') ?? macIn(document, 'Ethernet', 'PermanentMACAddress')
  return mac === undefined ? [] : [{ path, mac, link: 'unknown', isOfBmc: false }]
}

function portNic({ path, document }: DumpedResource): DumpedNic[] {
  const all = [
    ...(textsAt(document, 'Ethernet', 'AssociatedMACAddresses') ?? []),
    ...(textsAt(document, 'AssociatedNetworkAddresses') ?? []),
  ]
  const mac = all.find((each) => MAC_PATTERN.test(each))
  return mac === undefined ? [] : [{ path, mac, link: linkOf(document), isOfBmc: false }]
}

function linkOf(document: DumpedDocument): DumpedNic['link'] {
  const status = textAt(document, 'LinkStatus') ?? ''
  if (/up$/i.test(status)) return 'up'
  return /down$|nolink/i.test(status) ? 'down' : 'unknown'
}

/** The disks of a system, in the order of the dump. A volume of a RAID stands for its drives. */
export function dumpedDrives(dump: RedfishDump, { root, system }: DumpedSystem): DumpedDrive[] {
  const storages = membersOf(dump, linkAt(system.document, 'Storage'))
  const volumes = storages.flatMap(({ document }) => membersOf(dump, linkAt(document, 'Volumes'))).filter(isRaid)
  const inRaid = new Set(volumes.flatMap(({ document }) => linksAt(document, 'Links', 'Drives')))
  const ofStorage = storages.flatMap(({ document }) => linksAt(document, 'Drives'))
  const ofChassis = membersOf(dump, linkAt(root.document, 'Chassis')).flatMap(({ document }) =>
    membersOf(dump, linkAt(document, 'Drives')).map(({ path }) => path),
  )
  const paths = [...new Set(ofStorage.length > 0 ? ofStorage : ofChassis)]
  const drives = paths.filter((path) => !inRaid.has(path)).flatMap((path) => dump.find(path) ?? [])
  return [...volumes.map((each) => diskOf(each, true)), ...drives.map((each) => diskOf(each, false))].filter(
    ({ size }) => size >= MIN_DISK_BYTES && size <= MAX_DISK_BYTES,
  )
}

const diskOf = ({ path, document }: DumpedResource, isVolume: boolean): DumpedDrive => ({
  path,
  document,
  isVolume,
  size: numberAt(document, 'CapacityBytes') ?? 0,
})

/** Controllers without RAID show a volume for each drive. */
function isRaid({ document }: DumpedResource): boolean {
  const type = textAt(document, 'RAIDType') ?? textAt(document, 'VolumeType') ?? 'None'
  return !/^(none|rawdevice)$/i.test(type)
}

/** Serial number that the system's firmware has: an iDRAC has it as `SKU`, the service tag (ironic 39 drac/inspect). */
export const dumpedSerial = ({ system: { document } }: DumpedSystem): string | undefined =>
  (/^dell\b/i.test(textAt(document, 'Manufacturer') ?? '') ? textAt(document, 'SKU') : undefined) ??
  textAt(document, 'SerialNumber')
