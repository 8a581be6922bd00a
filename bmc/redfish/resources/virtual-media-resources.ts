import { defined } from '../../../base/runtime/index.js'
import type { MediaDrive } from '../../../machine/index.js'
import type { BmcDialect, DialectMedia, DialectSlot } from '../../dialects/index.js'
import { situationRefusal } from '../dialects/situation-refusal.js'
import {
  boolCheck,
  checkAction,
  checkPatch,
  FETCHED_PROTOCOLS,
  fetchedUrl,
  nullableCheck,
  choiceCheck,
  textCheck,
  valueProblem,
  type PropertyCheck,
} from '../protocol/value-checks.js'
import {
  makeCollection,
  resourceHead,
  referenceTo,
  redfishPath,
  enabledStatus,
  type RedfishDocument,
} from '../protocol/redfish-document.js'
import { messageRefusal } from '../protocol/redfish-refusal.js'
import { MEDIA_CONFIG_RESOURCES, mediaConfigLink } from './media-config-resources.js'
import {
  ofMachine,
  type MachineCall,
  type OfferedCall,
  type RedfishResource,
  type ResourceParent,
} from '../protocol/resource.js'

/** The slot of a BMC by its id. @param parent folder of its path */
export function slotNamed(
  { media, paths }: BmcDialect,
  wanted: string,
  parent: ResourceParent,
): DialectSlot | undefined {
  const isIt = (id: string) => (paths.ignoresCase ? id.toLowerCase() === wanted.toLowerCase() : id === wanted)
  return media.slots.find(({ id, below }) => isIt(id) && below.includes(parent))
}

const slotOf = ({ params, spoken }: OfferedCall, parent: ResourceParent): DialectSlot | undefined =>
  slotNamed(spoken.dialect, params['slot'] ?? '', parent)

/** Virtual media belong to the manager; newer services show them with the system, too. */

const MEDIA_PROTOCOLS = [...FETCHED_PROTOCOLS, 'OEM']

const MEDIUM: Readonly<Record<string, PropertyCheck>> = {
  Image: fetchedUrl,
  WriteProtected: boolCheck,
  TransferMethod: choiceCheck(['Stream', 'Upload']),
  TransferProtocolType: choiceCheck(MEDIA_PROTOCOLS),
  UserName: nullableCheck(textCheck({ most: 256 })),
  Password: nullableCheck(textCheck({ most: 1024 })),
}

/** An image that a slot has, and that is not inserted, is none here. */
const inserted: PropertyCheck = (value, path) =>
  value === true || typeof value !== 'boolean' ? boolCheck(value, path) : valueProblem(path, 'list', value, 'Use true.')

function present(call: MachineCall, parent: ResourceParent): DialectSlot {
  const slot = slotOf(call, parent)
  if (!slot) throw messageRefusal(404, 'ResourceNotFound', ['VirtualMedia', call.params['slot']!])
  return slot
}

function mediumOf(call: MachineCall, parent: ResourceParent): RedfishDocument | undefined {
  const slot = slotOf(call, parent)
  if (!slot) return undefined
  const { machine, spoken } = call
  const { firmware } = machine
  const { emptyImage } = spoken.dialect.media
  const path = [parent, machine.spec.id, 'VirtualMedia', slot.id]
  const image = slot.drive === null ? undefined : firmware.inserted(slot.drive)
  const { username, writeProtected = true } = slot.drive === null ? {} : firmware.mediaOptions(slot.drive)
  const ejected = slot.drive === null ? undefined : firmware.ejected(slot.drive)
  const empty = emptyImage === 'absent' ? undefined : emptyImage
  return {
    ...resourceHead('VirtualMedia', path, slot.name),
    MediaTypes: slot.types,
    ...defined({
      Image: image ?? empty,
      ImageName: image === undefined ? (ejected === undefined ? empty : nameIn(ejected)) : nameIn(image),
    }),
    Inserted: image !== undefined,
    ConnectedVia: image === undefined ? 'NotConnected' : 'URI',
    WriteProtected: image === undefined ? null : writeProtected,
    TransferMethod: image === undefined ? null : 'Stream',
    TransferProtocolType: image === undefined ? null : protocolOf(image),
    UserName: username ?? null,
    Password: null,
    VerifyCertificate: slot.drive === null ? false : firmware.mediaTrust(slot.drive).verify,
    ...defined({ Certificates: slot.drive === null ? undefined : referenceTo(...path, 'Certificates') }),
    Status: enabledStatus(),
    ...actionsOf(spoken.dialect.media, slot, path, image !== undefined),
  }
}

