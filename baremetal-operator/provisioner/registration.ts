import { defined } from '../../base/runtime/index.js'
import type { ApiNode, JsonObject } from '../../base/wire/index.js'
import type { Calls } from './ironic-calls.js'
import {
  capabilitiesWith,
  nodeName,
  nodePropertiesOf,
  ramdiskOf,
  registrationOf,
  type RequestedHost,
  type HostStatus,
  type RamdiskSource,
} from './host-data-model.js'
import { retrySoon, type NodeRequests, type HostPassResult } from './node-requests.js'

/** Percent-encoded commas, as gophercloud writes them. */
const PORT_FIELDS = 'fields=node_uuid%2Cuuid%2Caddress'
type Ports = { ports: { node_uuid: string; address: string }[] }

/**
 * Finds the node of a host by its id, then by its names, then by its MAC address.
 *
 * @throws MacConflict when a node of another name has the MAC address
 */
export async function findHostNode(
  calls: Calls,
  host: RequestedHost,
  status: HostStatus,
): Promise<ApiNode | undefined> {
  const { id } = status
  for (const name of [...(id ? [id] : []), nodeName(host), ...(host.name.includes('~') ? [] : [host.name])]) {
    const why = name === id ? 'reads the node' : 'is there already a node with this name?'
    const node = await calls.find<ApiNode>(why, `/nodes/${name}`)
    if (node) return node
  }
  if (host.bootMac === undefined) return undefined
  const [port] = await portsOf(calls, host.bootMac, 'or one that boots from this MAC address?')
  const node = port && (await calls.call<ApiNode>('reads the node of this port', 'GET', `/nodes/${port.node_uuid}`))
  if (node?.name) throw new MacConflict(`MAC address ${host.bootMac} conflicts with existing node ${node.name}`)
  return node
}

/** A computer that has a node already, of another host. */
export class MacConflict extends Error {
  override name = 'MacConflict'
}

async function portsOf(calls: Calls, mac: string, why: string): Promise<Ports['ports']> {
  const path = `/ports?address=${encodeURIComponent(mac)}&${PORT_FIELDS}`
  return (await calls.call<Ports>(why, 'GET', path)).ports
}

/** Provision states in which a flow runs; the node is left unchanged. */
const BUSY_FLOW_STATES: ReadonlySet<string> = new Set([
  'clean wait',
  'cleaning',
  'wait call-back',
  'deploying',
  'inspecting',
])

/** The first NIC address of `driver_info`: of another BMC, all of it is sent anew. */
const addressIn = (info: JsonObject): unknown => Object.entries(info).find(([key]) => key.endsWith('_address'))?.[1]

export interface RegistrationParts {
  requests: NodeRequests
  host: RequestedHost
  status: HostStatus
  /** Null keeps what the node has: the host's own image is not there yet. */
  ramdisk: RamdiskSource | null
  /** True if an image of its own is made for each host, which then has the host's network configuration in it. */
  hasBuilder?: boolean
}

/** First part of every pass: creates the node of an unknown host, patches one that differs from the spec. */
export async function registerHost(parts: RegistrationParts): Promise<ApiNode | { outcome: HostPassResult }> {
  const { requests, host, status, ramdisk, hasBuilder = false } = parts
  const { calls } = requests
  const found = await findHostNode(calls, host, status)
  const create = async (): Promise<ApiNode> => {
    const why = 'Ironic has no node for the host: creates it'
    const created = await calls.call<ApiNode>(why, 'POST', '/nodes', registrationOf(host, status))
    requests.publish('Registered', 'Registered new host')
    return created
  }
  let node = found ?? (await create())
  status.id = node.uuid
  if (/^(enroll|manageable|available|active|error|.* failed)$/.test(node.provision_state))
    await ensurePorts(calls, host, node, status)
  const network = hasBuilder ? undefined : host.preprovisioningNetworkData
  const { driverInfo } = host.bmc
  const hasNewBmc = status.hasNewAccount || addressIn(node.driver_info) !== addressIn(driverInfo)
  node = await requests.patch('what differs from the spec', node, {
    ...(found
      ? {
          '/name': nodeName(host),
          ...defined({ '/driver_info': hasNewBmc ? driverInfo : undefined }),
          '/disable_power_off': host.disablePowerOff ?? false,
          '/properties/cpu_arch': nodePropertiesOf(host).cpu_arch,
        }
      : {}),
    ...defined({ '/network_data': network }),
  })
  if (node.provision_state === 'enroll') {
    if (node.last_error && !status.isRetry && !status.hasNewAccount) return { outcome: { error: node.last_error } }
    return { outcome: node.target_provision_state === null ? await requests.ask(node, 'manage') : retrySoon }
  }
  if (node.provision_state === 'verifying') return { outcome: retrySoon }
  if (BUSY_FLOW_STATES.has(node.provision_state)) return node
  return requests.patch('the ramdisk, and properties from the spec', node, {
    ...(ramdisk ? ramdiskOf(host, ramdisk) : {}),
    '/automated_clean': host.automatedCleaning ?? true,
    '/properties/capabilities': capabilitiesWith(node.properties['capabilities'], host),
    '/properties/cpu_arch': nodePropertiesOf(host).cpu_arch,
  })
}

/** Reads what HostFirmwareComponents show; failures are no matter. */
export async function readFirmware(calls: Calls, { uuid }: ApiNode): Promise<Firmware[]> {
  const why = 'firmware versions, for HostFirmwareComponents'
  const found = await calls.call<{ firmware: Firmware[] }>(why, 'GET', `/nodes/${uuid}/firmware`).catch(() => undefined)
  return found?.firmware ?? []
}

interface Firmware {
  component: string
  initial_version: string
  current_version: string | null
}

interface Nic {
  name: string
  mac_address: string
}

/** Creates missing ports: of the boot NIC and of the NICs that an inspection found. */
async function ensurePorts(
  calls: Calls,
  host: RequestedHost,
  { uuid }: ApiNode,
  { hardware }: HostStatus,
): Promise<void> {
  const path = `/ports?${PORT_FIELDS}&node_uuid=${uuid}`
  const { ports } = await calls.call<Ports>('which ports does the node have?', 'GET', path)
  const existing = new Set(ports.map(({ address }) => address.toLowerCase()))
  for (const [address, pxe] of hostMacsOf(host, hardware)) {
    if (existing.has(address)) continue
    const [elsewhere] = await portsOf(calls, address, 'does another node have this MAC address?')
    if (elsewhere) throw new Error(`port ${address} belongs to node ${elsewhere.node_uuid}`)
    const body = { node_uuid: uuid, address, pxe_enabled: pxe }
    await calls.call(`creates a port for the NIC ${address}`, 'POST', '/ports', body)
  }
}

function hostMacsOf({ bootMac }: RequestedHost, hardware: JsonObject | undefined): Map<string, boolean> {
  const inventory = hardware?.['inventory'] as { interfaces?: Nic[] } | undefined
  const { all_interfaces: known = {} } = (hardware?.['plugin_data'] ?? {}) as {
    all_interfaces?: Record<string, { pxe_enabled?: boolean }>
  }
  const macs = new Map(
    (inventory?.interfaces ?? []).map(({ name, mac_address: mac }) => [
      mac.toLowerCase(),
      known[name]?.pxe_enabled ?? false,
    ]),
  )
  if (bootMac !== undefined) macs.set(bootMac.toLowerCase(), true)
  return macs
}
