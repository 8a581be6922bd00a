import type { JsonObject, RequestedStep } from '../wire/index.js'
import type { BmcAccess } from './bmc-access.js'

/** A BareMetalHost: what its `spec` wants, as far as Ironic is concerned. */
export interface Host {
  name: string
  /** Default metal3. */
  namespace?: string
  /** Of the Kubernetes object, which becomes that of the instance. */
  uid?: string
  bmc: BmcAccess
  bootMac?: string
  /** Default x86_64. */
  architecture?: string
  /** Default UEFI. */
  bootMode?: BootMode
  disablePowerOff?: boolean
  image?: HostImage
  customDeploy?: CustomDeploy
  userData?: string
  /** For the config drive; {@link preprovisioningNetworkData} without. */
  networkData?: JsonObject
  /** Over what is generated for the config drive. */
  metaData?: JsonObject
  /** For the ramdisk. */
  preprovisioningNetworkData?: JsonObject
  /** Default true. */
  automatedCleaning?: boolean
  rootDevice?: JsonObject
  raid?: HostRaid
  biosSettings?: { name: string; value: string }[]
  firmwareUpdates?: { component: string; url: string }[]
}

export type BootMode = 'UEFI' | 'UEFISecureBoot' | 'legacy'

export interface HostImage {
  url: string
  checksum?: string
  /** Without, Ironic is given the checksum as MD5's or SHA's, whichever it is. */
  checksumType?: 'md5' | 'sha256' | 'sha512'
  format?: string
  pullSecret?: string
}

export interface CustomDeploy {
  method: string
  /** Today always empty. */
  args?: JsonObject
}

export interface HostRaid {
  /** `software`: built by the ramdisk, whatever the BMC can do. */
  kind: 'hardware' | 'software'
  /** None: what there is goes. */
  logicalDisks: JsonObject[]
}

/** Where the ramdisk comes from, as BareMetal Operator's own environment says. */
export interface RamdiskSource {
  deployIso?: string
  deployKernel?: string
  deployRamdisk?: string
}

/** What BareMetal Operator knows a host by, and last saw of it. */
export interface HostStatus {
  id?: string
  /** An instance is there, or on its way. */
  hasInstance?: boolean
  errorMessage?: string
  hardware?: JsonObject
}

/** Of a host that was never in a cluster. */
export const SOME_UID = 'd0000000-0000-4000-8000-000000000001'
export const namespaceOf = ({ namespace = 'metal3' }: Host): string => namespace
export const nodeName = (host: Host): string => `${namespaceOf(host)}~${host.name}`

/** `properties` of a node that follow from the spec (BareMetal Operator's source). */
export function properties({ bootMode = 'UEFI', architecture = 'x86_64' }: Host) {
  const modes: Readonly<Record<BootMode, string>> = {
    UEFI: 'boot_mode:uefi',
    UEFISecureBoot: 'boot_mode:uefi,secure_boot:true',
    legacy: 'boot_mode:bios',
  }
  return { capabilities: modes[bootMode], cpu_arch: architecture }
}

/** A node's capabilities with those of a host: the others that it has stay, in front. */
export function capabilitiesWith(before: unknown, host: Host): string {
  const others = String(before ?? '')
    .split(',')
    .filter((item) => item !== '' && !/^(boot_mode|secure_boot):/.test(item))
  return [...others, properties(host).capabilities].join(',')
}

/** The body of `POST /v1/nodes` for a host; of one that had an instance before Ironic forgot it, with how it was deployed. */
export function registration(host: Host, { hasInstance = false }: HostStatus = {}): JsonObject {
  const deployInterface = !hasInstance
    ? {}
    : host.customDeploy
      ? { deploy_interface: 'custom-agent' }
      : host.image?.format === 'live-iso'
        ? { deploy_interface: 'ramdisk' }
        : {}
  return {
    ...{ name: nodeName(host), driver: host.bmc.driver, driver_info: host.bmc.driverInfo },
    ...{ ...host.bmc.interfaces, inspect_interface: 'agent', ...deployInterface },
    ...{ disable_power_off: host.disablePowerOff ?? false, properties: properties(host) },
  }
}

