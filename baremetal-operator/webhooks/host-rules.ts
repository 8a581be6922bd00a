import { UserError } from '../../base/runtime/index.js'
import { INSPECT } from '../controller/annotations.js'
import { goQuote } from '../go/quote.js'
import { hostImageProblem } from '../manifests/manifest-host.js'
import { isCoreosImage } from '../manifests/manifest-rules.js'
import type { BareMetalHostManifest, DeviceHints } from '../manifests/manifest-types.js'
import { bmcAccess, type BmcAccess } from '../provisioner/bmc-access.js'
import { annotationComplaints } from './annotation-rules.js'
import { complaint, onlyComplaints, type MaybeComplaint, type WebhookComplaint } from './complaint.js'
import { urlProblem } from './url-rules.js'

/** A host as the webhook gets it: an absent spec is an empty one. */
export type CheckedHost = Pick<BareMetalHostManifest, 'metadata'> & {
  spec?: Partial<BareMetalHostManifest['spec']>
  status?: { operationalStatus?: string; provisioning?: { state?: string } }
}

type HostSpec = NonNullable<CheckedHost['spec']>

const at = (...path: (string | number)[]): (string | number)[] => ['spec', ...path]

/** Refusals of a new host: validateHost of baremetalhost_validation.go of BareMetal Operator. */
export function hostComplaints({ metadata, spec = {} }: CheckedHost): WebhookComplaint[] {
  const { annotations = {} } = metadata
  const isDisabled = spec.inspectionMode === 'disabled' || annotations[INSPECT] === 'disabled'
  const access = accessOf(spec.bmc?.address ?? '')
  const known = access && 'driver' in access ? access : undefined
  return onlyComplaints([
    access && 'message' in access ? access : undefined,
    spec.firmware
      ? complaint(
          at('firmware'),
          'the Firmware field is no longer supported, use HostFirmwareSettings resource instead',
        )
      : undefined,
    ...secretComplaints(metadata, spec),
    ...raidComplaints(spec),
    ...(known ? accessComplaints(spec, known, isDisabled) : []),
    nameComplaint(metadata.name),
    hintComplaint(spec.rootDeviceHints),
    ...imageComplaints(spec.image),
    ...annotationComplaints(annotations, isDisabled),
    inspectionComplaint(annotations[INSPECT] ?? '', spec, known),
    spec.disablePowerOff && !spec.online
      ? complaint(at('online'), "node can't simultaneously have online set to false and have power off disabled")
      : undefined,
    ...interfaceComplaints(spec),
  ])
}

/** Refusals of a changed one: validateChanges. */
export function hostChangeComplaints(before: CheckedHost, after: CheckedHost): WebhookComplaint[] {
  const was = before.spec ?? {}
  const is = after.spec ?? {}
  const states = [before, after].map(({ status }) => status?.provisioning?.state ?? '')
  const isDetached = [before, after].some(({ status }) => status?.operationalStatus === 'detached')
  const isMoved = Boolean(was.bmc?.address) && (is.bmc?.address ?? '') !== was.bmc?.address
  const hasOtherMac =
    Boolean(was.bootMACAddress) && (is.bootMACAddress ?? '').toLowerCase() !== was.bootMACAddress?.toLowerCase()
  const isLetGo = !was.externallyProvisioned && is.externallyProvisioned
  return [
    ...hostComplaints(after),
    ...onlyComplaints([
      isMoved && !isDetached && !states.includes('registering')
        ? complaint(
            at('bmc', 'address'),
            'BMC address can not be changed if the BMH is not in the Registering state, or if the BMH is not detached',
          )
        : undefined,
      hasOtherMac ? complaint(at('bootMACAddress'), 'bootMACAddress can not be changed once it is set') : undefined,
      isLetGo && !states.includes('available')
        ? complaint(
            at('externallyProvisioned'),
            `externallyProvisioned can only be enabled when in Available state, currently in ${states[0]}`,
          )
        : undefined,
    ]),
  ]
}

