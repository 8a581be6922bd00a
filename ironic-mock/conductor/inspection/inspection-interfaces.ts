import { BlockList, isIP } from 'node:net'
import { formatClientValue, switchPortOf } from '../../../base/wire/index.js'
import type { JsonObject } from '../../../base/wire/index.js'
import {
  collectedTlvs,
  invalidInventory,
  objectsOfList,
  objectOf,
  type DraftPort,
  type Inspected,
} from './inspection-context.js'

const MAC_PATTERN = /^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i
type InspectedInterfaces = Record<string, JsonObject & { mac_address: string; pxe_enabled: boolean }>

const normalized = (mac: string): string => mac.toLowerCase().replaceAll('-', ':')

/** MAC address of the PXE interface; PXELINUX writes `01-52-54-...`: the hardware type, then the address with dashes. */
function pxeAddress(inventory: JsonObject): string | undefined {
  const raw = objectOf(inventory.boot).pxe_interface
  if (typeof raw !== 'string' || raw === '') return undefined
  return normalized(raw.includes('-') ? raw.slice(raw.indexOf('-') + 1) : raw)
}

/** `validate-interfaces`: chooses the valid ones of the reported interfaces. */
export function validateInterfaces(inspected: Inspected): void {
  const { uuid, inventory, pluginData } = inspected
  const pxe = pxeAddress(inventory)
  if (inventory.interfaces === undefined) throw invalidInventory(uuid, 'no interfaces present in inventory')
  const all: InspectedInterfaces = {}
  for (const item of objectsOfList(inventory.interfaces)) {
    const { name, mac_address: mac, ipv6_address } = item
    if (typeof name !== 'string' || name === '' || typeof mac !== 'string' || !MAC_PATTERN.test(mac)) continue
    // The zone of a link-local address has a meaning in the ramdisk only.
    const ipv6 = typeof ipv6_address === 'string' ? ipv6_address.split('%')[0]! : (ipv6_address ?? null)
    all[name] = { ...item, mac_address: mac, pxe_enabled: normalized(mac) === pxe, ipv6_address: ipv6 }
  }
  if (Object.keys(all).length === 0) throw invalidInventory(uuid, 'no valid network interfaces')
  const valid = Object.fromEntries(Object.entries(all).filter(([name, item]) => isValid(inspected, name, item, pxe)))
  if (Object.keys(valid).length === 0)
    throw invalidInventory(
      uuid,
      `no network interfaces match the configuration (add_ports set to "${inspected.conf.addPorts}")`,
    )
  pluginData.all_interfaces = all
  pluginData.valid_interfaces = structuredClone(valid)
  pluginData.macs = Object.values(valid).map(({ mac_address }) => mac_address)
}

function isValid(
  { conf }: Inspected,
  name: string,
  item: InspectedInterfaces[string],
  pxe: string | undefined,
): boolean {
  const ip = item.ipv4_address || item.ipv6_address
  if (name === 'lo' || (typeof ip === 'string' && (ip.startsWith('127.') || ip === '::1'))) return false
  // Without a known PXE interface all are added.
  if (conf.addPorts === 'pxe' && pxe !== undefined && !item.pxe_enabled) return false
  return conf.addPorts !== 'active' || Boolean(ip)
}

/** `ports`: creates, updates and removes the node's ports. */
export function hookPorts(inspected: Inspected): void {
  const { conf, pluginData, ports, taken } = inspected
  const all = Object.values(objectOf(pluginData.all_interfaces) as InspectedInterfaces)
  const valid = Object.values(objectOf(pluginData.valid_interfaces) as InspectedInterfaces)
  if (conf.addPorts !== 'disabled')
    for (const item of valid) {
      const address = normalized(item.mac_address)
      if (taken.has(address) || ports.some((port) => port.address === address)) continue
      ports.push({
        address,
        pxe_enabled: item.pxe_enabled,
        extra: item.client_id ? { 'client-id': item.client_id } : {},
        local_link_connection: {},
        physical_network: null,
        stored: null,
        removed: false,
      })
    }
  const expected = expectedAddresses(inspected, all)
  const byAddress = new Map(all.map((item) => [normalized(item.mac_address), item]))
  for (const port of ports) {
    if (expected && !expected.includes(port.address)) {
      port.removed = true
      continue
    }
    const found = byAddress.get(port.address)
    if (conf.updatePxeEnabled) port.pxe_enabled = found?.pxe_enabled ?? false
    if (found?.client_id) port.extra = { ...port.extra, 'client-id': found.client_id }
  }
}

function expectedAddresses({ conf, pluginData }: Inspected, all: InspectedInterfaces[string][]): string[] | undefined {
  switch (conf.keepPorts) {
    case 'all':
      return undefined
    case 'present':
      return all.map((item) => normalized(item.mac_address))
    case 'added':
      return (pluginData.macs as string[]).map(normalized)
  }
}

/** The ports of the reported interfaces, each with its interface. */
function* matched({ inventory, pluginData, ports }: Inspected): Generator<[DraftPort, JsonObject]> {
  const all = objectOf(pluginData.all_interfaces)
  for (const item of objectsOfList(inventory.interfaces)) {
    if (!(formatClientValue(item.name) in all)) continue
    const port = ports.find(
      ({ address, removed }) => !removed && address === normalized(formatClientValue(item.mac_address)),
    )
    if (port) yield [port, item]
  }
}

/** `local-link-connection`: the switch port that LLDP names. */
export function hookLocalLink(inspected: Inspected): void {
  for (const [port, item] of matched(inspected)) {
    const found = switchPortOf(collectedTlvs(inspected.pluginData, item))
    port.local_link_connection = { ...found, ...port.local_link_connection }
  }
}

/** `physical-network`: sets the network whose CIDR has an interface's address. */
export function hookPhysicalNetwork(inspected: Inspected): void {
  for (const [port, item] of matched(inspected)) {
    const network = networkOf(inspected.conf.physicalNetworks, item)
    if (network !== undefined) port.physical_network = network
  }
}

function networkOf(map: readonly string[], item: JsonObject): string | undefined {
  for (const address of [item.ipv4_address, item.ipv6_address]) {
    if (typeof address !== 'string' || isIP(address) === 0) continue
    const found = map.find((entry) => isInNetwork(entry.slice(0, entry.lastIndexOf(':')), address))
    if (found !== undefined) return found.slice(found.lastIndexOf(':') + 1)
  }
  return undefined
}

/** True when an address is in a network in CIDR notation. */
export function isInNetwork(cidr: string, address: string): boolean {
  const [network = '', bits] = cidr.split('/')
  const family = isIP(network)
  if (family === 0 || family !== isIP(address)) return false
  const list = new BlockList()
  list.addSubnet(network, bits === undefined ? (family === 4 ? 32 : 128) : Number(bits), family === 4 ? 'ipv4' : 'ipv6')
  return list.check(address, family === 4 ? 'ipv4' : 'ipv6')
}
