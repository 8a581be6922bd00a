import type { JsonObject } from '../wire/index.js'
import type { FleetHost } from './hosts.js'
import type { HostsOptions } from './hosts-out.js'

/** Fields of the node of a machine, and of its ports. */
export function nodeFields(
  host: FleetHost,
  { bootInterface, driverInfo }: HostsOptions,
): { driver: string; name: string; ports: { address: string; pxe_enabled: boolean }[] } & JsonObject {
  const { name, bmc, system, account, selfSigned, bootMac, macs, firmware, architecture } = host
  return {
    name,
    driver: 'redfish',
    driver_info: {
      redfish_address: bmc,
      redfish_system_id: system,
      redfish_username: account.username,
      redfish_password: account.password,
      ...(selfSigned ? { redfish_verify_ca: false } : {}),
      ...driverInfo,
    },
    properties: { capabilities: `boot_mode:${firmware}`, cpu_arch: architecture },
    boot_interface: bootInterface,
    ports: macs.map((address) => ({ address, pxe_enabled: address === bootMac })),
  }
}
