import { defined } from '../../base/runtime/index.js'
import { hostImageProblem, buildHost, ironicHints, raidOf } from '../manifests/manifest-host.js'
import { BadSecret, MissingKey } from '../manifests/manifest-secrets.js'
import { isCoreosImage } from '../manifests/manifest-rules.js'
import { registryAccount, registrySecretOf } from '../manifests/registry-secret.js'
import { goQuote } from '../go/quote.js'
import type { BareMetalHostManifest, DeviceHints, SecretManifest } from '../manifests/manifest-types.js'
import type { RequestedHost } from '../provisioner/host-data-model.js'
import type { HostEvent } from '../provisioner/node-requests.js'
import {
  isSameJson,
  type Secret,
  type BareMetalHostStatus,
  type HostImageSpec,
  type KubeClient,
} from '../../base/kubernetes/index.js'
import type { HardwareDetails } from './hardware-details.js'
import type { ManagedHost } from './host-status.js'

type HostSpec = BareMetalHostManifest['spec']
type ProvisioningStatus = BareMetalHostStatus['provisioning']

/** The spec with its types: the API has checked it. */
const hostSpecOf = ({ spec }: ManagedHost): HostSpec => spec as unknown as HostSpec

/** True if a host names a BMC (HasBMCDetails). */
export const isManaged = ({ spec: { bmc } }: Pick<ManagedHost, 'spec'>): boolean =>
  Boolean(bmc?.address) || Boolean(bmc?.credentialsName)

/** Instance that the spec asks for; the design document's format `coreos` is a step too. */
export function wantedInstance({ spec }: ManagedHost): { image?: HostImageSpec; customDeploy?: { method: string } } {
  if (isCoreosImage(spec.image as HostSpec['image']))
    return {
      ...defined({ image: spec.image?.url ? spec.image : undefined }),
      customDeploy: { method: 'install_coreos' },
    }
  return defined({ image: spec.image, customDeploy: spec.customDeploy?.method ? spec.customDeploy : undefined })
}

/** Instance that is installed, or is being installed: getCurrentImage and hasCustomDeploy of the controller. */
export function currentInstance(host: ManagedHost): { image?: HostImageSpec; customDeploy?: { method: string } } {
  const { image, customDeploy, state } = host.status.provisioning
  const coming = ['provisioning', 'externally provisioned'].includes(state) ? wantedInstance(host) : {}
  const shownImage = image?.url ? image : coming.image?.url ? coming.image : undefined
  const shownDeploy = customDeploy?.method ? customDeploy : coming.customDeploy
  return defined({ image: shownImage, customDeploy: shownDeploy })
}

/** True if the spec no longer asks for what is installed (provisioningCancelled of host_state_machine.go). */
export function isCancelled(host: ManagedHost): boolean {
  const wanted = wantedInstance(host)
  const { image, customDeploy } = host.status.provisioning
  const isOther = Boolean(image?.url) && wanted.image?.url !== image?.url
  if (wanted.customDeploy)
    return (Boolean(customDeploy?.method) && customDeploy?.method !== wanted.customDeploy.method) || isOther
  return Boolean(customDeploy?.method) || !wanted.image?.url || isOther
}

/** True if an available host is to be installed (NeedsProvisioning). */
export function needsProvisioning(host: ManagedHost): boolean {
  if (!host.spec.online) return false
  const { image, customDeploy } = wantedInstance(host)
  const { provisioning } = host.status
  return (
    (Boolean(image?.url) && !provisioning.image?.url) || (Boolean(customDeploy) && !provisioning.customDeploy?.method)
  )
}

/** Secrets that a host names, those that exist. */
export async function secretsOf(kube: KubeClient, host: ManagedHost): Promise<Map<string, Secret>> {
  const { bmc, image, userData, networkData, metaData, preprovisioningNetworkDataName } = hostSpecOf(host)
  const { namespace = '' } = host.metadata
  const found = new Map<string, Secret>()
  const references = [bmc?.credentialsName, userData?.name, networkData?.name, metaData?.name]
  for (const name of [...references, preprovisioningNetworkDataName, registrySecretOf(image)]) {
    const secret = name === undefined || name === '' ? undefined : await kube.find('Secret', { namespace, name })
    if (secret) found.set(secret.metadata.name, secret)
  }
  return found
}