/** The actions of a slot; none for one of a BMC that inserts by PATCH, and for one that takes no image. */
function actionsOf(
  { insertBy, actionsFollowState, protocols, driveless }: DialectMedia,
  { drive }: DialectSlot,
  path: readonly string[],
  isFull: boolean,
): RedfishDocument {
  if (!['action', 'both'].includes(insertBy)) return {}
  const action = (name: string) => ({ target: redfishPath(...path, 'Actions', `VirtualMedia.${name}`) })
  const insert = {
    ...action('InsertMedia'),
    'TransferMethod@Redfish.AllowableValues': ['Stream', 'Upload'],
    'TransferProtocolType@Redfish.AllowableValues': protocols ?? MEDIA_PROTOCOLS,
  }
  const showsInsert = (drive !== null || driveless === 'listed') && !(actionsFollowState && isFull)
  const showsEject = !actionsFollowState || isFull
  return {
    Actions: defined({
      '#VirtualMedia.InsertMedia': showsInsert ? insert : undefined,
      '#VirtualMedia.EjectMedia': showsEject ? action('EjectMedia') : undefined,
    }),
  }
}

const nameIn = (image: string): string =>
  image
    .replace(/[?#].*$/s, '')
    .split('/')
    .at(-1)!

function protocolOf(image: string): string {
  const scheme = /^([a-z\d]+)/i.exec(image)![1]!.toUpperCase()
  return MEDIA_PROTOCOLS.includes(scheme) ? scheme : 'OEM'
}

/** @throws Refusal 400 for an image that this BMC does not take so, or that is of another protocol than the request says */
function insert(call: MachineCall, slot: DialectSlot, wanted: RedfishDocument): Promise<void> {
  const { UserName, Password, WriteProtected, TransferProtocolType: protocol } = wanted
  const image = String(wanted['Image'])
  const actual = protocolOf(image)
  if (protocol !== undefined && protocol !== actual)
    throw messageRefusal(400, 'PropertyValueConflict', ['TransferProtocolType', 'Image'], {
      property: 'TransferProtocolType',
      resolution: `Use ${actual}, or leave it out.`,
    })
  const drive = freeDrive(call, slot, image)
  const username = UserName as string | null | undefined
  const password = Password as string | null | undefined
  return call.machine.firmware.insert(drive, image, {
    ...(username == null ? {} : { username }),
    ...(password == null ? {} : { password }),
    ...defined({ writeProtected: WriteProtected === false ? false : undefined }),
  })
}

/** The drive of a slot that an image goes into. @throws Refusal for a slot that takes none, now or ever */
function freeDrive({ machine, spoken }: MachineCall, { id, drive }: DialectSlot, image: string): MediaDrive {
  const { whenFull, fullStatus, imageSuffix } = spoken.dialect.media
  if (drive === null)
    throw messageRefusal(400, 'OperationFailed', [], {
      property: 'Image',
      resolution: `The slot ${id} takes no image: use another.`,
    })
  if (imageSuffix !== null && !new URL(image).pathname.endsWith(imageSuffix))
    throw messageRefusal(400, 'PropertyValueFormatError', [image, 'Image'], {
      property: 'Image',
      resolution: `Name an image whose path ends with ${imageSuffix}.`,
    })
  if (whenFull === 'refused' && machine.firmware.inserted(drive) !== undefined)
    throw situationRefusal(spoken, 'slotFull', fullStatus, 'ResourceInUse', [], {
      property: 'Image',
      resolution: 'Eject the image that is in first.',
    })
  return drive
}

async function eject({ machine }: MachineCall, { drive }: DialectSlot): Promise<void> {
  if (drive !== null) await machine.firmware.eject([drive])
}

/** The checks of the properties of an image, as this BMC knows them. */
function mediumChecks(
  { refused, protocols }: DialectMedia,
  more: Readonly<Record<string, PropertyCheck>>,
): Readonly<Record<string, PropertyCheck>> {
  const transfer = defined({ TransferProtocolType: protocols === null ? undefined : choiceCheck(protocols) })
  const all = { ...MEDIUM, ...transfer, ...more }
  return Object.fromEntries(Object.entries(all).filter(([name]) => !refused.includes(name)))
}

/** A PATCH does what the actions do, for clients of services without them. */
async function patch(call: MachineCall, parent: ResourceParent): Promise<void> {
  const { body, machine, spoken } = call
  const slot = present(call, parent)
  const { media } = spoken.dialect
  const more = { Image: nullableCheck(fetchedUrl), Inserted: boolCheck, VerifyCertificate: boolCheck }
  const shown = Object.entries(mediumOf(call, parent) ?? {}).filter(([name]) => !media.refused.includes(name))
  checkPatch(body, mediumChecks(media, more), Object.fromEntries(shown))
  if (body['VerifyCertificate'] !== undefined && slot.drive !== null) {
    await machine.firmware.trustMedia(slot.drive, { verify: body['VerifyCertificate'] === true })
    if (body['Image'] === undefined && body['Inserted'] === undefined) return
  }
  if (body['Image'] === null || body['Inserted'] === false) return eject(call, slot)
  const missing = ['Image', ...media.required].find((name) => body[name] === undefined)
  if (missing === undefined) return insert(call, slot, body)
  throw messageRefusal(400, 'PropertyMissing', [missing], {
    property: missing,
    resolution: missing === 'Image' ? 'Name the image to insert.' : 'Add it.',
  })
}

async function insertMedia(call: MachineCall, parent: ResourceParent): Promise<void> {
  const { body, spoken } = call
  const slot = present(call, parent)
  const { media } = spoken.dialect
  if (slot.drive === null && media.driveless === 'unlisted')
    throw messageRefusal(405, 'OperationNotAllowed', [], {
      resolution: `The slot ${slot.id} takes no image: use another.`,
      headers: { allow: '' },
    })
  checkAction('VirtualMedia.InsertMedia', body, mediumChecks(media, { Inserted: inserted }), [
    'Image',
    ...media.required,
  ])
  await insert(call, slot, body)
}

async function ejectMedia(call: MachineCall, parent: ResourceParent): Promise<void> {
  checkAction('VirtualMedia.EjectMedia', call.body, {})
  const slot = present(call, parent)
  if (call.spoken.dialect.media.ejectBody === 'required' && (call.request.body ?? '').trim() === '')
    throw messageRefusal(400, 'UnrecognizedRequestBody', [], { resolution: 'Send {}.' })
  await eject(call, slot)
}

const hasSlotsBelow = ({ spoken }: OfferedCall, parent: ResourceParent): boolean => {
  const { slots, systemLink } = spoken.dialect.media
  if (slots.some(({ below }) => below.includes(parent))) return true
  // A DGX has an empty collection below its manager. An iDRAC 10 has none there (badfish 1.8 find_virtual_media_resource).
  return parent === 'Managers' ? slots.length === 0 : systemLink === 'own'
}

function slotCollection({ machine, spoken }: MachineCall, parent: ResourceParent): RedfishDocument {
  const { slots, insertBy } = spoken.dialect.media
  const isListed = ({ drive }: DialectSlot): boolean =>
    insertBy !== 'config' || (drive !== null && machine.firmware.inserted(drive) !== undefined)
  const path = [parent, machine.spec.id, 'VirtualMedia']
  const members = slots.filter((slot) => slot.below.includes(parent) && isListed(slot))
  const collection = makeCollection(
    'VirtualMediaCollection',
    path,
    'Virtual Media',
    members.map(({ id }) => referenceTo(...path, id)),
  )
  if (insertBy !== 'config') return collection
  const { Members, ...others } = collection
  // Empty, it has a count and no list (badfish's tests).
  return { ...others, ...defined({ Members: members.length === 0 ? undefined : Members }), ...mediaConfigLink(machine) }
}

const mediaResources = (parent: ResourceParent): RedfishResource[] => {
  const root = `/${parent}/{machine}/VirtualMedia`
  const hasActions = (call: OfferedCall) =>
    ['action', 'both'].includes(call.spoken.dialect.media.insertBy) && slotOf(call, parent) !== undefined
  return [
    ofMachine(root, {
      reads: 'read media',
      offers: (call) => hasSlotsBelow(call, parent),
      get: (call) => slotCollection(call, parent),
    }),
    ofMachine(`${root}/{slot}`, {
      reads: 'read media',
      changes: 'change media',
      offers: ({ spoken }, method) => method === 'get' || ['patch', 'both'].includes(spoken.dialect.media.insertBy),
      get: (call) => mediumOf(call, parent),
      patch: (call) => patch(call, parent),
    }),
    ofMachine(`${root}/{slot}/Actions/VirtualMedia.InsertMedia`, {
      reads: 'change media',
      offers: hasActions,
      post: (call) => insertMedia(call, parent),
    }),
    ofMachine(`${root}/{slot}/Actions/VirtualMedia.EjectMedia`, {
      reads: 'change media',
      offers: hasActions,
      post: (call) => ejectMedia(call, parent),
    }),
  ]
}

export const VIRTUAL_MEDIA_RESOURCES: readonly RedfishResource[] = [
  ...mediaResources('Managers'),
  ...mediaResources('Systems'),
  ...MEDIA_CONFIG_RESOURCES,
]