/** How a BMC is reached, or what is wrong with its address; undefined for an empty one. */
function accessOf(address: string): BmcAccess | WebhookComplaint | undefined {
  if (address === '') return undefined
  try {
    return bmcAccess(address, { username: '', password: '' })
  } catch (error) {
    if (error instanceof UserError) return complaint(at('bmc', 'address'), error.message)
    throw error
  }
}

function secretComplaints({ name, namespace }: CheckedHost['metadata'], spec: HostSpec): WebhookComplaint[] {
  return (['userData', 'networkData', 'metaData'] as const).flatMap((field) => {
    const other = spec[field]?.namespace ?? ''
    if (other === '' || other === namespace) return []
    const why = `${field}: cross-namespace Secret references are not allowed`
    return [complaint(at(field, 'namespace'), `baremetalhosts.metal3.io ${goQuote(name)} is forbidden: ${why}`)]
  })
}

function raidComplaints({ raid, rootDeviceHints }: HostSpec): WebhookComplaint[] {
  const hardware = raid?.hardwareRAIDVolumes ?? []
  const software = raid?.softwareRAIDVolumes ?? []
  const inHardware = (index: number, field: string) => at('raid', 'hardwareRAIDVolumes', index, field)
  const inSoftware = (...path: (string | number)[]) => at('raid', 'softwareRAIDVolumes', ...path)
  const roots = software.filter(({ rootVolume }) => rootVolume).length
  return onlyComplaints([
    hardware.length > 0 && software.length > 0
      ? complaint(at('raid'), 'hardwareRAIDVolumes and softwareRAIDVolumes can not be set at the same time')
      : undefined,
    ...hardware.flatMap(({ physicalDisks: disks = [], controller, numberOfPhysicalDisks: count }, index) => [
      disks.length > 0 && !controller
        ? complaint(
            inHardware(index, 'physicalDisks'),
            `'physicalDisks' specified without 'controller' in hardware RAID volume ${index}`,
          )
        : undefined,
      disks.length > 0 && count !== undefined && count !== disks.length
        ? complaint(
            inHardware(index, 'numberOfPhysicalDisks'),
            `the 'numberOfPhysicalDisks'[${count}] and number of 'physicalDisks'[${disks.length}] is not same for volume ${index}`,
          )
        : undefined,
    ]),
    roots > 1 ? complaint(inSoftware(), 'softwareRAIDVolumes[*].rootVolume can only be set once') : undefined,
    roots === 1 && rootDeviceHints
      ? complaint(
          at('rootDeviceHints'),
          'softwareRAIDVolumes[*].rootVolume and rootDeviceHints can not be set at the same time',
        )
      : undefined,
    ...software.map(({ rootVolume, level }, index) =>
      rootVolume && level !== '1'
        ? complaint(
            inSoftware(index, 'level'),
            `softwareRAIDVolumes[${index}] with rootVolume set must use RAID level 1`,
          )
        : undefined,
    ),
  ])
}

function accessComplaints(spec: HostSpec, access: BmcAccess, isInspectionDisabled: boolean): WebhookComplaint[] {
  const { scheme, driver, needsMac } = access
  const { raid, bootMACAddress: mac = '', bootMode } = spec
  return onlyComplaints([
    driver === 'ipmi' && raid?.hardwareRAIDVolumes?.length
      ? complaint(at('raid', 'hardwareRAIDVolumes'), `BMC driver ${scheme} does not support configuring RAID`)
      : undefined,
    (needsMac || isInspectionDisabled) && mac === ''
      ? complaint(at('bootMACAddress'), `BMC driver ${scheme} requires a BootMACAddress value`)
      : undefined,
    mac === '' || isGoMac(mac) ? undefined : complaint(at('bootMACAddress'), `address ${mac}: invalid MAC address`),
    driver === 'ipmi' && bootMode === 'UEFISecureBoot'
      ? complaint(at('bootMode'), `BMC driver ${scheme} does not support secure boot`)
      : undefined,
  ])
}

