import { UserError, defined } from '../../base/runtime/index.js'
import type { JsonObject } from '../../base/wire/index.js'
import type { FleetHost } from './fleet-hosts.js'
import type { HostsOutOptions } from './hosts-out.js'

/** Fields of the node of a machine, and of its ports. */
export function nodeFields(
  host: FleetHost,
  options: HostsOutOptions,
): {
  driver: string
  name: string
  driver_info: JsonObject
  ports: { address: string; pxe_enabled: boolean }[]
} & JsonObject {
  const { name, bootMac, macs, firmware, architecture } = host
  const { bootInterface, driver = 'redfish', driverInfo } = options
  return {
    name,
    driver,
    driver_info: { ...(driver === 'ipmi' ? ipmiInfo(host) : fleetRedfishInfo(host)), ...driverInfo },
    properties: { capabilities: `boot_mode:${firmware}`, cpu_arch: architecture },
    boot_interface: bootInterface,
    ports: macs.map((address) => ({ address, pxe_enabled: address === bootMac })),
  }
}

const fleetRedfishInfo = ({ bmc, system, account, selfSigned }: FleetHost): JsonObject => ({
  redfish_address: bmc,
  redfish_system_id: system,
  redfish_username: account.username,
  redfish_password: account.password,
  ...defined({ redfish_verify_ca: selfSigned ? false : undefined }),
})

function ipmiInfo({ name, ipmi, account }: FleetHost): JsonObject {
  if (!ipmi)
    throw new UserError('hosts-out', `the BMC of ${name} does not support IPMI`, {
      kind: 'usage',
      remedy: 'open it with --ipmi-port',
    })
  return {
    ipmi_address: ipmi.host,
    ipmi_port: ipmi.port,
    ipmi_username: account.username,
    ipmi_password: account.password,
  }
}
