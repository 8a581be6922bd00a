import { isDeepStrictEqual } from 'node:util'
import { defined, isObject } from '../../base/runtime/index.js'
import {
  BMC_DIALECTS,
  RESET_TYPES,
  type BmcDialect,
  type DialectBoot,
  type DialectChanges,
  type DialectName,
} from '../../bmc/dialects/index.js'
import {
  lastPartOf,
  linkAt,
  memberPaths,
  numberAt,
  objectAt,
  settingsObject,
  textAt,
  textsAt,
  type DumpedDocument,
  type DumpedSystem,
  type RedfishDump,
} from '../../bmc/dumps/index.js'
import { derivedAttributes } from './derive-attributes.js'
import { nearestDialect, oemKey } from './choose-base.js'
import { derivedMedia } from './derive-slots.js'

/** A record of a BMC: its base, and what is otherwise. */
export type DerivedRecord = { readonly base: DialectName } & DialectChanges

/**
 * The record of a dumped BMC: what the dump shows of it, beside the record that is nearest. What no GET shows, as how a
 * refusal looks, is that of the base.
 */
export function derivedRecord(dump: RedfishDump, machine: DumpedSystem): DerivedRecord {
  const { root, system, manager, chassis } = machine
  const name = nearestDialect(machine)
  const base = BMC_DIALECTS[name]
  const idOf = (path: string | undefined) => (path === undefined ? null : lastPartOf(path))
  const product = textAt(system.document, 'Model')
  const found: DialectChanges = {
    description: descriptionOf(machine),
    basis: 'dump',
    ...defined({ manufacturer: textAt(system.document, 'Manufacturer'), model: product }),
    versions: {
      bios: textAt(system.document, 'BiosVersion') ?? null,
      bmc: textAt(manager?.document, 'FirmwareVersion') ?? null,
    },
    paths: { system: idOf(system.path), manager: idOf(manager?.path), chassis: idOf(chassis?.path) },
    service: {
      vendor: textAt(root.document, 'Vendor') ?? null,
      product: textAt(root.document, 'Product') ?? null,
      oem: oemKey(root.document) ?? null,
      ...defined({ redfishVersion: textAt(root.document, 'RedfishVersion') }),
    },
    // The dump has what there is, and lacks what there is not.
    resources: { absent: [], further: [] },
    media: derivedMedia(dump, machine, base),
    boot: derivedBoot(dump, machine, base),
    etags: { form: etagForm(machine) },
    power: derivedPower(dump, machine),
    bios: derivedBios(dump, machine),
    sessions: defined({ timeout: derivedTimeout(dump, machine) }),
    // A registry that a service lists need not be the one of its messages: those are known of a maker's BMC.
    errors: defined({ base: name === 'standard' ? messageBase(dump) : undefined }),
    properties: { leftOut: leftOut(dump, machine), changed: {}, renamed: {}, macs: base.properties.macs },
  }
  return { base: name, ...differences(base, found) }
}

function descriptionOf({ system, manager }: DumpedSystem): string {
  const product = textAt(system.document, 'Model') ?? 'a machine without a product name'
  const version = textAt(manager?.document, 'FirmwareVersion')
  return `A dump of ${product}${version === undefined ? '' : `, firmware ${version}`}`.slice(0, 512)
}

/** The values that are not those of the base. */
function differences(base: BmcDialect, found: DialectChanges): DialectChanges {
  const known: Record<string, unknown> = { ...base }
  const changed = Object.entries(found).flatMap(([part, value]) => {
    const own = known[part]
    if (!isObject(value) || !isObject(own)) return isDeepStrictEqual(value, own) ? [] : [[part, value] as const]
    const others = Object.entries(value).filter(([name, each]) => !isDeepStrictEqual(each, own[name]))
    return others.length === 0 ? [] : [[part, Object.fromEntries(others)] as const]
  })
  return Object.fromEntries(changed)
}

/** Devices that targets of an override mean, where a record does not say it: by the words of the DMTF's list and of makers. */
const DEVICES: readonly { name: RegExp; device: DialectBoot['targets'][string] }[] = [
  { name: /^none$/i, device: 'None' },
  { name: /pxe/i, device: 'Pxe' },
  { name: /http/i, device: 'UefiHttp' },
  { name: /cd|dvd/i, device: 'Cd' },
  { name: /floppy/i, device: 'Floppy' },
  { name: /usb|sdcard/i, device: 'Usb' },
  { name: /hdd|disk/i, device: 'Hdd' },
  { name: /setup/i, device: 'BiosSetup' },
  { name: /diag|utilit|shell/i, device: 'Diags' },
  { name: /uefitarget|uefibootnext/i, device: 'UefiTarget' },
]

