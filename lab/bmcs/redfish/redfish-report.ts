import { isObject } from '../../../base/runtime/index.js'
import { BmcError, type BmcHardware, type SystemReport } from '../../../ironic-mock/index.js'
import type { RedfishResource } from './redfish-connection.js'
import { linkIn, linksIn, listIn, numberIn, objectIn, textIn, type RedfishJson } from './redfish-json.js'
import { missingAttribute, type RedfishSystem } from './redfish-system.js'

type HardwareReport = Awaited<ReturnType<BmcHardware['report']>>
type BiosAttribute = HardwareReport['bios'][number]
type FirmwareVersion = HardwareReport['firmware'][number]

/** Firmware, settings and health of a machine. What its BMC does not offer is left out, as Ironic leaves it out. */
export async function hardwareReport(system: RedfishSystem): Promise<HardwareReport> {
  const found = await system.read()
  const health = textIn(objectIn(found.document, 'Status'), 'Health')
  return {
    bootMode: modeIn(found),
    secureBoot: await orWithout(false, async () => {
      const path = linkIn(found.document, 'SecureBoot')
      return path !== undefined && (await system.get(path)).document['SecureBootEnable'] === true
    }),
    vendor: textIn(found.document, 'Manufacturer') ?? '',
    health: health === 'Warning' || health === 'Critical' ? health : 'OK',
    bios: await orWithout([], () => biosAttributes(system, found)),
    firmware: await orWithout([], () => firmwareVersions(system, found)),
  }
}

/** A value that a BMC may not offer: only a BMC that does not answer ends the report. */
async function orWithout<T>(otherwise: T, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof BmcError && ['refused', 'unreadable'].includes(error.why)) return otherwise
    throw error
  }
}

function modeIn({ document }: RedfishResource): 'uefi' | 'bios' | null {
  switch (textIn(objectIn(document, 'Boot'), 'BootSourceOverrideMode')) {
    case 'UEFI':
      return 'uefi'
    case 'Legacy':
      return 'bios'
    default:
      return null
  }
}

async function biosAttributes(system: RedfishSystem, { document }: RedfishResource): Promise<readonly BiosAttribute[]> {
  const path = linkIn(document, 'Bios')
  if (path === undefined) return []
  const bios = (await system.get(path)).document
  const known = await orWithout(new Map<string, RedfishJson>(), () =>
    registryEntries(system, textIn(bios, 'AttributeRegistry')),
  )
  return Object.entries(objectIn(bios, 'Attributes') ?? {}).flatMap(([name, value]) => {
    const isValue = ['string', 'number', 'boolean'].includes(typeof value)
    return isValue ? [attributeOf(name, value as string | number | boolean, known.get(name))] : []
  })
}

/** Types of attributes that Ironic knows; a password is shown as a text. */
const ATTRIBUTE_TYPES = ['Enumeration', 'Integer', 'String', 'Boolean'] as const
const TYPE_OF = { string: 'String', number: 'Integer', boolean: 'Boolean' } as const

function attributeOf(name: string, value: string | number | boolean, entry: RedfishJson | undefined): BiosAttribute {
  const stated = textIn(entry, 'Type')
  return {
    name,
    value,
    type: ATTRIBUTE_TYPES.find((each) => each === stated) ?? TYPE_OF[typeof value as keyof typeof TYPE_OF],
    allowed: listIn(entry, 'Value').flatMap((each) => textIn(each, 'ValueName') ?? []),
    lower: numberIn(entry, 'LowerBound') ?? null,
    upper: numberIn(entry, 'UpperBound') ?? null,
    shortest: numberIn(entry, 'MinLength') ?? null,
    longest: numberIn(entry, 'MaxLength') ?? null,
    readOnly: entry?.['ReadOnly'] === true,
    resetRequired: entry?.['ResetRequired'] === true,
    unique: entry?.['IsSystemUniqueProperty'] === true,
  }
}

/** Entries of the registry of the BIOS attributes, by the names of these. */
async function registryEntries(
  system: RedfishSystem,
  name: string | undefined,
): Promise<ReadonlyMap<string, RedfishJson>> {
  const registries = linkIn(await system.connection.root(), 'Registries')
  if (name === undefined || registries === undefined) return new Map()
  const { document } = await system.get(registries)
  const files = linksIn(document, 'Members')
  // Most have the name in their path: then one is read instead of all.
  const [first] = files.filter((path) => path.split('/').includes(encodeURIComponent(name)))
  for (const path of first === undefined ? files : [first]) {
    const file = (await system.get(path)).document
    if (first === undefined && textIn(file, 'Registry') !== name && textIn(file, 'Id') !== name) continue
    const uri = listIn(file, 'Location').flatMap((each) => textIn(each, 'Uri') ?? [])[0]
    if (uri === undefined) return new Map()
    const registry = (await system.get(uri)).document
    const entries = listIn(objectIn(registry, 'RegistryEntries'), 'Attributes').filter(isObject)
    return new Map(entries.map((entry) => [textIn(entry, 'AttributeName') ?? '', entry]))
  }
  return new Map()
}

