import { UserError } from '../base/runtime/index.js'
import { bmcAccess, type BmcAccess } from './bmc-access.js'
import type { BareMetalHostManifest, DeviceHints, HostImageManifest } from './manifest-types.js'

/** An error in a host's manifest and its path. */
export type Complaint = [path: (string | number)[], message: string]

export const isCoreosImage = (image: HostImageManifest | undefined): boolean =>
  image?.format === 'coreos' || image?.diskFormat === 'coreos'

const INSPECT = 'inspect.metal3.io'

export const isInspected = ({ metadata, spec }: BareMetalHostManifest): boolean =>
  !spec.externallyProvisioned && metadata.annotations?.[INSPECT] !== 'disabled' && spec.inspectionMode !== 'disabled'

/** Errors that BareMetal Operator's webhook and provisioner find in a host that its schema accepts. */
export function hostComplaints(host: BareMetalHostManifest): Complaint[] {
  const { metadata, spec } = host
  const access = spec.bmc ? accessOf(spec.bmc.address) : undefined
  const annotation = metadata.annotations?.[INSPECT]
  const isContradicted =
    annotation && spec.inspectionMode && (annotation === 'disabled') !== (spec.inspectionMode === 'disabled')
  return [
    ...(/[^A-Za-z0-9._-]/.test(metadata.name) ? [name('it may only have letters, digits, ., _ and -')] : []),
    ...(HOST_UUID_PATTERN.test(metadata.name) ? [name('a UUID would be taken for the id of a node')] : []),
    ...(typeof access === 'string' ? [complaintAt(['spec', 'bmc', 'address'], access)] : []),
    ...(typeof access === 'object' ? accessComplaints(host, access) : []),
    ...imageComplaints(spec.image, spec.customDeploy !== undefined),
    ...raidComplaints(spec.raid),
    ...hintComplaints(spec.rootDeviceHints, ['spec', 'rootDeviceHints']),
    ...secretComplaints(host),
    ...(spec.firmware
      ? [
          complaintAt(
            ['spec', 'firmware'],
            'no driver supports it any more; name BIOS settings in a HostFirmwareSettings',
          ),
        ]
      : []),
    ...(spec.disablePowerOff && !spec.online
      ? [complaintAt(['spec', 'online'], 'it cannot be false where power off is disabled')]
      : []),
    ...(isContradicted ? [complaintAt(['spec', 'inspectionMode'], `it contradicts the annotation ${INSPECT}`)] : []),
  ]
}

const HOST_UUID_PATTERN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const complaintAt = (path: (string | number)[], message: string): Complaint => [path, message]
const name = (message: string): Complaint => complaintAt(['metadata', 'name'], message)

function accessOf(address: string): BmcAccess | string {
  try {
    return bmcAccess(address, { username: '', password: '' })
  } catch (error) {
    if (error instanceof UserError) return error.message
    throw error
  }
}

function accessComplaints(host: BareMetalHostManifest, { scheme, driver, needsMac }: BmcAccess): Complaint[] {
  const { bootMACAddress: mac, raid, bootMode } = host.spec
  const isDisabled = !host.spec.externallyProvisioned && !isInspected(host)
  const needs = needsMac ? `a BMC of ${scheme} needs it` : isDisabled ? 'without inspection it is needed' : undefined
  return [
    ...(mac === undefined && needs ? [complaintAt(['spec', 'bootMACAddress'], needs)] : []),
    ...(driver === 'ipmi' && raid?.hardwareRAIDVolumes?.length
      ? [complaintAt(['spec', 'raid', 'hardwareRAIDVolumes'], `a BMC of ${scheme} makes no RAID`)]
      : []),
    ...(driver === 'ipmi' && bootMode === 'UEFISecureBoot'
      ? [complaintAt(['spec', 'bootMode'], `a BMC of ${scheme} does not switch secure boot on`)]
      : []),
  ]
}

const DIGESTS: Readonly<Record<number, 'md5' | 'sha256' | 'sha512'>> = { 32: 'md5', 64: 'sha256', 128: 'sha512' }

/** Algorithm of an image's checksum; undefined when its length matches none. */
function checksumTypeOf({ checksum, checksumType = 'md5' }: HostImageManifest) {
  if (checksumType !== 'auto') return checksumType
  return DIGESTS[checksum?.trim().length ?? 0]
}

