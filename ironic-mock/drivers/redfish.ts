import { maskedAddress } from '../../base/bytes/index.js'
import { formatClientValue, type ArgsInfo, type NodeRecord } from '../../base/wire/index.js'
import { AGENT_PROPERTIES, BOOT_PROPERTIES, COMMON_BOOT_DEVICES, GENERIC_BOOT, GENERIC_INTERFACES } from './generic.js'
import type { BootImplementation, HardwareType, InterfaceStep } from './hardware-type.js'
import { describeRedfishError, redfishWaits, withScheme } from './redfish-errors.js'
import { REDFISH_METHODS } from './redfish-subscriptions.js'

const VIRTUAL_MEDIA: BootImplementation = {
  takesIso: true,
  virtualMedia: true,
  bootsRamdisks: true,
  managesInspection: true,
  needsPort: false,
}

const BIOS_SETTINGS_ARG: ArgsInfo = {
  settings: { description: 'A list of BIOS settings to be applied', required: true },
}
const COMPONENTS: ArgsInfo = {
  settings: { description: 'A list of dicts with firmware components to be updated', required: true },
}
const VOLUMES: ArgsInfo = {
  create_root_volume: { description: 'Whether to make the root volume; true when not given.', required: false },
  create_nonroot_volumes: { description: 'Whether to make the other volumes; true when not given.', required: false },
  delete_existing: { description: 'Whether to remove what there is before; false when not given.', required: false },
}
const RAID: ArgsInfo = { raid_config: { description: 'The RAID configuration to apply.', required: true }, ...VOLUMES }

const WITHOUT_RAMDISK: InterfaceStep['in'] = { clean: { ramdisk: false }, deploy: {}, service: { ramdisk: false } }
const BIOS_STEPS: readonly InterfaceStep[] = [
  { interface: 'bios', step: 'apply_configuration', argsinfo: BIOS_SETTINGS_ARG, in: WITHOUT_RAMDISK },
  { interface: 'bios', step: 'factory_reset', in: WITHOUT_RAMDISK },
]
const FIRMWARE_STEPS: readonly InterfaceStep[] = [
  {
    interface: 'firmware',
    step: 'update',
    argsinfo: COMPONENTS,
    in: { clean: {}, deploy: { abortable: false }, service: { ramdisk: false } },
  },
]
const RAID_STEPS: readonly InterfaceStep[] = [
  { interface: 'raid', step: 'apply_configuration', argsinfo: RAID, in: { deploy: {}, service: {} } },
  { interface: 'raid', step: 'create_configuration', argsinfo: VOLUMES, in: { clean: {} } },
  { interface: 'raid', step: 'delete_configuration', in: { clean: {}, deploy: {}, service: {} } },
]

function invalidAddress({ uuid, driver_info }: Readonly<NodeRecord>): string | undefined {
  const address = driver_info.redfish_address
  if (typeof address !== 'string' || URL.canParse(withScheme(address))) return undefined
  return `Invalid redfish address ${maskedAddress(address)} set in driver_info/redfish_address on node ${uuid}`
}

/** A machine whose BMC speaks Redfish; the steps are those that a real Ironic offers. */
export const REDFISH: HardwareType = {
  name: 'redfish',
  className: 'RedfishHardware',
  interfaces: {
    ...GENERIC_INTERFACES,
    bios: ['redfish', 'no-bios'],
    boot: ['ipxe', 'redfish-virtual-media', 'redfish-https'],
    firmware: ['redfish', 'no-firmware'],
    inspect: ['agent', 'no-inspect', 'redfish'],
    management: ['redfish', 'noop'],
    power: ['redfish'],
    raid: ['redfish', 'agent', 'no-raid'],
    vendor: ['redfish', 'no-vendor'],
  },
  properties: {
    ...AGENT_PROPERTIES,
    redfish_address: 'URL of the Redfish service; https without a scheme. Required.',
    redfish_system_id: 'Path of the ComputerSystem, needed where the service has more than one.',
    redfish_username: 'Account with administrative access. Recommended.',
    redfish_password: 'Its password. Recommended.',
    redfish_verify_ca: 'How the TLS certificate of the service is verified: a boolean, or a path. Optional.',
    deploy_iso: 'A live ISO with the agent in it, for virtual media, in place of kernel and ramdisk. Optional.',
    redfish_auth_type: 'basic, session or auto. Optional.',
    ...BOOT_PROPERTIES,
  },
  bmc: {
    address: ({ redfish_address }) => formatClientValue(redfish_address ?? ''),
    addressForm: 'url',
    systemId: ({ redfish_system_id }) =>
      formatClientValue(redfish_system_id ?? '')
        .split('/')
        .filter(Boolean)
        .at(-1) ?? '',
    username: 'redfish_username',
    password: 'redfish_password',
    skipsDetection: true,
  },
  implementations: {
    bios: { redfish: { reads: true, steps: BIOS_STEPS } },
    boot: {
      ...GENERIC_BOOT,
      'redfish-virtual-media': VIRTUAL_MEDIA,
      'redfish-https': { ...VIRTUAL_MEDIA, virtualMedia: false },
    },
    firmware: { redfish: { reads: true, steps: FIRMWARE_STEPS } },
    management: {
      redfish: {
        calls: [
          ...(['set_boot_mode', 'set_secure_boot_state', 'inject_nmi'] as const),
          ...(['get_supported_indicators', 'get_indicator_state', 'set_indicator_state'] as const),
          ...(['get_virtual_media', 'attach_virtual_media', 'detach_virtual_media'] as const),
        ],
        bootDevices: [...COMMON_BOOT_DEVICES, 'uefihttp'],
        readsModes: true,
      },
    },
    power: {
      redfish: {
        bmc: {
          required: ['redfish_address'],
          missing: (fields, { uuid }) =>
            `Missing the following Redfish properties in node ${uuid} driver_info: [${fields.map((name) => `'${name}'`).join(', ')}]`,
          invalid: invalidAddress,
          refused: describeRedfishError,
          waits: redfishWaits,
        },
      },
    },
    raid: { redfish: { steps: RAID_STEPS } },
    vendor: { redfish: { methods: REDFISH_METHODS, steps: [] } },
  },
}
