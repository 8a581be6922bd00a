import { UserError, defined } from '../../../base/runtime/index.js'
import type { JsonObject } from '../../../base/wire/index.js'
import type { Host } from '../hosts/host.js'
import { imageFileOf } from '../images/host-image-files.js'

export const nodeNameOf = ({ name, ironic }: Pick<Host, 'name' | 'ironic'>): string => ironic?.node ?? name

/**
 * Refuses hosts that no Ironic can do.
 *
 * @throws UserError `hosts-file` (usage)
 */
export function checkForIronic(hosts: readonly Host[]): void {
  for (const host of hosts) {
    const { name, bmc, ironic } = host
    const refused = (message: string, remedy: string) =>
      new UserError('hosts-file', `the host ${name}: ${message}`, { kind: 'usage', remedy })
    if (!bmc) throw refused('an Ironic needs its BMC', 'name it, or leave the host out with --only')
    if (imageFileOf(host) !== undefined)
      throw refused('an Ironic fetches no image from a file of this machine', 'name its image by a URL')
    if (bmc.certificate !== undefined && ironic?.['driver-info']?.['redfish_verify_ca'] === undefined)
      throw refused(
        'no Ironic pins a certificate by its fingerprint',
        'say how it checks it: ironic: {driver-info: {redfish_verify_ca: PATH-THERE}}',
      )
  }
}

/** Marks the nodes that runs have registered: no other is touched. */
export const RUN_MARK = 'ironstage_run'

/** Fields of the node of a host. */
export function nodeFieldsOf(
  host: Host,
  account: { username: string; password: string },
): { driver: string; driver_info: JsonObject } & JsonObject {
  const { bmc = {}, live, ironic = {} } = host
  const usual =
    'pxe' in live || bmc.ipmi !== undefined ? 'ipxe' : 'http' in live ? 'redfish-https' : 'redfish-virtual-media'
  return {
    driver: bmc.ipmi === undefined ? 'redfish' : 'ipmi',
    driver_info: {
      ...(bmc.ipmi === undefined ? hostRedfishInfo(bmc, account) : ipmiInfo(bmc.ipmi, account)),
      ...(ironic['driver-info'] as JsonObject | undefined),
    },
    boot_interface: ironic['boot-interface'] ?? usual,
    deploy_interface: 'custom-agent',
    inspect_interface: 'agent',
  }
}

function hostRedfishInfo(
  { redfish = '', system, insecure }: NonNullable<Host['bmc']>,
  { username, password }: { username: string; password: string },
): JsonObject {
  return {
    redfish_address: redfish,
    ...defined({
      redfish_system_id:
        system === undefined ? undefined : system.startsWith('/') ? system : `/redfish/v1/Systems/${system}`,
    }),
    redfish_username: username,
    redfish_password: password,
    ...defined({ redfish_verify_ca: insecure ? false : undefined }),
  }
}

function ipmiInfo(ipmi: string, { username, password }: { username: string; password: string }): JsonObject {
  const [, six, four, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(ipmi) ?? []
  return {
    ipmi_address: six ?? four ?? ipmi,
    ...defined({ ipmi_port: port === undefined ? undefined : Number(port) }),
    ipmi_username: username,
    ipmi_password: password,
  }
}
