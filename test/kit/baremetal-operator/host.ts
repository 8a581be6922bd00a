import type { JsonObject, RequestedStep } from '../../../wire/index.js'

/** A BareMetalHost: what its `spec` wants, as far as Ironic is concerned. */
export interface Host {
  name: string
  /** Registers as `metal3~NAME`. */
  bmc: Bmc
  bootMac: string
  image?: { url: string; checksum?: string; checksumType?: 'md5' | 'sha256' | 'sha512'; format?: string }
  customDeploy?: { method: string }
  userData?: string
  automatedCleaning?: boolean
  rootDevice?: JsonObject
  raid?: { logical_disks: JsonObject[] }
  biosSettings?: { name: string; value: string }[]
  firmwareUpdates?: { component: string; url: string }[]
}

export interface Bmc {
  kind: 'redfish-virtualmedia' | 'redfish' | 'idrac-virtualmedia' | 'ipmi'
  /** Host and port. */
  address: string
  system?: string
}

/** What BareMetal Operator knows a host by, and last saw of it. */
export interface HostStatus {
  id?: string
  errorMessage?: string
  hardware?: JsonObject
}

const CONSUMER = 'd0000000-0000-4000-8000-000000000001'

/** The body of `POST /v1/nodes` for a host (facts 2.1). */
export function registration(host: Host): JsonObject {
  const { kind, address, system = '/redfish/v1/Systems/1' } = host.bmc
  const properties = { capabilities: 'boot_mode:uefi', cpu_arch: 'x86_64' }
  const deployInterface = host.customDeploy
    ? { deploy_interface: 'custom-agent' }
    : host.image?.format === 'live-iso'
      ? { deploy_interface: 'ramdisk' }
      : {}
  const common = {
    ...{ name: `metal3~${host.name}`, inspect_interface: 'agent', disable_power_off: false, properties },
    ...deployInterface,
  }
  if (kind === 'ipmi') {
    const driver_info = { ipmi_port: '623', ipmi_username: 'admin', ipmi_password: 'secret', ipmi_address: address }
    return { ...common, driver: 'ipmi', boot_interface: 'ipxe', driver_info }
  }
  const driver_info = {
    ...{ redfish_address: `https://${address}`, redfish_system_id: system },
    ...{ redfish_username: 'admin', redfish_password: 'secret', redfish_verify_ca: false },
  }
  const redfish = { ...common, driver_info, firmware_interface: 'redfish', raid_interface: 'redfish' }
  switch (kind) {
    case 'redfish':
      return { ...redfish, driver: 'redfish', boot_interface: 'ipxe' }
    case 'redfish-virtualmedia':
      return { ...redfish, driver: 'redfish', boot_interface: 'redfish-virtual-media' }
    case 'idrac-virtualmedia':
      return {
        ...{ ...redfish, driver: 'idrac', boot_interface: 'idrac-redfish-virtual-media' },
        ...{ bios_interface: 'idrac-redfish', management_interface: 'idrac-redfish' },
        ...{ power_interface: 'idrac-redfish', raid_interface: 'idrac-redfish', vendor_interface: 'idrac-redfish' },
      }
  }
}

/** The steps of `preparing` (facts 2.4). */
export function cleanSteps(host: Host): RequestedStep[] {
  const steps: RequestedStep[] = []
  if (host.raid)
    steps.push({ interface: 'raid', step: 'delete_configuration' }, { interface: 'raid', step: 'create_configuration' })
  return [...steps, ...serviceSteps(host)]
}

/** What can also be done to a host in use. */
export function serviceSteps({ biosSettings, firmwareUpdates }: Host): RequestedStep[] {
  const steps: RequestedStep[] = []
  if (biosSettings) steps.push({ interface: 'bios', step: 'apply_configuration', args: { settings: biosSettings } })
  if (firmwareUpdates) steps.push({ interface: 'firmware', step: 'update', args: { settings: firmwareUpdates } })
  return steps
}

/** What an instance is of, as paths of a PATCH; undefined removes (facts 2.5). */
export function instanceOf(host: Host): Record<string, unknown> {
  const { image, customDeploy, rootDevice } = host
  const common = {
    '/instance_uuid': CONSUMER,
    '/instance_info/capabilities': {},
    ...(rootDevice ? { '/instance_info/root_device': rootDevice } : {}),
  }
  const none = { image_source: undefined, image_os_hash_algo: undefined, image_os_hash_value: undefined }
  const info = (values: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [`/instance_info/${name}`, value]))
  if (image?.format === 'live-iso')
    return { ...common, ...info({ ...none, boot_iso: image.url }), '/deploy_interface': 'ramdisk' }
  const checksum = image && {
    ...(image.checksumType
      ? { image_os_hash_algo: image.checksumType, image_os_hash_value: image.checksum }
      : { image_checksum: image.checksum }),
    ...(image.format ? { image_disk_format: image.format } : {}),
  }
  const ofImage = info({ ...none, boot_iso: undefined, ...(image ? { image_source: image.url, ...checksum } : {}) })
  // Without a deploy interface Ironic's own default is wanted back.
  return { ...common, ...ofImage, '/deploy_interface': customDeploy ? 'custom-agent' : undefined }
}
