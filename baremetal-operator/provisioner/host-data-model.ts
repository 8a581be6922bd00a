import { defined } from '../../base/runtime/index.js'
import type { ApiNode, JsonObject, RequestedStep } from '../../base/wire/index.js'
import type { BmcAccess } from './bmc-access.js'

/** The parts of a BareMetalHost's `spec` that lead to requests to Ironic. */
export interface RequestedHost {
  name: string
  /** Default metal3. */
  namespace?: string
  /** UID of the Kubernetes object; becomes the node's `instance_uuid`. */
  uid?: string
  bmc: BmcAccess
  bootMac?: string
  /** Default x86_64. */
  architecture?: string
  /** Default UEFI. */
  bootMode?: HostBootMode
  disablePowerOff?: boolean
  image?: HostImage
  customDeploy?: CustomDeploy
  userData?: string
  /** For the config drive; default {@link preprovisioningNetworkData}. */
  networkData?: JsonObject
  /** Added to the generated meta_data of the config drive; wins over it. */
  metaData?: JsonObject
  /** For the ramdisk. */
  preprovisioningNetworkData?: JsonObject
  /** True if the BMC is asked for the hardware, and no ramdisk; default false. */
  isInspectedByBmc?: boolean
  /** Default true. */
  automatedCleaning?: boolean
  /** Kernel parameters of the host's own, behind those of its initrd image; an ISO goes without. */
  extraKernelParameters?: string
  rootDevice?: JsonObject
  raid?: HostRaid
  biosSettings?: { name: string; value: string }[]
  firmwareUpdates?: { component: string; url: string }[]
}

type HostBootMode = 'UEFI' | 'UEFISecureBoot' | 'legacy'

export interface HostImage {
  url: string
  checksum?: string
  /** Without it the checksum goes to Ironic as `image_checksum`, whose length tells the algorithm. */
  checksumType?: 'md5' | 'sha256' | 'sha512'
  format?: string
  pullSecret?: string
  /** True for the design document's format `coreos`, whose URL alone tells whether it is the same image. */
  isCoreos?: boolean
}

interface CustomDeploy {
  method: string
  /** BareMetal Operator sends none today. */
  args?: JsonObject
}

export interface HostRaid {
  /** `software` volumes are built by the ramdisk, also where the BMC can build RAID. */
  kind: 'hardware' | 'software'
  /** An empty list deletes the existing volumes. */
  logicalDisks: JsonObject[]
}

/** URLs of the ramdisk, from BareMetal Operator's environment. */
export interface RamdiskSource {
  deployIso?: string
  deployKernel?: string
  deployRamdisk?: string
  /** Set only for an image that was made for the host. */
  kernelParameters?: string
}

/** BareMetal Operator's variables for its ramdisk; undefined when they name none. */
export function ramdiskSource(variables: Readonly<Record<string, string | undefined>>): RamdiskSource | undefined {
  const { DEPLOY_ISO_URL: deployIso, DEPLOY_KERNEL_URL: deployKernel, DEPLOY_RAMDISK_URL: deployRamdisk } = variables
  if (!deployIso && !(deployKernel && deployRamdisk)) return undefined
  return {
    ...defined({ deployIso: deployIso || undefined }),
    ...(deployKernel && deployRamdisk ? { deployKernel, deployRamdisk } : {}),
  }
}

/** The host's `status` as BareMetal Operator keeps it. */
export interface HostStatus {
  /** UUID of the node. */
  id?: string
  /** True from the first deployment or adoption until deprovisioning. */
  hasInstance?: boolean
  errorMessage?: string
  /** The pass repeats one that failed: what failed is asked for again. */
  isRetry?: boolean
  /** The hardware is inspected although Ironic has an inventory. */
  isInspectionDue?: boolean
  /** Gives up a wait for the ramdisk: the reboot annotation with `force`. */
  isForced?: boolean
  /** The BMC's account differs from the one in the node's driver_info. */
  hasNewAccount?: boolean
  /** The cleaning steps that prepared the host, as JSON. */
  prepared?: string
  hardware?: JsonObject
}

/** UID for a host that was never in a cluster. */
const SOME_UID = 'd0000000-0000-4000-8000-000000000001'
const namespaceOf = ({ namespace = 'metal3' }: RequestedHost): string => namespace
export const nodeName = (host: RequestedHost): string => `${namespaceOf(host)}~${host.name}`

