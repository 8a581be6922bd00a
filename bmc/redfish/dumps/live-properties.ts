import { isObject } from '../../../base/runtime/index.js'
import type { BmcDialect } from '../../dialects/index.js'
import type { RedfishDocument } from '../protocol/redfish-document.js'
import type { RedfishResource } from '../protocol/resource.js'

/** A dumped document with what lives. */
type MergeLive = (dumped: RedfishDocument, live: RedfishDocument, dialect: BmcDialect) => RedfishDocument

const BOOT = [
  'Boot.BootSourceOverrideEnabled',
  'Boot.BootSourceOverrideTarget',
  'Boot.BootSourceOverrideMode',
  'Boot.HttpBootUri',
]

const MEMBERS = ['Members', 'Members@odata.count']

/** Properties of a slot, which are the dump's while it is as empty as it was then. */
const MEDIUM = [
  'Image',
  'ImageName',
  'Inserted',
  'ConnectedVia',
  'WriteProtected',
  'TransferMethod',
  'TransferProtocolType',
  'UserName',
  'Password',
  'VerifyCertificate',
]

/** Takes the live values of properties that the dump has. */
const properties =
  (...paths: readonly string[]): MergeLive =>
  (dumped, live) =>
    paths.reduce((merged, path) => withLive(merged, live, path.split('.')), dumped)

function withLive(dumped: RedfishDocument, live: unknown, [name, ...below]: readonly string[]): RedfishDocument {
  if (name === undefined || !isObject(live) || !Object.hasOwn(dumped, name) || !Object.hasOwn(live, name)) return dumped
  if (below.length === 0) return { ...dumped, [name]: live[name] }
  const inner = dumped[name]
  return isObject(inner) ? { ...dumped, [name]: withLive(inner, live[name], below) } : dumped
}

/** An override by a device path is the dump's while there is none: an iLO writes None for it. */
const boot: MergeLive = (dumped, live, dialect) => {
  const merged = properties(...BOOT)(dumped, live, dialect)
  const wanted = isObject(live['Boot']) ? live['Boot']['UefiTargetBootSourceOverride'] : undefined
  return typeof wanted === 'string' ? withLive(merged, live, ['Boot', 'UefiTargetBootSourceOverride']) : merged
}

const system: MergeLive = (dumped, live, dialect) =>
  properties(
    'PowerState',
    'BootProgress.LastState',
    'BiosVersion',
    'IndicatorLED',
  )(boot(dumped, live, dialect), live, dialect)

const medium: MergeLive = (dumped, live, { media }) => {
  const isInserted = live['Inserted'] === true
  const wasInserted = dumped['Inserted'] === true
  const isShown = (name: string) =>
    Object.hasOwn(dumped, name) || (isInserted && media.emptyImage === 'absent' && /^Image/.test(name))
  const merged = { ...dumped }
  const changes = isInserted || wasInserted ? MEDIUM : ['Inserted', ...(media.keepsImageName ? ['ImageName'] : [])]
  for (const name of changes) {
    if (name in live && isShown(name)) merged[name] = live[name]
    else if (!(name in live)) delete merged[name]
  }
  return media.actionsFollowState ? { ...merged, Actions: actionsNow(dumped, live) } : merged
}

/** The actions that can be carried out now, each as the dump has it where it has it. */
function actionsNow(dumped: RedfishDocument, live: RedfishDocument): RedfishDocument {
  const written = isObject(dumped['Actions']) ? dumped['Actions'] : {}
  const now = isObject(live['Actions']) ? live['Actions'] : {}
  const others = Object.entries(written).filter(([name]) => !name.startsWith('#VirtualMedia.'))
  const shown = Object.entries(now).map(([name, action]) => [name, written[name] ?? action])
  return Object.fromEntries([...others, ...shown])
}

/** Attributes that wait are missing while none does, with some. */
const settings: MergeLive = (dumped, live) => {
  const { Attributes: _, ...rest } = dumped
  return 'Attributes' in live ? { ...rest, Attributes: live['Attributes'] } : rest
}

const MERGES: Readonly<Record<string, MergeLive>> = {
  '/Systems/{machine}': system,
  '/Systems/{machine}/Settings': boot,
  '/Systems/{machine}/Bios': properties('Attributes'),
  '/Systems/{machine}/Bios/Settings': settings,
  '/Systems/{machine}/SecureBoot': properties('SecureBootEnable', 'SecureBootCurrentBoot', 'SecureBootMode'),
  '/Systems/{machine}/LogServices/{log}/Entries': properties(...MEMBERS),
  '/Systems/{machine}/VirtualMedia/{slot}': medium,
  '/Managers/{machine}/VirtualMedia/{slot}': medium,
  '/Managers/{machine}/VirtualMedia/CfgCD': properties('Host', 'Path', 'Username', 'Password'),
  '/Managers/{machine}': properties('DateTime', 'DateTimeLocalOffset', 'FirmwareVersion'),
  '/Chassis/{machine}': properties('PowerState', 'IndicatorLED'),
  '/SessionService': properties('SessionTimeout'),
  '/SessionService/Sessions': properties(...MEMBERS),
  '/TaskService': properties('DateTime'),
  '/TaskService/Tasks': properties(...MEMBERS),
  '/EventService/Subscriptions': properties(...MEMBERS),
  '/AccountService/Accounts/{machine}': properties('UserName', 'Password'),
  '/UpdateService/FirmwareInventory/{component}': properties('Version'),
}

/** Resources that are the machine's own, also where the dump has others at their paths. */
const LIVE_ITEMS = [
  '/Systems/{machine}/LogServices/{log}/Entries/{entry}',
  '/SessionService/Sessions/{session}',
  '/TaskService/Tasks/{task}',
  '/EventService/Subscriptions/{subscription}',
]

export const isLiveItem = ({ path }: RedfishResource): boolean => LIVE_ITEMS.includes(path)

/** Collections whose members are the machines of a service. */
const COLLECTIONS_OF_MACHINES = ['/Systems', '/Managers', '/Chassis']

export const isShownByMembers = ({ path }: RedfishResource): boolean => COLLECTIONS_OF_MACHINES.includes(path)

/** A dumped document with the properties of a resource that live, where the dump has them. */
export function withLiveProperties(
  { path }: RedfishResource,
  dialect: BmcDialect,
  { dumped, live, hasOtherMembers }: { dumped: RedfishDocument; live: () => RedfishDocument; hasOtherMembers: boolean },
): RedfishDocument {
  if (hasOtherMembers) return properties(...MEMBERS)(dumped, live(), dialect)
  const merge = Object.hasOwn(MERGES, path) ? MERGES[path] : undefined
  return merge ? merge(dumped, live(), dialect) : dumped
}