/** Versions of BIOS, BMC and NICs (ironic 39.0.0 drivers/modules/redfish/firmware.py cache_firmware_components). */
async function firmwareVersions(system: RedfishSystem, found: RedfishResource): Promise<readonly FirmwareVersion[]> {
  const versions: FirmwareVersion[] = []
  const add = (component: string, version: string | undefined, more: Partial<FirmwareVersion> = {}): void => {
    const unknown = { vendor: null, model: null, serial: null }
    if (version !== undefined) versions.push({ component, version, ...unknown, ...more })
  }
  add('bios', textIn(found.document, 'BiosVersion'))
  const [manager] = await system.managers(found)
  add('bmc', textIn(manager?.document, 'FirmwareVersion'))
  const [chassis] = linksIn(objectIn(found.document, 'Links'), 'Chassis')
  const adapters = chassis === undefined ? undefined : linkIn((await system.get(chassis)).document, 'NetworkAdapters')
  for (const { document } of await orWithout([], () => system.members(adapters))) {
    const serial = textIn(document, 'SerialNumber') ?? null
    const version = listIn(document, 'Controllers').flatMap((each) => textIn(each, 'FirmwarePackageVersion') ?? [])[0]
    add(`nic:${serial ?? textIn(document, 'Id') ?? ''}`, version, {
      serial,
      vendor: textIn(document, 'Manufacturer') ?? null,
      model: textIn(document, 'Model') ?? null,
    })
  }
  return versions
}

/** Ironic's names of architectures by those of Redfish (ironic 39.0.0 drivers/modules/redfish/inspect.py). */
const ARCHITECTURES: Readonly<Record<string, string>> = {
  'ARM-A32': 'arm',
  'ARM-A64': 'aarch64',
  'IA-64': 'ia64',
  MIPS32: 'mips',
  MIPS64: 'mips64',
  x86: 'i686',
  'x86-64': 'x86_64',
}

/**
 * Hardware for an inspection without a ramdisk (ironic 39.0.0 drivers/modules/redfish/inspect.py inspect_hardware).
 *
 * @throws UserError for a system without NICs, which Ironic always reads
 */
export async function systemReport(system: RedfishSystem): Promise<SystemReport> {
  const found = await system.read()
  const { document, path } = found
  const gibibytes = numberIn(objectIn(document, 'MemorySummary'), 'TotalSystemMemoryGiB') ?? 0
  const interfaces = linkIn(document, 'EthernetInterfaces')
  if (interfaces === undefined) throw missingAttribute('EthernetInterfaces', path)
  const nics = await system.members(interfaces)
  return {
    manufacturer: textIn(document, 'Manufacturer') ?? '',
    model: textIn(document, 'Model') ?? '',
    serial: textIn(document, 'SerialNumber') ?? '',
    memoryMib: Math.floor(gibibytes * 1024),
    cpu: await processorsOf(system, found),
    bootMode: modeIn(found) ?? 'uefi',
    nics: nics.flatMap((nic) => {
      const mac = textIn(nic.document, 'MACAddress')?.toLowerCase()
      if (mac === undefined || !/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/.test(mac)) return []
      return [{ name: textIn(nic.document, 'Id') ?? '', mac, speedMbps: numberIn(nic.document, 'SpeedMbps') ?? null }]
    }),
    disks: await disksOf(system, found),
  }
}

async function processorsOf(system: RedfishSystem, { document }: RedfishResource): Promise<SystemReport['cpu']> {
  const all = (await system.members(linkIn(document, 'Processors'))).map((each) => each.document)
  const threads = all.reduce((sum, each) => sum + (numberIn(each, 'TotalThreads') ?? 0), 0)
  const [first] = all
  return {
    count: threads,
    architecture: ARCHITECTURES[textIn(first, 'InstructionSet') ?? ''] ?? '',
    model: textIn(first, 'Model') ?? null,
  }
}

async function disksOf(system: RedfishSystem, { document }: RedfishResource): Promise<SystemReport['disks']> {
  const storage = linkIn(document, 'Storage')
  const found: RedfishJson[] = []
  for (const each of await system.members(storage ?? linkIn(document, 'SimpleStorage'))) {
    found.push(...listIn(each.document, 'Devices').filter(isObject))
    for (const path of linksIn(each.document, 'Drives')) found.push((await system.get(path)).document)
  }
  return found.map((disk) => ({
    name: textIn(disk, 'Name') ?? '',
    size: numberIn(disk, 'CapacityBytes') ?? 0,
    vendor: textIn(disk, 'Manufacturer') ?? '',
    model: textIn(disk, 'Model') ?? '',
    serial: textIn(disk, 'SerialNumber') ?? '',
    rotational: textIn(disk, 'MediaType') === 'HDD',
  }))
}
