import type { JsonObject } from '../wire/index.js'
import { bmcAccess } from './bmc-access.js'
import type { Host, HostImage, HostRaid } from './host.js'
import { checksumTypeOf, isCoreosImage } from './manifest-rules.js'
import { BadSecret, secretObject, secretValue } from './manifest-secrets.js'
import type {
  BareMetalHostManifest,
  DeviceHints,
  HardwareVolume,
  ImageManifest,
  SecretManifest,
  SoftwareVolume,
} from './manifest-types.js'

/** What stands in for a secret wherever it is shown, and for one that is not at hand also where it is used. */
export const secretLabel = (secret: string, what: string): string => `(${what} of Secret ${secret})`

export interface HostParts {
  /** The Secret of a name in the host's namespace, where it is at hand. */
  secret: (name: string) => SecretManifest | undefined
  /** Told of a Secret that cannot be used. */
  bad: (secret: string, error: BadSecret) => void
  biosSettings?: Host['biosSettings']
  firmwareUpdates?: Host['firmwareUpdates']
}

/** What Ironic takes in place of one that is not at hand. */
const NO_NETWORK = { links: [], networks: [], services: [] }

/** A host as BareMetal Operator understands its manifest, and the Secrets that it refers to. */
export function hostOf({ metadata, spec }: BareMetalHostManifest, parts: HostParts): Host | null {
  if (!spec.bmc) return null
  const text = (secret: string, what: string, keys: readonly string[] = [what]): string =>
    from(secret, parts, (found) => secretValue(found, keys)) ?? secretLabel(secret, what)
  const network = (secret: string): JsonObject =>
    from(secret, parts, (found) => secretObject(found, ['networkData', 'value'])) ?? NO_NETWORK
  const { metaData } = spec

  const { credentialsName, address, disableCertificateVerification = false } = spec.bmc
  const account = { username: text(credentialsName, 'username'), password: text(credentialsName, 'password') }
  if (account.username === '' || account.password === '')
    parts.bad(credentialsName, new BadSecret([], 'username and password must not be empty'))
  const userData = spec.userData && text(spec.userData.name, 'userData', ['userData', 'value'])
  const isDesigned = isCoreosImage(spec.image)
  return {
    name: metadata.name,
    bmc: bmcAccess(address, { ...account, disableCertificateVerification }),
    disablePowerOff: spec.disablePowerOff ?? false,
    automatedCleaning: spec.automatedCleaningMode !== 'disabled',
    ...given('namespace', metadata.namespace),
    ...given('uid', metadata.uid),
    ...given('bootMac', spec.bootMACAddress),
    ...given('architecture', spec.architecture),
    ...given('bootMode', spec.bootMode),
    ...given('image', isDesigned ? undefined : imageOf(spec.image)),
    ...given('customDeploy', isDesigned ? designedDeploy(userData) : spec.customDeploy),
    // The design has the config as an argument of the step.
    ...given('userData', isDesigned ? undefined : userData),
    ...given('networkData', spec.networkData && network(spec.networkData.name)),
    ...given('metaData', metaData && from(metaData.name, parts, (found) => secretObject(found, ['metaData']))),
    ...given(
      'preprovisioningNetworkData',
      spec.preprovisioningNetworkDataName === undefined ? undefined : network(spec.preprovisioningNetworkDataName),
    ),
    ...given('rootDevice', spec.rootDeviceHints && ironicHints(spec.rootDeviceHints)),
    ...given('raid', raidOf(spec)),
    ...given('biosSettings', parts.biosSettings),
    ...given('firmwareUpdates', parts.firmwareUpdates),
  }
}

const given = <K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } =>
  (value === undefined ? {} : { [key]: value }) as { [P in K]?: V }

function from<T>(name: string, { secret, bad }: HostParts, read: (secret: SecretManifest) => T): T | undefined {
  const found = secret(name)
  if (!found) return undefined
  try {
    return read(found)
  } catch (error) {
    if (!(error instanceof BadSecret)) throw error
    bad(name, error)
    return undefined
  }
}

/** The step as the original design has BareMetal Operator ask for it. */
function designedDeploy(userData: string | undefined): NonNullable<Host['customDeploy']> {
  return { method: 'install_coreos', args: userData === undefined ? {} : { ignition: parsedOr(userData) } }
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function imageOf(image: ImageManifest | undefined): HostImage | undefined {
  if (image?.url === undefined) return undefined
  const { url, checksum, checksumType, format, ociAuthSecretName } = image
  return {
    url,
    ...given('checksum', checksum),
    ...(checksumType === undefined ? {} : given('checksumType', checksumTypeOf(image))),
    ...given('format', format),
    ...given('pullSecret', ociAuthSecretName && secretLabel(ociAuthSecretName, 'registry account')),
  }
}

/** Root device hints in Ironic's terms: most must be equal, vendor and model contain, a size is the least. */
export function ironicHints(hints: DeviceHints): JsonObject {
  const equal = (value: string | undefined) => (value ? `s== ${value}` : undefined)
  const within = (value: string | undefined) => (value ? `<in> ${value}` : undefined)
  const isByPath = hints.deviceName?.startsWith('/dev/disk/by-path/')
  const { minSizeGigabytes: size, rotational } = hints
  return {
    ...given(isByPath ? 'by_path' : 'name', equal(hints.deviceName)),
    ...given('hctl', equal(hints.hctl)),
    ...given('model', within(hints.model)),
    ...given('vendor', within(hints.vendor)),
    ...given('serial', equal(hints.serialNumber)),
    ...given('size', size ? `>= ${size}` : undefined),
    ...given('wwn', equal(hints.wwn)),
    ...given('wwn_with_extension', equal(hints.wwnWithExtension)),
    ...given('wwn_vendor_extension', equal(hints.wwnVendorExtension)),
    ...given('rotational', rotational === undefined ? undefined : String(rotational)),
  }
}

function raidOf({ raid, rootDeviceHints }: BareMetalHostManifest['spec']): HostRaid | undefined {
  const { hardwareRAIDVolumes: hardware, softwareRAIDVolumes: software } = raid ?? {}
  // Empty lists take volumes away; what is absent leaves them as they are.
  if (software?.length || (software && !hardware))
    return { kind: 'software', logicalDisks: rooted(software.map(softwareDisk), rootDeviceHints) }
  return hardware ? { kind: 'hardware', logicalDisks: rooted(hardware.map(hardwareDisk), rootDeviceHints) } : undefined
}

/** Without hints the first volume is the root device. */
const rooted = (disks: JsonObject[], hints: DeviceHints | undefined): JsonObject[] =>
  disks.map((disk, index) => (index === 0 && !hints ? { ...disk, is_root_volume: true } : disk))

const hardwareDisk = (volume: HardwareVolume): JsonObject => ({
  ...{ size_gb: volume.sizeGibibytes || 'MAX', raid_level: volume.level },
  ...given('volume_name', volume.name),
  ...given('disk_type', volume.rotational === undefined ? undefined : volume.rotational ? 'hdd' : 'ssd'),
  ...given('number_of_physical_disks', volume.numberOfPhysicalDisks),
  ...given('controller', volume.controller),
  ...given('physical_disks', volume.physicalDisks),
})

const softwareDisk = (volume: SoftwareVolume): JsonObject => ({
  ...{ size_gb: volume.sizeGibibytes || 'MAX', raid_level: volume.level, controller: 'software' },
  ...given('physical_disks', volume.physicalDisks?.map(ironicHints)),
})
