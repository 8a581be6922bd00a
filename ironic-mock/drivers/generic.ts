import { deployInterfacesOf } from './deploy/deploy-interfaces.js'
import type { BootImplementation } from './hardware-type.js'

/** Interfaces of types without their own: network boot and an agent (upstream's GenericHardware). */
export const GENERIC_INTERFACES = {
  bios: ['no-bios'],
  boot: ['ipxe'],
  console: ['no-console'],
  deploy: deployInterfacesOf('every type'),
  firmware: ['no-firmware'],
  inspect: ['agent', 'no-inspect'],
  network: ['noop', 'flat', 'neutron'],
  raid: ['no-raid', 'agent'],
  rescue: ['no-rescue', 'agent'],
  storage: ['noop'],
}

/** Fields of `driver_info` that the agent's deploy and boot interfaces read; the names are Ironic's. */
export const AGENT_PROPERTIES: Readonly<Record<string, string>> = {
  deploy_kernel: 'Kernel of the deploy ramdisk. Fetched where [ironstage]fetch_boot_images says so.',
  deploy_ramdisk: 'The deploy ramdisk. Fetched where [ironstage]fetch_boot_images says so.',
  image_http_proxy: 'Proxy for images fetched over HTTP. Optional.',
  image_https_proxy: 'Proxy for images fetched over HTTPS. Optional.',
  image_no_proxy: 'Hosts, comma-separated, whose images are fetched without a proxy. Optional.',
  image_download_source: 'Where images come from: swift, http or local. Optional.',
  deploy_forces_oob_reboot: 'Reboot through the BMC at the end of a deployment, for ramdisks that cannot. Optional.',
  agent_verify_ca: 'How the TLS certificate of the agent is verified: a boolean, or a path. Optional.',
}

/** Fields of the types whose BMC sets the boot device. */
export const BOOT_PROPERTIES: Readonly<Record<string, string>> = {
  force_persistent_boot_device: 'Default, Always or Never. Optional.',
  rescue_kernel: 'Kernel of the rescue ramdisk. Fetched as that of the deploy ramdisk. Optional.',
  rescue_ramdisk: 'The rescue ramdisk. Fetched as the deploy ramdisk. Optional.',
  kernel_append_params: 'Kernel parameters for the ramdisk; %default% stands for the configured ones. Optional.',
}

const NETWORK: BootImplementation = {
  takesIso: false,
  virtualMedia: false,
  bootsRamdisks: true,
  managesInspection: true,
  needsPort: true,
}

/** Boot interfaces that every type may have. */
export const GENERIC_BOOT: Readonly<Record<string, BootImplementation>> = {
  ipxe: NETWORK,
  pxe: NETWORK,
  http: { ...NETWORK, needsPort: false },
  'http-ipxe': { ...NETWORK, needsPort: false },
}

export const COMMON_BOOT_DEVICES = ['pxe', 'disk', 'cdrom', 'bios'] as const