export interface HostInputs {
  host: RequestedHost
  /** Secrets that are missing or malformed, by name. */
  problems: Map<string, string>
  /** Secrets that are there, without the key that the host reads. */
  withoutKey: ReadonlySet<string>
}

/** A host as the requests to Ironic have it, with the settings that its status says. */
export function hostInputs(managed: ManagedHost, secrets: ReadonlyMap<string, Secret>): HostInputs {
  const problems = new Map<string, string>()
  const withoutKey = new Set<string>()
  const { provisioning, hardware } = managed.status
  const spec = hostSpecOf(managed)
  const manifest = { kind: 'BareMetalHost' as const, metadata: managed.metadata, spec }
  const host = buildHost(manifest, {
    secret: (name) => {
      const found = secrets.get(name)
      if (!found) problems.set(name, 'it does not exist')
      return found as SecretManifest | undefined
    },
    onBadSecret: (name, error) => {
      problems.set(name, error.message)
      if (error instanceof MissingKey) withoutKey.add(name)
    },
  })!
  const { raid: _raid, ...rest } = host
  return {
    problems,
    withoutKey,
    host: {
      ...rest,
      architecture: spec.architecture || (hardware as HardwareDetails | undefined)?.cpu.arch || 'x86_64',
      bootMode: (provisioning.bootMode ?? spec.bootMode ?? 'UEFI') as NonNullable<RequestedHost['bootMode']>,
      rootDevice: provisioning.rootDeviceHints ? ironicHints(provisioning.rootDeviceHints) : {},
    },
  }
}

/** Why an image's registry cannot be opened, with the event that says so. */
interface RegistryProblem {
  says: string
  event?: HostEvent
}

/** Reason for which an image's registry cannot be opened (image_auth_validator.go). */
export function registryProblemOf(
  host: ManagedHost,
  secrets: ReadonlyMap<string, Secret>,
): RegistryProblem | undefined {
  const { image } = hostSpecOf(host)
  const name = registrySecretOf(image)
  if (name === undefined) return undefined
  const secret = secrets.get(name)
  const { namespace = '' } = host.metadata
  if (!secret) return { says: `auth secret ${goQuote(name)} not found in namespace ${goQuote(namespace)}` }
  try {
    registryAccount(secret as SecretManifest, image?.url ?? '')
    return undefined
  } catch (error) {
    if (error instanceof BadSecret) return { says: error.message, event: registryEvent(error) }
    throw error
  }
}

/** The sentence of the event begins as one, and leaves out which types would be right. */
function registryEvent({ path, message }: BadSecret): HostEvent {
  const sentence = `${message[0]!.toUpperCase()}${message.slice(1)}`
  return path.includes('type')
    ? { type: 'Warning', reason: 'ImageAuthFormatUnsupported', message: sentence.replace(/ \(expected .*\)$/, '') }
    : { type: 'Warning', reason: 'ImageAuthParseError', message: sentence }
}

/** Reason for which an image cannot be installed (GetChecksum). */
export function installProblemOf(host: ManagedHost): string | undefined {
  const { image } = wantedInstance(host)
  if (isCoreosImage(hostSpecOf(host).image)) return undefined
  return image?.url ? hostImageProblem(image) : undefined
}

/** Root devices of hosts that name none (apis/metal3.io/v1alpha1/profile/profile.go). */
const ROOT_DEVICE_PROFILES: Readonly<Record<string, DeviceHints>> = {
  unknown: { deviceName: '/dev/sda' },
  libvirt: { deviceName: '/dev/vda' },
  dell: { hctl: '0:0:0:0' },
  'dell-raid': { hctl: '0:2:0:0' },
  openstack: { deviceName: '/dev/vdb' },
  empty: {},
}

/** The root device hints of a new host: its own, or those of its profile; none where a RAID volume is the root device. */
export function rootDeviceHintsOf(spec: HostSpec): DeviceHints {
  if (hasRootVolume(spec)) return {}
  return spec.rootDeviceHints ?? ROOT_DEVICE_PROFILES[profileOf(spec)] ?? {}
}

