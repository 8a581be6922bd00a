import { defined } from '../../../base/runtime/index.js'
import type { Machine, MediaDrive } from '../../../machine/index.js'
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
import { ofMachine, type MachineCall, type RedfishResource, type ResourceParent } from '../protocol/resource.js'

interface MediaSlot {
  device: MediaDrive
  name: string
  types: readonly string[]
}

/** The slots, by their ids. */
export const MEDIA_SLOTS: ReadonlyMap<string, MediaSlot> = new Map([
  ['Cd', { device: 'cdrom', name: 'Virtual CD', types: ['CD', 'DVD'] }],
  ['Floppy', { device: 'floppy', name: 'Virtual floppy', types: ['Floppy'] }],
  ['UsbStick', { device: 'disk', name: 'Virtual USB stick', types: ['USBStick'] }],
])

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

const slotOf = ({ params }: MachineCall) => MEDIA_SLOTS.get(params['slot']!)

function present(call: MachineCall): MediaSlot {
  const slot = slotOf(call)
  if (!slot) throw messageRefusal(404, 'ResourceNotFound', ['VirtualMedia', call.params['slot']!])
  return slot
}

function mediumOf(parent: ResourceParent, machine: Machine, id: string): RedfishDocument | undefined {
  const slot = MEDIA_SLOTS.get(id)
  if (!slot) return undefined
  const path = [parent, machine.spec.id, 'VirtualMedia', id]
  const image = machine.firmware.inserted(slot.device)
  const { username, writeProtected = true } = machine.firmware.mediaOptions(slot.device)
  const action = (name: string) => ({ target: redfishPath(...path, 'Actions', `VirtualMedia.${name}`) })
  return {
    ...resourceHead('VirtualMedia', path, slot.name),
    MediaTypes: slot.types,
    Image: image ?? null,
    ImageName: image === undefined ? null : nameIn(image),
    Inserted: image !== undefined,
    ConnectedVia: image === undefined ? 'NotConnected' : 'URI',
    WriteProtected: image === undefined ? null : writeProtected,
    TransferMethod: image === undefined ? null : 'Stream',
    TransferProtocolType: image === undefined ? null : protocolOf(image),
    UserName: username ?? null,
    Password: null,
    VerifyCertificate: machine.firmware.mediaTrust(slot.device).verify,
    Certificates: referenceTo(...path, 'Certificates'),
    Status: enabledStatus(),
    Actions: {
      '#VirtualMedia.InsertMedia': {
        ...action('InsertMedia'),
        'TransferMethod@Redfish.AllowableValues': ['Stream', 'Upload'],
        'TransferProtocolType@Redfish.AllowableValues': MEDIA_PROTOCOLS,
      },
      '#VirtualMedia.EjectMedia': action('EjectMedia'),
    },
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

/** @throws Refusal 400 for an image that is of another protocol than the request says */
function insert(call: MachineCall, wanted: RedfishDocument): Promise<void> {
  const { UserName, Password, WriteProtected, TransferProtocolType: protocol } = wanted
  const actual = protocolOf(String(wanted['Image']))
  if (protocol !== undefined && protocol !== actual)
    throw messageRefusal(400, 'PropertyValueConflict', ['TransferProtocolType', 'Image'], {
      property: 'TransferProtocolType',
      resolution: `Use ${actual}, or leave it out.`,
    })
  const username = UserName as string | null | undefined
  const password = Password as string | null | undefined
  return call.machine.firmware.insert(present(call).device, String(wanted['Image']), {
    ...(username == null ? {} : { username }),
    ...(password == null ? {} : { password }),
    ...defined({ writeProtected: WriteProtected === false ? false : undefined }),
  })
}

const eject = (call: MachineCall): Promise<void> => call.machine.firmware.eject([present(call).device])

/** A PATCH does what the actions do, for clients of services without them. */
async function patch(call: MachineCall, parent: ResourceParent): Promise<void> {
  const { body, machine, params } = call
  const current = mediumOf(parent, machine, params['slot']!)
  checkPatch(
    body,
    { ...MEDIUM, Image: nullableCheck(fetchedUrl), Inserted: boolCheck, VerifyCertificate: boolCheck },
    current,
  )
  if (body['VerifyCertificate'] !== undefined) {
    await call.machine.firmware.trustMedia(present(call).device, { verify: body['VerifyCertificate'] === true })
    if (body['Image'] === undefined && body['Inserted'] === undefined) return
  }
  if (body['Image'] === null || body['Inserted'] === false) return eject(call)
  if (body['Image'] !== undefined) return insert(call, body)
  throw messageRefusal(400, 'PropertyMissing', ['Image'], {
    property: 'Image',
    resolution: 'Name the image to insert.',
  })
}

const mediaResources = (parent: ResourceParent): RedfishResource[] => {
  const root = `/${parent}/{machine}/VirtualMedia`
  return [
    ofMachine(root, {
      reads: 'read media',
      get: ({ machine: { spec } }) =>
        makeCollection(
          'VirtualMediaCollection',
          [parent, spec.id, 'VirtualMedia'],
          'Virtual Media',
          [...MEDIA_SLOTS.keys()].map((id) => referenceTo(parent, spec.id, 'VirtualMedia', id)),
        ),
    }),
    ofMachine(`${root}/{slot}`, {
      reads: 'read media',
      changes: 'change media',
      get: ({ machine, params }) => mediumOf(parent, machine, params['slot']!),
      patch: (call) => patch(call, parent),
    }),
    ofMachine(`${root}/{slot}/Actions/VirtualMedia.InsertMedia`, {
      reads: 'change media',
      post: async (call) => {
        present(call)
        checkAction('VirtualMedia.InsertMedia', call.body, { ...MEDIUM, Inserted: inserted }, ['Image'])
        await insert(call, call.body)
      },
    }),
    ofMachine(`${root}/{slot}/Actions/VirtualMedia.EjectMedia`, {
      reads: 'change media',
      post: async (call) => {
        checkAction('VirtualMedia.EjectMedia', call.body, {})
        await eject(call)
      },
    }),
  ]
}

export const VIRTUAL_MEDIA_RESOURCES: readonly RedfishResource[] = [
  ...mediaResources('Managers'),
  ...mediaResources('Systems'),
]
