import { defined } from '../../runtime/index.js'
import type { Machine, MediaDevice } from '../../machine/index.js'
import {
  bool,
  checkAction,
  checkPatch,
  FETCHED_PROTOCOLS,
  fetchedUrl,
  nullable,
  oneOf,
  text,
  wrong,
  type Check,
} from '../protocol/checks.js'
import { collection, head, link, pathOf, status, type Document } from '../protocol/document.js'
import { refused } from '../protocol/refusal.js'
import { ofMachine, type MachineCall, type Resource } from '../protocol/resource.js'

interface Slot {
  device: MediaDevice
  name: string
  types: readonly string[]
}

/** The slots, by their ids. */
export const MEDIA_SLOTS: ReadonlyMap<string, Slot> = new Map([
  ['Cd', { device: 'cdrom', name: 'Virtual CD', types: ['CD', 'DVD'] }],
  ['Floppy', { device: 'floppy', name: 'Virtual floppy', types: ['Floppy'] }],
  ['UsbStick', { device: 'disk', name: 'Virtual USB stick', types: ['USBStick'] }],
])

/** Virtual media belong to the manager; newer services show them with the system, too. */
type Parent = 'Managers' | 'Systems'

const PROTOCOLS = [...FETCHED_PROTOCOLS, 'OEM']

const MEDIUM: Readonly<Record<string, Check>> = {
  Image: fetchedUrl,
  WriteProtected: bool,
  TransferMethod: oneOf(['Stream', 'Upload']),
  TransferProtocolType: oneOf(PROTOCOLS),
  UserName: nullable(text({ most: 256 })),
  Password: nullable(text({ most: 1024 })),
}

/** An image that a slot has, and that is not inserted, is none here. */
const inserted: Check = (value, path) =>
  value === true || typeof value !== 'boolean' ? bool(value, path) : wrong(path, 'list', value, 'Use true.')

const slotOf = ({ params }: MachineCall) => MEDIA_SLOTS.get(params['slot']!)

function present(call: MachineCall): Slot {
  const slot = slotOf(call)
  if (!slot) throw refused(404, 'ResourceNotFound', ['VirtualMedia', call.params['slot']!])
  return slot
}

function mediumOf(parent: Parent, machine: Machine, id: string): Document | undefined {
  const slot = MEDIA_SLOTS.get(id)
  if (!slot) return undefined
  const path = [parent, machine.spec.id, 'VirtualMedia', id]
  const image = machine.firmware.inserted(slot.device)
  const { username, writeProtected = true } = machine.firmware.mediaOptions(slot.device)
  const action = (name: string) => ({ target: pathOf(...path, 'Actions', `VirtualMedia.${name}`) })
  return {
    ...head('VirtualMedia', path, slot.name),
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
    Certificates: link(...path, 'Certificates'),
    Status: status(),
    Actions: {
      '#VirtualMedia.InsertMedia': {
        ...action('InsertMedia'),
        'TransferMethod@Redfish.AllowableValues': ['Stream', 'Upload'],
        'TransferProtocolType@Redfish.AllowableValues': PROTOCOLS,
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
  return PROTOCOLS.includes(scheme) ? scheme : 'OEM'
}

/** @throws Refusal 400 for an image that is of another protocol than the request says */
function insert(call: MachineCall, wanted: Document): Promise<void> {
  const { UserName, Password, WriteProtected, TransferProtocolType: protocol } = wanted
  const actual = protocolOf(String(wanted['Image']))
  if (protocol !== undefined && protocol !== actual)
    throw refused(400, 'PropertyValueConflict', ['TransferProtocolType', 'Image'], {
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
async function patch(call: MachineCall, parent: Parent): Promise<void> {
  const { body, machine, params } = call
  const current = mediumOf(parent, machine, params['slot']!)
  checkPatch(body, { ...MEDIUM, Image: nullable(fetchedUrl), Inserted: bool, VerifyCertificate: bool }, current)
  if (body['VerifyCertificate'] !== undefined) {
    await call.machine.firmware.trustMedia(present(call).device, { verify: body['VerifyCertificate'] === true })
    if (body['Image'] === undefined && body['Inserted'] === undefined) return
  }
  if (body['Image'] === null || body['Inserted'] === false) return eject(call)
  if (body['Image'] !== undefined) return insert(call, body)
  throw refused(400, 'PropertyMissing', ['Image'], { property: 'Image', resolution: 'Name the image to insert.' })
}

const below = (parent: Parent): Resource[] => {
  const root = `/${parent}/{machine}/VirtualMedia`
  return [
    ofMachine(root, {
      reads: 'read media',
      get: ({ machine: { spec } }) =>
        collection(
          'VirtualMediaCollection',
          [parent, spec.id, 'VirtualMedia'],
          'Virtual Media',
          [...MEDIA_SLOTS.keys()].map((id) => link(parent, spec.id, 'VirtualMedia', id)),
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

export const VIRTUAL_MEDIA_RESOURCES: readonly Resource[] = [...below('Managers'), ...below('Systems')]