/** Where a node's ramdisk comes from, as paths of a PATCH: an ISO where its BMC takes one. */
export function ramdiskOf({ bmc }: Host, { deployIso, deployKernel, deployRamdisk }: RamdiskSource) {
  const none = { deploy_iso: undefined, deploy_kernel: undefined, deploy_ramdisk: undefined }
  const chosen =
    deployIso !== undefined && bmc.takesIso
      ? { deploy_iso: deployIso }
      : deployKernel !== undefined && deployRamdisk !== undefined
        ? { deploy_kernel: deployKernel, deploy_ramdisk: deployRamdisk }
        : undefined
  if (!chosen) return {}
  return below('/driver_info/', { ...none, ...chosen, kernel_append_params: '%default%' })
}

const below = (prefix: string, values: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`${prefix}${name}`, value]))

/** Who configures RAID: the ramdisk where it is software. */
export const raidInterface = ({ bmc, raid }: Host): string | undefined =>
  raid?.kind === 'software' ? 'agent' : bmc.interfaces['raid_interface']

/** The steps of `preparing` (its source). */
export function cleanSteps(host: Host): RequestedStep[] {
  const steps: RequestedStep[] = []
  if (host.raid) {
    steps.push({ interface: 'raid', step: 'delete_configuration' })
    if (host.raid.kind === 'software') steps.push({ interface: 'deploy', step: 'erase_devices_metadata' })
    if (host.raid.logicalDisks.length > 0) steps.push({ interface: 'raid', step: 'create_configuration' })
  }
  return [...steps, ...serviceSteps(host)]
}

/** What can also be done to a host in use. */
export function serviceSteps({ biosSettings, firmwareUpdates }: Host): RequestedStep[] {
  const steps: RequestedStep[] = []
  if (biosSettings) steps.push({ interface: 'bios', step: 'apply_configuration', args: { settings: biosSettings } })
  if (firmwareUpdates) steps.push({ interface: 'firmware', step: 'update', args: { settings: firmwareUpdates } })
  return steps
}

/** What an instance is of, as paths of a PATCH; undefined removes (its source). */
export function instanceOf(host: Host): Record<string, unknown> {
  const { image, customDeploy, rootDevice, bootMode } = host
  const common = {
    '/instance_uuid': host.uid ?? SOME_UID,
    '/instance_info/capabilities': bootMode === 'UEFISecureBoot' ? { secure_boot: 'true' } : {},
    ...(rootDevice ? { '/instance_info/root_device': rootDevice } : {}),
  }
  const none = {
    ...{ image_source: undefined, image_os_hash_algo: undefined, image_os_hash_value: undefined },
    ...{ image_checksum: undefined, image_disk_format: undefined, image_pull_secret: undefined },
  }
  const info = (values: Record<string, unknown>) => below('/instance_info/', values)
  if (image?.format === 'live-iso' && !customDeploy)
    return {
      ...{ ...common, ...info({ ...none, boot_iso: image.url }), '/deploy_interface': 'ramdisk' },
      '/driver_info/force_persistent_boot_device': 'Default',
    }
  const ofImage = info({ ...none, boot_iso: undefined, ...(image ? imageInfo(image) : {}) })
  return {
    ...{ ...common, ...ofImage },
    // Without a deploy interface Ironic's own default is wanted back.
    '/deploy_interface': customDeploy ? 'custom-agent' : undefined,
    '/driver_info/force_persistent_boot_device': 'Default',
  }
}

const imageInfo = ({ url, checksum, checksumType, format, pullSecret }: HostImage): Record<string, unknown> => ({
  image_source: url,
  ...(checksumType === undefined
    ? { image_checksum: checksum }
    : { image_os_hash_algo: checksumType, image_os_hash_value: checksum }),
  image_disk_format: format,
  image_pull_secret: pullSecret,
})

/** What is given to an instance's first boot; a live ISO brings its own. */
export function configdrive(host: Host): JsonObject {
  if (host.image?.format === 'live-iso' && !host.customDeploy) return {}
  const { name, uid = SOME_UID } = host
  const names = { 'local-hostname': name, local_hostname: name, 'metal3-name': name }
  const network = host.networkData ?? host.preprovisioningNetworkData
  return {
    meta_data: { uuid: uid, name, ...names, 'metal3-namespace': namespaceOf(host), ...host.metaData },
    ...(network ? { network_data: network } : {}),
    user_data: host.userData ?? '',
  }
}