/** net.ParseMAC of Go: 6, 8 or 20 bytes, in pairs or fours. */
const isGoMac = (text: string): boolean =>
  [6, 8, 20].some((bytes) =>
    [
      `^[\\da-f]{2}(:[\\da-f]{2}){${bytes - 1}}$`,
      `^[\\da-f]{2}(-[\\da-f]{2}){${bytes - 1}}$`,
      `^[\\da-f]{4}(\\.[\\da-f]{4}){${bytes / 2 - 1}}$`,
      `^[\\da-f]{${bytes * 2}}$`,
    ].some((pattern) => new RegExp(pattern, 'i').test(text)),
  )

/** Names of the permitted characters that uuid.Parse of github.com/google/uuid takes. */
const UUID_NAME = /^([\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}|[\da-f]{32})$/i

function nameComplaint(name: string): MaybeComplaint {
  const inName = (message: string) => complaint(['metadata', 'name'], `BareMetalHost resource name ${message}`)
  if (/[^A-Za-z0-9._-]/.test(name)) return inName('cannot contain characters other than [A-Za-z0-9._-]')
  return UUID_NAME.test(name) ? inName('cannot be a UUID') : undefined
}

function hintComplaint(hints: DeviceHints | undefined): MaybeComplaint {
  const { deviceName = '' } = hints ?? {}
  if (deviceName === '') return undefined
  const inHint = (rule: string) =>
    complaint(
      at('rootDeviceHints', 'deviceName'),
      `device name of root device hint must be ${rule}, not "${deviceName}"`,
    )
  if (!deviceName.startsWith('/dev/')) return inHint('a /dev/ path')
  const name = deviceName.replace(/^\/dev\/(disk\/by-path\/)?/, '')
  return name.includes('/') ? inHint('path in /dev/ or /dev/disk/by-path/') : undefined
}

/** Errors of an image: those of its URL, and GetChecksum's. The design's `format: coreos` is no image. */
export function imageComplaints(image: HostSpec['image']): WebhookComplaint[] {
  if (!image || isCoreosImage(image)) return []
  const { url = '' } = image
  const badUrl = urlProblem(url)
  const badChecksum = hostImageProblem(image)
  return onlyComplaints([
    badUrl === undefined ? undefined : complaint(at('image', 'url'), `image URL ${url} is invalid: ${badUrl}`),
    badChecksum === undefined ? undefined : complaint(at('image', 'checksum'), badChecksum),
  ])
}

function inspectionComplaint(annotation: string, { inspectionMode }: HostSpec, access?: BmcAccess): MaybeComplaint {
  const inMode = (message: string) => complaint(at('inspectionMode'), message)
  if (annotation && inspectionMode && (annotation === 'disabled') !== (inspectionMode === 'disabled'))
    return inMode('inspect.metal3.io annotation and inspectionMode field have contradicting values')
  if (inspectionMode === 'fast' && access?.driver === 'ipmi')
    return inMode(`BMC driver ${access.scheme} does not support fast (out-of-band) inspection`)
  return undefined
}

function interfaceComplaints({ networkInterfaces = [] }: HostSpec): WebhookComplaint[] {
  const seen = new Set<string>()
  return onlyComplaints(
    networkInterfaces.map(({ name = '', macAddress = '' }, index) => {
      const inList = (message: string) =>
        complaint(at('networkInterfaces', index), `networkInterfaces[${index}]: ${message}`)
      if (name === '' && macAddress === '') return inList('must specify either name or macAddress')
      if (name !== '' && macAddress !== '') return inList('name and macAddress are mutually exclusive')
      const key = macAddress || name
      const isKnown = seen.has(key.toLowerCase())
      seen.add(key.toLowerCase())
      return isKnown ? inList(`duplicate interface selector for ${goQuote(key)}`) : undefined
    }),
  )
}