/** `properties` of a node that follow from the spec. */
export function nodePropertiesOf({ bootMode = 'UEFI', architecture = 'x86_64' }: RequestedHost) {
  const modes: Readonly<Record<HostBootMode, string>> = {
    UEFI: 'boot_mode:uefi',
    UEFISecureBoot: 'boot_mode:uefi,secure_boot:true',
    legacy: 'boot_mode:bios',
  }
  return { capabilities: modes[bootMode], cpu_arch: architecture }
}

/** A node's capabilities with the host's boot mode: its other capabilities stay, in front. */
export function capabilitiesWith(current: unknown, host: RequestedHost): string {
  const others = String(current ?? '')
    .split(',')
    .filter((item) => item !== '' && !/^(boot_mode|secure_boot):/.test(item))
  return [...others, nodePropertiesOf(host).capabilities].join(',')
}

/** Body of `POST /v1/nodes`; names the deploy interface when the host already has an instance. */
export function registrationOf(host: RequestedHost, { hasInstance = false }: HostStatus = {}): JsonObject {
  const deployInterface = !hasInstance
    ? {}
    : host.customDeploy
      ? { deploy_interface: 'custom-agent' }
      : host.image?.format === 'live-iso'
        ? { deploy_interface: 'ramdisk' }
        : {}
  return {
    name: nodeName(host),
    driver: host.bmc.driver,
    driver_info: host.bmc.driverInfo,
    ...host.bmc.interfaces,
    inspect_interface: inspectInterface(host),
    ...deployInterface,
    disable_power_off: host.disablePowerOff ?? false,
    properties: nodePropertiesOf(host),
  }
}

/** Ramdisk URLs as paths of a PATCH: the ISO when the BMC boots one. */
export function ramdiskOf(
  { bmc, extraKernelParameters = '' }: RequestedHost,
  { deployIso, deployKernel, deployRamdisk, kernelParameters }: RamdiskSource,
) {
  const none = { deploy_iso: undefined, deploy_kernel: undefined, deploy_ramdisk: undefined }
  const chosen =
    deployIso !== undefined && bmc.takesIso
      ? { deploy_iso: deployIso }
      : deployKernel !== undefined && deployRamdisk !== undefined
        ? { deploy_kernel: deployKernel, deploy_ramdisk: deployRamdisk }
        : undefined
  if (!chosen) return {}
  const own = 'deploy_kernel' in chosen ? extraKernelParameters : ''
  const parameters = [kernelParameters, own].filter((each) => each).join(' ')
  const kernel_append_params = parameters === '' ? undefined : `%default% ${parameters}`
  return prefixKeys('/driver_info/', { ...none, ...chosen, kernel_append_params })
}

const prefixKeys = (prefix: string, values: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`${prefix}${name}`, value]))

/** Inspect interface of a host: of the BMC where it is asked for, and has one. */
export const inspectInterface = ({ bmc, isInspectedByBmc = false }: RequestedHost): string =>
  isInspectedByBmc && bmc.driver !== 'ipmi' ? 'redfish' : 'agent'

/** RAID interface of a host: `agent` for software RAID. */
export const raidInterface = ({ bmc, raid }: RequestedHost): string | undefined =>
  raid?.kind === 'software' ? 'agent' : bmc.interfaces['raid_interface']

/** Manual cleaning steps of the `preparing` state. */
export function cleanSteps(host: RequestedHost): RequestedStep[] {
  const steps: RequestedStep[] = []
  if (host.raid) {
    steps.push({ interface: 'raid', step: 'delete_configuration' })
    if (host.raid.kind === 'software') steps.push({ interface: 'deploy', step: 'erase_devices_metadata' })
    if (host.raid.logicalDisks.length > 0) steps.push({ interface: 'raid', step: 'create_configuration' })
  }
  return [...steps, ...serviceSteps(host)]
}

/** Steps that are also possible while an instance runs. */
export function serviceSteps({
  biosSettings,
  firmwareUpdates,
}: Pick<RequestedHost, 'biosSettings' | 'firmwareUpdates'>): RequestedStep[] {
  const steps: RequestedStep[] = []
  if (biosSettings) steps.push({ interface: 'bios', step: 'apply_configuration', args: { settings: biosSettings } })
  if (firmwareUpdates) steps.push({ interface: 'firmware', step: 'update', args: { settings: firmwareUpdates } })
  return steps
}

