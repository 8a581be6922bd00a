import { defined } from '../../base/runtime/index.js'
import type { JsonObject } from '../../base/wire/index.js'
import { bmcAccess } from '../provisioner/bmc-access.js'
import type { RequestedHost, HostImage, HostRaid } from '../provisioner/host-data-model.js'
import { isCoreosImage } from './manifest-rules.js'
import { BadSecret, hasKey, secretObject, secretValue } from './manifest-secrets.js'
import { registryAccount, registrySecretOf } from './registry-secret.js'
import type {
  BareMetalHostManifest,
  DeviceHints,
  HardwareVolume,
  HostImageManifest,
  SecretManifest,
  SoftwareVolume,
} from './manifest-types.js'

/** Placeholder for a secret value in output, and in requests when the Secret is missing. */
export const secretLabel = (secret: string, key: string): string => `(${key} of Secret ${secret})`

export interface HostParts {
  /** Finds a Secret by name in the host's namespace. */
  secret: (name: string) => SecretManifest | undefined
  /** Reports a Secret that cannot be used. */
  onBadSecret: (secret: string, error: BadSecret) => void
  biosSettings?: RequestedHost['biosSettings']
  firmwareUpdates?: RequestedHost['firmwareUpdates']
}

const NETWORK_KEYS = ['networkData', 'value']

/** Valid network data that stands in for a missing Secret. */
const NO_NETWORK = { links: [], networks: [], services: [] }

/** Builds a host from its manifest and Secrets as BareMetal Operator reads them; null without the address of a BMC. */
export function buildHost({ metadata, spec }: BareMetalHostManifest, parts: HostParts): RequestedHost | null {
  if (!spec.bmc?.address) return null
  const text = (secret: string, label: string, keys: readonly string[] = [label]): string =>
    readSecret(secret, parts, (found) => secretValue(found, keys)) ?? secretLabel(secret, label)
  const network = (secret: string): JsonObject | undefined => {
    const found = parts.secret(secret)
    // Settings for the image customization controller alone are under another key.
    if (found && !hasKey(found, NETWORK_KEYS)) return undefined
    return readSecret(secret, parts, (each) => secretObject(each, NETWORK_KEYS)) ?? NO_NETWORK
  }
  const { metaData } = spec

  const { credentialsName, address, disableCertificateVerification = false } = spec.bmc
  // A Secret that was made with echo ends in a newline.
  const [username, password] = ['username', 'password'].map((key) => text(credentialsName, key).trim()) as [
    string,
    string,
  ]
  const account = { username, password }
  if (account.username === '' || account.password === '')
    parts.onBadSecret(credentialsName, new BadSecret([], 'username and password must not be empty'))
  const userData = spec.userData && text(spec.userData.name ?? '', 'userData', ['userData', 'value'])
  const isCoreos = isCoreosImage(spec.image)
  return {
    name: metadata.name,
    bmc: bmcAccess(address, { ...account, disableCertificateVerification }),
    disablePowerOff: spec.disablePowerOff ?? false,
    isInspectedByBmc: spec.inspectionMode === 'fast',
    automatedCleaning: spec.automatedCleaningMode !== 'disabled',
    ...optional('namespace', metadata.namespace),
    ...optional('uid', metadata.uid),
    ...optional('bootMac', spec.bootMACAddress),
    ...optional('architecture', spec.architecture),
    ...optional('bootMode', spec.bootMode),
    ...optional('image', isCoreos ? coreosImageOf(spec.image) : hostImageOf(spec.image, parts)),
    ...optional('customDeploy', isCoreos ? coreosDeploy(userData, spec.image) : spec.customDeploy),
    // With format coreos the Ignition config is an argument of the step.
    ...optional('userData', isCoreos ? undefined : userData),
    ...optional('networkData', spec.networkData && network(spec.networkData.name ?? '')),
    ...optional(
      'metaData',
      metaData && readSecret(metaData.name ?? '', parts, (found) => secretObject(found, ['metaData'])),
    ),
    ...optional(
      'preprovisioningNetworkData',
      spec.preprovisioningNetworkDataName === undefined ? undefined : network(spec.preprovisioningNetworkDataName),
    ),
    ...optional('extraKernelParameters', spec.preprovisioningExtraKernelParams || undefined),
    ...optional('rootDevice', spec.rootDeviceHints && ironicHints(spec.rootDeviceHints)),
    ...optional('raid', raidOf(spec)),
    ...optional('biosSettings', parts.biosSettings),
    ...optional('firmwareUpdates', parts.firmwareUpdates),
  }
}

const optional = <K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } =>
  (value === undefined ? {} : { [key]: value }) as { [P in K]?: V }

function readSecret<T>(
  name: string,
  { secret, onBadSecret }: HostParts,
  read: (secret: SecretManifest) => T,
): T | undefined {
  const found = secret(name)
  if (!found) return undefined
  try {
    return read(found)
  } catch (error) {
    if (!(error instanceof BadSecret)) throw error
    onBadSecret(name, error)
    return undefined
  }
}

/**
 * The deploy step for `format: coreos`, as in the original design: without a URL the live system has the image, with one it
 * is another, "which may eventually be supported".
 */
