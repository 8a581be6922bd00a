import type { JsonObject } from '../../../base/wire/index.js'

/** All inspection hooks, by Ironic's names. */
export const INSPECTION_HOOKS = [
  'ramdisk-error',
  'validate-interfaces',
  'ports',
  'architecture',
  'accelerators',
  'boot-mode',
  'cpu-capabilities',
  'cpus',
  'extra-hardware',
  'local-link-connection',
  'memory',
  'parse-lldp',
  'pci-devices',
  'physical-network',
  'raid-device',
  'root-device',
] as const
export type InspectionHook = (typeof INSPECTION_HOOKS)[number]

/** A PCI device that the hook `accelerators` recognizes by its ids. */
interface KnownDevice {
  vendor_id: string
  device_id: string
  type?: string
  device_info?: string
}

/** Options of inspection; the defaults are upstream's. */
export interface InspectionConf {
  /** `[inspector]hooks` of the `agent` interface, in their order. */
  hooks: readonly InspectionHook[]
  /** `[redfish]inspection_hooks` */
  redfishHooks: readonly InspectionHook[]
  /** `[inspector]add_ports` */
  addPorts: 'all' | 'active' | 'pxe' | 'disabled'
  /** `[inspector]keep_ports` */
  keepPorts: 'all' | 'present' | 'added'
  /** `[inspector]update_pxe_enabled` */
  updatePxeEnabled: boolean
  /** `[inspector]pre_create_ports`: creates ports from the BMC's NICs before the ramdisk boots. */
  preCreatePorts: boolean
  /**
   * `[inspector]require_managed_boot`. Upstream's default is true since 2025; here the lab boots the simulated machines
   * also without the images that the boot interface needs.
   */
  requireManagedBoot: boolean
  /** `[inspector]extra_kernel_params` of the ramdisk that Ironic boots, by name. */
  extraKernelParams: Readonly<Record<string, string>>
  /** `[inspector]force_dhcp`: the ramdisk also listens for LLDP frames. */
  forceDhcp: boolean
  /** `[inspector]cpu_capabilities`: capability by CPU flag. */
  cpuCapabilities: Readonly<Record<string, string>>
  /** `[inspector]extra_hardware_strict` */
  extraHardwareStrict: boolean
  /** `[inspector]pci_device_alias` */
  pciDeviceAliases: readonly { vendor_id: string; product_id: string; name: string }[]
  /** `[inspector]physical_network_cidr_map`: `CIDR:network`. */
  physicalNetworks: readonly string[]
  /** `[inspector]disk_partitioning_spacing`: subtracts a GiB from `local_gb`. */
  diskPartitioningSpacing: boolean
  /** `[inspector]known_accelerators`, the file's `pci_devices`. */
  knownAccelerators: readonly KnownDevice[]
  /** `[inspection_rules]mask_secrets` */
  maskSecrets: 'always' | 'never' | 'sensitive'
  /** `[inspection_rules]built_in_rules`, the file's list. */
  builtInRules: readonly JsonObject[]
}

export const UPSTREAM_INSPECTION: InspectionConf = {
  hooks: ['ramdisk-error', 'validate-interfaces', 'ports', 'architecture'],
  redfishHooks: ['validate-interfaces', 'ports', 'architecture'],
  addPorts: 'pxe',
  keepPorts: 'all',
  updatePxeEnabled: true,
  preCreatePorts: true,
  requireManagedBoot: false,
  extraKernelParams: {},
  forceDhcp: false,
  cpuCapabilities: {
    vmx: 'cpu_vt',
    svm: 'cpu_vt',
    aes: 'cpu_aes',
    pse: 'cpu_hugepages',
    pdpe1gb: 'cpu_hugepages_1g',
    smx: 'cpu_txt',
  },
  extraHardwareStrict: false,
  pciDeviceAliases: [],
  physicalNetworks: [],
  diskPartitioningSpacing: true,
  // As shipped with Ironic 39.0.0.
  knownAccelerators: [
    ['1eb8', 'Tesla T4'],
    ['1df6', 'GV100GL'],
    ['2236', 'A10'],
    ['2235', 'A40'],
    ['26b9', 'L40S'],
    ['26ba', 'L20'],
  ].map(([id, name]) => ({
    vendor_id: '10de',
    device_id: id!,
    type: 'GPU',
    device_info: `NVIDIA Corporation ${name}`,
  })),
  maskSecrets: 'always',
  builtInRules: [],
}