const TARGETS = 'BootSourceOverrideTarget@Redfish.AllowableValues'
const ENABLED = 'BootSourceOverrideEnabled@Redfish.AllowableValues'
const OVERRIDE = 'BootSourceOverrideTarget'

function derivedBoot(dump: RedfishDump, { system }: DumpedSystem, base: BmcDialect): Partial<DialectBoot> {
  const boot = objectAt(system.document, 'Boot')
  const settings = settingsObject(system.document)
  const pending = objectAt(dump.document(settings), 'Boot')
  const overrideIn = pending !== undefined && OVERRIDE in pending
  const targets = textsAt(boot, TARGETS) ?? textsAt(pending, TARGETS)
  const enabled = textsAt(boot, ENABLED) ?? textsAt(pending, ENABLED)
  const known = (enabled ?? []).filter((each) => ['Disabled', 'Once', 'Continuous'].includes(each))
  return defined({
    at: overridePlace(boot, overrideIn, base),
    settings: settings === undefined ? null : lastPartOf(settings),
    settingsHold: settings === undefined ? undefined : overrideIn ? ('override' as const) : ('order' as const),
    targets: targets && Object.fromEntries(targets.map((name) => [name, deviceOf(name, base)])),
    targetsAt: textsAt(boot, TARGETS) ? ('system' as const) : targets ? ('settings' as const) : ('nowhere' as const),
    enabled: known.length > 0 ? (known as ('Disabled' | 'Once' | 'Continuous')[]) : undefined,
    showsEnabledValues: enabled !== undefined,
    mode: modeOf(boot, pending, base),
    ...modeRules(boot, pending, base),
  })
}

/** Resource that takes a change of the override. A dump does not say it of a system with a settings object: the base does. */
function overridePlace(boot: DumpedDocument | undefined, overrideIn: boolean, base: BmcDialect): DialectBoot['at'] {
  if (!overrideIn) return 'system'
  if (base.boot.at !== 'system') return base.boot.at
  // A system that lists its targets takes them itself, too.
  return textsAt(boot, TARGETS) ? 'both' : 'settings'
}

function modeOf(
  boot: DumpedDocument | undefined,
  pending: DumpedDocument | undefined,
  base: BmcDialect,
): DialectBoot['mode'] {
  const shown = [boot, pending].find((each) => each !== undefined && 'BootSourceOverrideMode' in each)
  if (!shown) return 'absent'
  if (shown['BootSourceOverrideMode'] === null) return 'null'
  return base.boot.mode === 'read-only' ? 'read-only' : 'writable'
}

/** Rules of the base about a mode that the dump does not have. */
function modeRules(
  boot: DumpedDocument | undefined,
  pending: DumpedDocument | undefined,
  base: BmcDialect,
): Partial<DialectBoot> {
  const mode = modeOf(boot, pending, base)
  return defined({
    together: mode === 'absent' ? base.boot.together.filter((name) => name !== 'BootSourceOverrideMode') : undefined,
    modeDefault: mode === 'writable' ? undefined : ('kept' as const),
  })
}

function deviceOf(name: string, base: BmcDialect): DialectBoot['targets'][string] {
  const known = Object.hasOwn(base.boot.targets, name) ? base.boot.targets[name] : undefined
  return known ?? DEVICES.find((each) => each.name.test(name))?.device ?? 'None'
}

/** ETags of the machine's own resources: an iDRAC has none there, and some of accounts. */
function etagForm({ system, manager }: DumpedSystem): BmcDialect['etags']['form'] {
  const tags = [system, ...(manager ? [manager] : [])].map(
    ({ headers, document }) => headers['etag'] ?? textAt(document, '@odata.etag'),
  )
  const tag = tags.find((each) => each !== undefined && each !== '')
  if (tag === undefined) return 'none'
  if (tag.startsWith('W/')) return 'weak'
  return /^"W\//.test(tag) ? 'quoted' : 'strong'
}

const VALUES = 'ResetType@Redfish.AllowableValues'

function derivedPower(dump: RedfishDump, { system, manager }: DumpedSystem): Partial<BmcDialect['power']> {
  const action = objectAt(system.document, 'Actions', '#ComputerSystem.Reset')
  const inline = textsAt(action, VALUES)
  const info = listedByInfo(dump, action)
  const ofManager = objectAt(manager?.document, 'Actions', '#Manager.Reset')
  const managerValues = textsAt(ofManager, VALUES) ?? listedByInfo(dump, ofManager)
  const hasInfo = linkAt(action, '@Redfish.ActionInfo') !== undefined
  const simulated = (values: readonly string[] | undefined) => {
    const known = values?.filter((each) => RESET_TYPES.includes(each))
    return known && known.length > 0 ? known : undefined
  }
  return defined({
    resets: simulated(inline ?? info),
    resetsBy: inline
      ? hasInfo
        ? ('both' as const)
        : ('inline' as const)
      : hasInfo
        ? ('ActionInfo' as const)
        : ('nowhere' as const),
    managerResets: simulated(managerValues),
  })
}