const hasRootVolume = ({ raid }: HostSpec): boolean =>
  raid?.softwareRAIDVolumes?.some(({ rootVolume }) => rootVolume) ?? false

const profileOf = ({ hardwareProfile, bmc }: HostSpec): string =>
  hardwareProfile || (bmc?.address.startsWith('libvirt') ? 'libvirt' : 'unknown')

/**
 * Chooses the hardware profile and the root device; whether something changed.
 *
 * @throws Error for an unknown profile
 */
export function matchProfile(host: ManagedHost): boolean {
  const { status } = host
  const profile = status.hardwareProfile || profileOf(hostSpecOf(host))
  if (!Object.hasOwn(ROOT_DEVICE_PROFILES, profile)) throw new Error(`no hardware profile named "${profile}"`)
  const isChanged = status.hardwareProfile !== profile
  status.hardwareProfile = profile
  return updateHints(host, status.provisioning) || isChanged
}

function updateHints(host: ManagedHost, provisioning: ProvisioningStatus): boolean {
  // The volume that the system is installed on is known by itself.
  if (hasRootVolume(hostSpecOf(host))) {
    const hadHints = provisioning.rootDeviceHints !== undefined
    delete provisioning.rootDeviceHints
    return hadHints
  }
  const hints = hostSpecOf(host).rootDeviceHints ?? ROOT_DEVICE_PROFILES[host.status.hardwareProfile ?? 'unknown'] ?? {}
  if (isSameJson(hints, provisioning.rootDeviceHints)) return false
  provisioning.rootDeviceHints = hints
  return true
}

interface Raid {
  hardwareRAIDVolumes?: unknown[] | null
  softwareRAIDVolumes?: unknown[] | null
}

/** Settings that preparing applies, as the spec asks for them now (saveHostProvisioningSettings). */
export function wantedSettings(host: ManagedHost): { isChanged: boolean; provisioning: ProvisioningStatus } {
  const provisioning = structuredClone(host.status.provisioning)
  const isHinted = updateHints(host, provisioning)
  const asked = hostSpecOf(host).raid as Raid | undefined
  const applied = provisioning.raid as Raid | undefined
  const isAsked = asked !== undefined && Object.keys(asked).length > 0
  const hardware = applied?.hardwareRAIDVolumes
  const wanted = isAsked
    ? { hardwareRAIDVolumes: null, softwareRAIDVolumes: null, ...asked }
    : applied && { hardwareRAIDVolumes: hardware?.length ? hardware : null, softwareRAIDVolumes: [] }
  if (isSameJson(wanted, applied)) return { isChanged: isHinted, provisioning }
  return { isChanged: true, provisioning: wanted ? { ...provisioning, raid: wanted } : provisioning }
}

/** RAID that cleaning is to make of the one that there is; undefined for no change (BuildRAIDCleanSteps). */
export function raidChange(
  host: ManagedHost,
  target: ProvisioningStatus,
  actual: object | undefined,
): RequestedHost['raid'] {
  const { hardwareRAIDVolumes: hardware, softwareRAIDVolumes: software } = (target.raid ?? {}) as Raid
  const before = (actual ?? {}) as Raid
  const isSoftware = software !== undefined && software !== null
  if (isSoftware && isSameJson(software, before.softwareRAIDVolumes ?? undefined)) return undefined
  if (isSoftware && software.length === 0 && !before.softwareRAIDVolumes?.length) return undefined
  if (!isSoftware && (!hardware || isSameJson(hardware, before.hardwareRAIDVolumes ?? undefined))) return undefined
  return raidOf({ ...hostSpecOf(host), raid: target.raid as NonNullable<HostSpec['raid']> })
}

/** RAID volumes of the settings, changed or not: Ironic gets them whenever hardware is set up. */
export const raidOfSettings = (host: ManagedHost, { raid }: ProvisioningStatus): RequestedHost['raid'] =>
  raid ? raidOf({ ...hostSpecOf(host), raid }) : undefined

/** Forgets what a later installation chooses again (clearHostProvisioningSettings). */
export function clearSettings({ provisioning }: BareMetalHostStatus): void {
  delete provisioning.rootDeviceHints
  if (provisioning.raid) delete (provisioning.raid as Raid).softwareRAIDVolumes
}
