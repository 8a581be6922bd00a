import { BmcError } from '../../../ironic-mock/index.js'
import type { MediaDevice } from '../../../base/wire/index.js'
import { missingSlot } from '../machine-bmc-hardware.js'
import type { RedfishResource } from './redfish-connection.js'
import { linkIn, objectIn, textIn, textsIn, type RedfishJson } from './redfish-json.js'
import { missingAction, type RedfishSystem } from './redfish-system.js'

/** Types of Redfish for Ironic's devices; a drive for DVDs is one for CDs (ironic 39.0.0 drivers/modules/redfish/boot.py). */
const MEDIA_TYPES: Readonly<Record<MediaDevice, readonly string[]>> = {
  cdrom: ['CD', 'DVD'],
  disk: ['USBStick'],
  floppy: ['Floppy'],
}

const fits = ({ document }: RedfishResource, device: MediaDevice | null): boolean =>
  device === null || (textsIn(document, 'MediaTypes') ?? []).some((type) => MEDIA_TYPES[device].includes(type))

export const isInserted = ({ document }: RedfishResource): boolean => document['Inserted'] === true

/** Drives of the system, and of its managers: newer services have them with both. */
async function drivesOf(system: RedfishSystem): Promise<{ ofSystem: string | undefined; ofManagers: string[] }> {
  const found = await system.read()
  const managers = await system.managers(found)
  return {
    ofSystem: linkIn(found.document, 'VirtualMedia'),
    ofManagers: managers.flatMap(({ document }) => linkIn(document, 'VirtualMedia') ?? []),
  }
}

/** The drives that take an image: those of the system, where it has any (ironic 39.0.0 redfish/boot.py _get_vmedia). */
export async function mediaDrives(system: RedfishSystem): Promise<readonly RedfishResource[]> {
  const { ofSystem, ofManagers } = await drivesOf(system)
  if (ofSystem !== undefined) return system.members(ofSystem)
  return system.members(ofManagers[0])
}

/** Empties the drives for a device, or all. */
export async function ejectMedia(system: RedfishSystem, device: MediaDevice | null): Promise<void> {
  const { ofSystem, ofManagers } = await drivesOf(system)
  const collections = new Set([...(ofSystem === undefined ? [] : [ofSystem]), ...ofManagers])
  for (const collection of collections) await ejectFrom(system, collection, device)
}

async function ejectFrom(system: RedfishSystem, collection: string, device: MediaDevice | null): Promise<void> {
  for (const drive of await system.members(collection))
    if (fits(drive, device) && isInserted(drive)) await ejectDrive(system, drive)
}

async function ejectDrive(system: RedfishSystem, drive: RedfishResource): Promise<void> {
  const { connection, options } = system
  const target = actionOf(drive, 'EjectMedia')
  if (target === undefined) return void (await system.patch(drive, { Image: null, Inserted: false }))
  try {
    await connection.post(target, undefined, options.signal)
  } catch (error) {
    const status = error instanceof BmcError ? error.answer?.status : undefined
    if (status !== 400 && status !== 415) throw error
    // Some, such as HPE's, want an empty object (sushy 5.14.0 resources/manager/virtual_media.py eject_media).
    try {
      await connection.post(target, {}, options.signal)
    } catch (again) {
      if (isInserted(await system.get(drive.path))) throw again
    }
  }
}

/** @throws UserError for a drive with neither the action nor a PATCH */
function actionOf(
  { path, headers, document }: RedfishResource,
  name: 'InsertMedia' | 'EjectMedia',
): string | undefined {
  const target = textIn(objectIn(objectIn(document, 'Actions'), `#VirtualMedia.${name}`), 'target')
  if (target !== undefined || /\bPATCH\b/i.test(headers['allow'] ?? '')) return target
  throw missingAction(`#VirtualMedia.${name}`, path)
}

/**
 * Inserts an image into the first drive for a device that takes it. What is there before goes first, since some BMCs go on
 * to show an image that they have ejected (ironic 39.0.0 drivers/modules/redfish/boot.py _insert_vmedia_in_resource).
 */
export async function insertMedia(system: RedfishSystem, device: MediaDevice, url: string): Promise<void> {
  const { ofSystem, ofManagers } = await drivesOf(system)
  let refused: unknown
  for (const collection of ofSystem === undefined ? ofManagers : [ofSystem]) {
    await ejectFrom(system, collection, device).catch((error: unknown) => {
      if (error instanceof BmcError && error.why === 'unreachable') throw error
    })
    for (const drive of await system.members(collection)) {
      if (!fits(drive, device) || !takesImages(drive)) continue
      try {
        return await insertInto(system, drive, url)
      } catch (error) {
        const status = error instanceof BmcError ? error.answer?.status : undefined
        if (status !== 400 && status !== 405) throw error
        refused = error
      }
    }
  }
  throw refused ?? missingSlot(system.uuid, `image ${url}`)
}

const takesImages = ({ headers, document }: RedfishResource): boolean =>
  objectIn(objectIn(document, 'Actions'), '#VirtualMedia.InsertMedia') !== undefined ||
  /\bPATCH\b/i.test(headers['allow'] ?? '')

/** Tries of one insertion: as it is, and once more for each member that a BMC misses. */
const INSERT_TRIES = 4

async function insertInto(system: RedfishSystem, drive: RedfishResource, url: string): Promise<void> {
  const target = actionOf(drive, 'InsertMedia')
  if (target === undefined)
    return void (await system.patch(drive, { Image: url, Inserted: true, WriteProtected: true }))
  const wanted: RedfishJson = { Image: url }
  for (let tries = 1; ; tries++)
    try {
      return void (await system.connection.post(target, wanted, system.options.signal))
    } catch (error) {
      const body = error instanceof BmcError ? (error.answer?.body ?? '') : ''
      if (tries === INSERT_TRIES || !addMissed(wanted, body)) throw error
    }
}

/** Adds what a BMC's answer misses (sushy 5.14.0 resources/manager/virtual_media.py insert_media); false for nothing. */
function addMissed(wanted: RedfishJson, body: string): boolean {
  const misses = (name: string): boolean =>
    new RegExp(String.raw`(ActionParameterMissing|PropertyMissing|GeneralError)`).test(body) && body.includes(name)
  if (wanted['TransferProtocolType'] === undefined && misses('TransferProtocolType')) {
    wanted['TransferProtocolType'] = String(wanted['Image']).startsWith('https:') ? 'HTTPS' : 'HTTP'
    return true
  }
  if (wanted['TransferMethod'] === undefined && misses('TransferMethod')) {
    wanted['TransferMethod'] = 'Stream'
    return true
  }
  if (wanted['UserName'] === undefined && (misses('UserName') || misses('Password'))) {
    wanted['UserName'] = 'none'
    wanted['Password'] = 'none'
    return true
  }
  return false
}