function listedByInfo(dump: RedfishDump, action: DumpedDocument | undefined): readonly string[] | undefined {
  const info = dump.document(linkAt(action, '@Redfish.ActionInfo'))
  const parameters: readonly unknown[] = Array.isArray(info?.['Parameters']) ? info['Parameters'] : []
  const type = parameters.find((each) => textAt(each, 'Name') === 'ResetType')
  return textsAt(type, 'AllowableValues')
}

function derivedBios(dump: RedfishDump, machine: DumpedSystem): Partial<BmcDialect['bios']> {
  const bios = dump.document(linkAt(machine.system.document, 'Bios'))
  if (!bios) return {}
  const settings = settingsObject(bios)
  const pending = dump.document(settings)
  const waiting = objectAt(pending, 'Attributes')
  const present = Object.keys(objectAt(bios, 'Attributes') ?? {}).length
  return defined({
    settings: settings === undefined ? undefined : lastPartOf(settings),
    pending: !pending
      ? undefined
      : waiting === undefined
        ? ('omitted' as const)
        : Object.keys(waiting).length > present / 2
          ? ('all' as const)
          : ('changes' as const),
    registry: textAt(bios, 'AttributeRegistry') ?? null,
    attributes: derivedAttributes(dump, machine),
  })
}

/** Seconds of idleness, within the specification's bounds. */
function derivedTimeout(dump: RedfishDump, { root }: DumpedSystem): number | undefined {
  const timeout = numberAt(dump.document(linkAt(root.document, 'SessionService')), 'SessionTimeout')
  return timeout !== undefined && Number.isInteger(timeout) && timeout >= 30 && timeout <= 86_400 ? timeout : undefined
}

/** The registry of messages: of a list of registries, as in `Base.1.12`. */
function messageBase(dump: RedfishDump): string | undefined {
  const registries = dump.document('/redfish/v1')
  const paths = memberPaths(dump, linkAt(registries, 'Registries'))
  const named = paths.map((path) => textAt(dump.document(path), 'Registry') ?? lastPartOf(path))
  return named.map((each) => /^Base\.v?\d+[._]\d+/i.exec(each)?.[0]).find((each) => each !== undefined)
}

/** Properties of ironstage's resources, by schema, that a dump may lack. */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  ComputerSystem: [
    'AssetTag',
    'Bios',
    'BiosVersion',
    'BootProgress',
    'Boot.BootOptions',
    'Boot.BootOrder',
    'Boot.HttpBootUri',
    'Boot.UefiTargetBootSourceOverride',
    'EthernetInterfaces',
    'IndicatorLED',
    'LogServices',
    'Manufacturer',
    'Memory',
    'Model',
    'Processors',
    'SKU',
    'SecureBoot',
    'SerialNumber',
    'SimpleStorage',
    'Storage',
  ],
  Manager: ['CommandShell', 'DateTime', 'DateTimeLocalOffset', 'FirmwareVersion', 'LogServices', 'Model', 'PowerState'],
  Chassis: ['IndicatorLED', 'NetworkAdapters', 'Power', 'PowerState', 'Sensors', 'Thermal'],
  VirtualMedia: [
    'Certificates',
    'ImageName',
    'Password',
    'Status',
    'TransferMethod',
    'TransferProtocolType',
    'UserName',
    'VerifyCertificate',
  ],
}

function leftOut(dump: RedfishDump, machine: DumpedSystem): string[] {
  const { system, manager, chassis } = machine
  const links = [linkAt(system.document, 'VirtualMedia'), linkAt(manager?.document, 'VirtualMedia')]
  const [slot] = links.flatMap((link) => memberPaths(dump, link))
  const documents: Readonly<Record<string, DumpedDocument | undefined>> = {
    ComputerSystem: system.document,
    Manager: manager?.document,
    Chassis: chassis?.document,
    VirtualMedia: dump.document(slot),
  }
  return Object.entries(SHOWN).flatMap(([schema, names]) => {
    const document = documents[schema]
    if (!document) return []
    return names.filter((name) => !hasProperty(document, name.split('.'))).map((name) => `${schema}.${name}`)
  })
}

function hasProperty(document: DumpedDocument, path: readonly string[]): boolean {
  const inner = path.length === 1 ? document : objectAt(document, ...path.slice(0, -1))
  return inner !== undefined && Object.hasOwn(inner, path.at(-1) ?? '')
}
