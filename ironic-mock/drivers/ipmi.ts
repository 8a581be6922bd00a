import { seconds } from '../../base/runtime/index.js'
import { IronicError, formatClientValue } from '../../base/wire/index.js'
import type { BmcRequest } from './bmc-error.js'
import { AGENT_PROPERTIES, BOOT_PROPERTIES, COMMON_BOOT_DEVICES, GENERIC_BOOT, GENERIC_INTERFACES } from './generic.js'
import { vendorMethod, type HardwareType } from './hardware-type.js'

const DEFAULT_PORT = '623'

/** Tries of a command: as many as fit into a minute, as ironic 39.0.0 drivers/modules/ipmitool.py _exec_ipmitool. */
const RETRY_WAITS: readonly number[] = Array<number>(11).fill(seconds(5))

const POWER_COMMANDS: Readonly<Record<string, string>> = {
  'power on': 'power on',
  'power off': 'power off',
  rebooting: 'power off',
  'soft power off': 'power soft',
  'soft rebooting': 'power soft',
}

/** The command of ipmitool for a call. */
function commandFor(request: BmcRequest | undefined): string {
  const { call, target = '' } = request ?? { call: 'read power' }
  if (call === 'set power') return POWER_COMMANDS[target] ?? 'power status'
  return call === 'set boot' ? `chassis bootdev ${target}` : 'power status'
}

/** A machine whose BMC speaks IPMI. */
export const IPMI: HardwareType = {
  name: 'ipmi',
  className: 'IPMIHardware',
  interfaces: {
    ...GENERIC_INTERFACES,
    management: ['ipmitool', 'noop'],
    power: ['ipmitool'],
    vendor: ['ipmitool', 'no-vendor'],
  },
  properties: {
    ...AGENT_PROPERTIES,
    ipmi_address: 'Address or name of the BMC. Required.',
    ipmi_port: 'Its UDP port, 623 when not given.',
    ipmi_username: 'Account; anonymous when not given.',
    ipmi_password: 'Its password. Optional.',
    ipmi_priv_level: 'Privilege level: ADMINISTRATOR when not given.',
    ...BOOT_PROPERTIES,
  },
  bmc: {
    address: ({ ipmi_address, ipmi_port }) => {
      const port = formatClientValue(ipmi_port ?? '') || DEFAULT_PORT
      return `${formatClientValue(ipmi_address ?? '')}${port === DEFAULT_PORT ? '' : `:${port}`}`
    },
    addressForm: 'host',
    systemId: () => '',
    username: 'ipmi_username',
    password: 'ipmi_password',
    skipsDetection: false,
  },
  implementations: {
    boot: GENERIC_BOOT,
    management: {
      ipmitool: { calls: ['inject_nmi'], bootDevices: [...COMMON_BOOT_DEVICES, 'safe'], readsModes: false },
    },
    power: {
      ipmitool: {
        bmc: {
          required: ['ipmi_address'],
          missing: (fields) =>
            `Missing the following IPMI credentials in node's driver_info: [${fields.map((name) => `'${name}'`).join(', ')}].`,
          // The output of ipmitool only reaches the log.
          refused: (_, { request }) => `IPMI call failed: ${commandFor(request)}.`,
          waits: () => RETRY_WAITS,
        },
      },
    },
    vendor: {
      ipmitool: {
        methods: {
          bmc_reset: vendorMethod('POST', 'Resets the BMC; takes warm, true or false.'),
          send_raw: vendorMethod('POST', 'Sends bytes to the BMC; takes raw_bytes, such as 0x00 0x01.', {
            check: ({ raw_bytes }) => {
              if (!raw_bytes) throw new IronicError(400, 'Parameter raw_bytes (string of bytes) was not specified.')
            },
          }),
        },
        steps: [
          {
            interface: 'vendor',
            step: 'send_raw',
            argsinfo: {
              raw_bytes: {
                description: 'A string of raw bytes to convey the request to transmit to the remote BMC.',
                required: true,
              },
            },
            in: { clean: { ramdisk: false }, deploy: {}, service: {} },
          },
        ],
      },
    },
  },
}
