import type { JsonObject, NodeRecord, PortRecord } from '../../wire/index.js'
import type { PortWanted } from './turn.js'

const MAC = /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/

/** One interface of the inventory after `validate-interfaces`. */
type Interface = JsonObject & { name: string; mac_address: string; pxe_enabled: boolean }

export interface HookResults {
  properties: JsonObject
  create: PortWanted[]
  update: PortRecord[]
  inventory: JsonObject
  pluginData: JsonObject
}

/**
 * Ironic's default inspection hooks over posted data: `ramdisk-error`, `validate-interfaces`, `ports`, `architecture`
 * (facts/ironic.md 6.2). What they add to the plugin data is as recorded.
 *
 * @param ports the node's own ports
 * @param taken all ports that have one of the posted addresses, also those of other nodes
 */
export function runHooks(
  node: Readonly<NodeRecord>,
  ports: readonly PortRecord[],
  taken: readonly PortRecord[],
  data: JsonObject,
): HookResults | { error: string } {
  const failing = (hook: string, reason: string): { error: string } => ({
    error:
      `The following failures happened while running preprocess hooks for node ${node.uuid}:\n` +
      `Error in preprocess hook ${hook}: Failed to inspect hardware. Reason: ${reason}`,
  })
  if (data.error) return failing('ramdisk-error', `Ramdisk reported error: ${String(data.error)}`)

  const inventory = data.inventory as JsonObject
  const pxe = pxeAddress(inventory)
  const all = interfacesOf(inventory, pxe)
  const valid = all.filter((item) => MAC.test(item.mac_address))
  if (valid.length === 0)
    return failing('validate-interfaces', 'Validate-interfaces hook: no valid network interfaces.')

  const { inventory: _, ...plugin } = data
  const byName = (items: Interface[]): JsonObject => Object.fromEntries(items.map((item) => [item.name, item]))
  const pluginData: JsonObject = {
    ...plugin,
    all_interfaces: byName(all),
    valid_interfaces: byName(valid),
    macs: valid.map((item) => item.mac_address),
  }

  // With `add_ports=pxe` and no interface known to have booted, all are added.
  const wanted = pxe === undefined ? valid : valid.filter((item) => item.pxe_enabled)
  const create = wanted
    .filter((item) => !taken.some((port) => port.address === item.mac_address))
    .map((item) => ({ address: item.mac_address, pxe_enabled: item.pxe_enabled }))
  const update = ports
    .map((port) => ({ ...port, pxe_enabled: port.address === pxe }))
    .filter((port, index) => port.pxe_enabled !== ports[index]!.pxe_enabled)

  const architecture = (inventory.cpu as { architecture?: unknown } | undefined)?.architecture
  const properties: JsonObject = typeof architecture === 'string' ? { cpu_arch: architecture } : {}
  return { properties, create, update, inventory, pluginData }
}

/** The raw value may be PXELINUX's `01-52-54-...`: hardware type, then the address with dashes. */
function pxeAddress(inventory: JsonObject): string | undefined {
  const raw = (inventory.boot as { pxe_interface?: unknown } | undefined)?.pxe_interface
  if (typeof raw !== 'string') return undefined
  const address = raw.toLowerCase().replaceAll('-', ':')
  return address.split(':').length === 7 ? address.slice(3) : address
}

function interfacesOf(inventory: JsonObject, pxe: string | undefined): Interface[] {
  const interfaces = (inventory.interfaces ?? []) as JsonObject[]
  return interfaces
    .filter((item) => typeof item.name === 'string' && item.name !== 'lo' && typeof item.mac_address === 'string')
    .map((item) => {
      const mac_address = String(item.mac_address).toLowerCase()
      // The zone of a link-local address says nothing outside the ramdisk.
      const ipv6 = typeof item.ipv6_address === 'string' ? { ipv6_address: item.ipv6_address.split('%')[0] } : {}
      return { ...item, ...ipv6, name: String(item.name), mac_address, pxe_enabled: mac_address === pxe }
    })
}