function imageComplaints(image: HostImageManifest | undefined, hasCustomDeploy: boolean): Complaint[] {
  if (!image) return []
  const place = (field: string) => ['spec', 'image', field]
  const { url = '' } = image
  if (isCoreosImage(image)) {
    const field = image.format === 'coreos' ? 'format' : 'diskFormat'
    return [
      ...(url === '' || /^https?:\/\//.test(url)
        ? []
        : [
            complaintAt(place('url'), `where ${field} is coreos, it is empty, or an http or https URL of a disk image`),
          ]),
      ...(image.diskFormat && image.format && image.format !== 'coreos'
        ? [complaintAt(place('format'), 'it contradicts diskFormat: coreos')]
        : []),
      ...(hasCustomDeploy
        ? [complaintAt(['spec', 'customDeploy'], `there is image.${field}: coreos too: write one or the other`)]
        : []),
    ]
  }
  if (url === '') return [complaintAt(['spec', 'image'], 'the field url is missing or empty')]
  if (!URL.canParse(url)) return [complaintAt(place('url'), `it is not a URL: ${url}`)]
  if (image.format === 'live-iso' || url.startsWith('oci://')) return []
  if (!image.checksum)
    return [complaintAt(['spec', 'image'], 'the field checksum is missing: only live-iso and oci:// go without')]
  return checksumTypeOf(image) === undefined && !URL.canParse(image.checksum)
    ? [complaintAt(place('checksum'), 'its length is none of MD5, SHA-256 and SHA-512')]
    : []
}

function raidComplaints(raid: BareMetalHostManifest['spec']['raid']): Complaint[] {
  const hardware = raid?.hardwareRAIDVolumes ?? []
  const software = raid?.softwareRAIDVolumes ?? []
  const inHardware = (index: number, field: string) => ['spec', 'raid', 'hardwareRAIDVolumes', index, field]
  const names = hardware.map((volume) => volume.name)
  return [
    ...(hardware.length > 0 && software.length > 0
      ? [complaintAt(['spec', 'raid'], 'hardwareRAIDVolumes and softwareRAIDVolumes cannot both be there')]
      : []),
    ...hardware.flatMap(({ name: own, physicalDisks = [], controller, numberOfPhysicalDisks: count }, index) => [
      ...(own !== undefined && names.indexOf(own) !== index
        ? [complaintAt(inHardware(index, 'name'), `two volumes have the name ${own}`)]
        : []),
      ...(physicalDisks.length > 0 && !controller
        ? [
            complaintAt(
              inHardware(index, 'physicalDisks'),
              'disks are named by their controller, and there is no controller',
            ),
          ]
        : []),
      ...(physicalDisks.length > 0 && count !== undefined && count !== physicalDisks.length
        ? [
            complaintAt(
              inHardware(index, 'numberOfPhysicalDisks'),
              `it is ${count}, and physicalDisks names ${physicalDisks.length}`,
            ),
          ]
        : []),
    ]),
    ...(software[0] && software[0].level !== '1'
      ? [
          complaintAt(
            ['spec', 'raid', 'softwareRAIDVolumes', 0, 'level'],
            'the first volume is booted from and must be of level 1',
          ),
        ]
      : []),
    ...software.flatMap(({ physicalDisks = [] }, index) =>
      physicalDisks.flatMap((hints, disk) =>
        hintComplaints(hints, ['spec', 'raid', 'softwareRAIDVolumes', index, 'physicalDisks', disk]),
      ),
    ),
  ]
}

function hintComplaints(hints: DeviceHints | undefined, path: (string | number)[]): Complaint[] {
  const device = hints?.deviceName
  if (device === undefined || device === '' || /^\/dev\/(disk\/by-path\/)?[^/]+$/.test(device)) return []
  return [complaintAt([...path, 'deviceName'], `it must be below /dev/ or /dev/disk/by-path/, not ${device}`)]
}

function secretComplaints({ metadata, spec }: BareMetalHostManifest): Complaint[] {
  const own = metadata.namespace
  return (['userData', 'networkData', 'metaData'] as const).flatMap((field) => {
    const other = spec[field]?.namespace
    if (other === undefined || other === (own ?? other)) return []
    return [complaintAt(['spec', field, 'namespace'], `a Secret must be in the host's namespace, ${own}`)]
  })
}