/** The instance as paths of a PATCH; undefined removes a path. */
export function instanceOf(host: RequestedHost): Record<string, unknown> {
  const { image, customDeploy, rootDevice, bootMode } = host
  const common = {
    '/instance_uuid': host.uid ?? SOME_UID,
    '/instance_info/capabilities': bootMode === 'UEFISecureBoot' ? { secure_boot: 'true' } : {},
    ...defined({ '/instance_info/root_device': rootDevice }),
  }
  const noImage = {
    image_source: undefined,
    image_os_hash_algo: undefined,
    image_os_hash_value: undefined,
    image_checksum: undefined,
    image_disk_format: undefined,
    image_pull_secret: undefined,
  }
  const instanceInfo = (values: Record<string, unknown>) => prefixKeys('/instance_info/', values)
  if (customDeploy)
    return {
      ...common,
      ...instanceInfo({ ...noImage, boot_iso: undefined, ...(image ? customImageInfo(image) : {}) }),
      '/deploy_interface': 'custom-agent',
    }
  const persistence = { '/driver_info/force_persistent_boot_device': 'Default' }
  if (isLiveIso(image)) {
    // BareMetal Operator leaves these two as they are.
    const { image_disk_format: _format, image_pull_secret: _secret, ...removed } = noImage
    const live = instanceInfo({ ...removed, boot_iso: image!.url })
    return { ...common, ...live, '/deploy_interface': 'ramdisk', ...persistence }
  }
  return {
    ...common,
    ...instanceInfo({ ...noImage, boot_iso: undefined, ...(image ? imageInfo(image) : {}) }),
    // Removing the path restores Ironic's default deploy interface.
    '/deploy_interface': undefined,
    ...persistence,
  }
}

const isLiveIso = (image: HostImage | undefined): boolean => image?.format === 'live-iso'

const imageInfo = ({ url, checksum, checksumType, format, pullSecret }: HostImage): Record<string, unknown> => ({
  image_source: url,
  ...(checksumType === undefined
    ? { image_checksum: checksum }
    : { image_os_hash_algo: checksumType, image_os_hash_value: checksum }),
  image_disk_format: format,
  image_pull_secret: pullSecret,
})

/** A custom step takes an image without a checksum too; an unnamed algorithm is sent as an empty one. */
const customImageInfo = ({ checksum, checksumType = '' as never, ...image }: HostImage): Record<string, unknown> => ({
  ...imageInfo(image),
  image_checksum: undefined,
  image_os_hash_algo: undefined,
  image_os_hash_value: undefined,
  ...(checksum ? { image_os_hash_algo: checksumType, image_os_hash_value: checksum } : {}),
})

/** True if a node has the image of its host, as far as BareMetal Operator looks (ironicHasSameImage). */
export function hasImageOf({ instance_info: info }: ApiNode, { image }: RequestedHost): boolean {
  if (isLiveIso(image)) return info['boot_iso'] === image!.url
  const { url, checksum, checksumType } = image ?? {}
  if (info['image_source'] !== (url ?? '')) return false
  if (image?.isCoreos || (url?.startsWith('oci://') && !checksum)) return true
  return checksumType === undefined
    ? info['image_checksum'] === (checksum ?? '') && info['image_os_hash_algo'] == null
    : info['image_checksum'] == null &&
        info['image_os_hash_algo'] === checksumType &&
        info['image_os_hash_value'] === checksum
}

/** An image in an error message: `url: URL, checksum: CHECKSUM`. */
export const imageText = ({ image }: RequestedHost): string =>
  `url: ${image?.url ?? ''}${image?.checksum ? `, checksum: ${image.checksum}` : ''}`

/** Config drive of the instance; none for a live ISO. */
export function configDriveOf(host: RequestedHost): JsonObject {
  if (host.image?.format === 'live-iso' && !host.customDeploy) return {}
  const { name, uid = SOME_UID } = host
  const names = { 'local-hostname': name, local_hostname: name, 'metal3-name': name }
  const network = host.networkData ?? host.preprovisioningNetworkData
  return {
    meta_data: { uuid: uid, name, ...names, 'metal3-namespace': namespaceOf(host), ...host.metaData },
    ...defined({ network_data: network, user_data: host.userData || undefined }),
  }
}