function coreosDeploy(
  userData: string | undefined,
  image?: HostImageManifest,
): NonNullable<RequestedHost['customDeploy']> {
  const { url = '', checksum = '' } = image ?? {}
  return {
    method: 'install_coreos',
    args: defined({
      ignition: userData === undefined ? undefined : parsedOr(userData),
      image_url: url === '' ? undefined : url,
      image_sha256: url !== '' && isSha256(checksum) ? checksum : undefined,
    }),
  }
}

/** Ironic knows the image, so the host's error reports a failed installation, as for any other image. */
function coreosImageOf(image: HostImageManifest | undefined): HostImage | undefined {
  const { url = '', checksum = '' } = image ?? {}
  if (url === '') return undefined
  return { url, isCoreos: true, ...(isSha256(checksum) ? { checksum, checksumType: 'sha256' } : {}) }
}

const isSha256 = (checksum: string): boolean => /^[0-9a-f]{64}$/i.test(checksum)

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function hostImageOf(image: HostImageManifest | undefined, parts: HostParts): HostImage | undefined {
  if (image?.url === undefined) return undefined
  const { url, checksum, checksumType, format } = image
  const secret = registrySecretOf(image)
  const account = secret && readSecret(secret, parts, (found) => registryAccount(found, url))
  return {
    url,
    ...optional('checksum', checksum),
    // `auto` is not sent: Ironic knows the algorithm by the length of the checksum.
    ...(checksumType === undefined || checksumType === 'auto' ? {} : { checksumType }),
    ...optional('format', format),
    ...optional('pullSecret', secret && (account ?? secretLabel(secret, 'registry account'))),
  }
}

/** Reason for which an image cannot be installed, in the operator's words (GetChecksum of baremetalhost_types.go). */
export function hostImageProblem({ url = '', checksum, checksumType, format }: ImageText): string | undefined {
  if (url.startsWith('oci://'))
    return checksum
      ? 'spec.image.checksum must be empty for OCI images (oci:// images have embedded checksums)'
      : undefined
  if (format === 'live-iso') return undefined
  if (!checksum) return 'checksum is required for normal images'
  const isKnown = ['', 'auto', 'md5', 'sha256', 'sha512'].includes(checksumType ?? '')
  return isKnown ? undefined : `unknown checksumType ${checksumType}, supported are md5, sha256, sha512, auto`
}

type ImageText = Partial<Record<'url' | 'checksum' | 'checksumType' | 'format', string>>

/**
 * Root-device hints in Ironic's operators: `<in>` for vendor and model, `>=` for the size, equality for the rest. They are in
 * the order of their names, as Go writes a map: Ironic's errors show them as they came.
 */
export function ironicHints(hints: DeviceHints): JsonObject {
  const equal = (value: string | undefined) => (value ? `s== ${value}` : undefined)
  const within = (value: string | undefined) => (value ? `<in> ${value}` : undefined)
  const isByPath = hints.deviceName?.startsWith('/dev/disk/by-path/')
  const { minSizeGigabytes: size, rotational } = hints
  const named: JsonObject = {
    ...optional(isByPath ? 'by_path' : 'name', equal(hints.deviceName)),
    ...optional('hctl', equal(hints.hctl)),
    ...optional('model', within(hints.model)),
    ...optional('vendor', within(hints.vendor)),
    ...optional('serial', equal(hints.serialNumber)),
    ...optional('size', size ? `>= ${size}` : undefined),
    ...optional('wwn', equal(hints.wwn)),
    ...optional('wwn_with_extension', equal(hints.wwnWithExtension)),
    ...optional('wwn_vendor_extension', equal(hints.wwnVendorExtension)),
    ...optional('rotational', rotational === undefined ? undefined : String(rotational)),
  }
  return Object.fromEntries(Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1)))
}

export function raidOf({ raid }: BareMetalHostManifest['spec']): HostRaid | undefined {
  const { hardwareRAIDVolumes: hardware, softwareRAIDVolumes: software } = raid ?? {}
  // An empty list deletes volumes; an absent one keeps them.
  if (software?.length || (software && !hardware)) return { kind: 'software', logicalDisks: software.map(softwareDisk) }
  return hardware ? { kind: 'hardware', logicalDisks: hardware.map(hardwareDisk) } : undefined
}

const hardwareDisk = (volume: HardwareVolume): JsonObject => ({
  size_gb: volume.sizeGibibytes || 'MAX',
  raid_level: volume.level,
  ...optional('volume_name', volume.name),
  ...optional('disk_type', volume.rotational === undefined ? undefined : volume.rotational ? 'hdd' : 'ssd'),
  ...optional('number_of_physical_disks', volume.numberOfPhysicalDisks),
  ...optional('controller', volume.controller),
  ...optional('physical_disks', volume.physicalDisks),
})

const softwareDisk = (volume: SoftwareVolume): JsonObject => ({
  size_gb: volume.sizeGibibytes || 'MAX',
  raid_level: volume.level,
  controller: 'software',
  is_root_volume: volume.rootVolume ?? false,
  ...optional('physical_disks', volume.physicalDisks?.map(ironicHints)),
})
