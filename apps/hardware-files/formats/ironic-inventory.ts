import { MIB } from '../../../base/runtime/index.js'
import { parseLldp, type CollectedTlv } from '../../../base/wire/index.js'
import type { ImportedDisk, FoundMachine, FoundMachines, FoundNeighbour, FoundNic } from '../found-machine.js'
import {
  countSchema,
  descriptionCheck,
  flagSchema,
  listSchema,
  objectSchema,
  openSchema,
  textSchema,
  withoutEmpty,
} from './description-schemas.js'

interface WrittenInterface {
  name?: string | null
  mac_address?: string | null
  ipv4_address?: string | null
  has_carrier?: boolean | null
  driver?: string | null
  lldp?: CollectedTlv[] | null
}

interface WrittenDisk {
  name?: string | null
  size?: number | null
  model?: string | null
  vendor?: string | null
  serial?: string | null
  wwn?: string | null
  wwn_vendor_extension?: string | null
  hctl?: string | null
  by_path?: string | null
  rotational?: boolean | null
  tran?: string | null
  logical_sectors?: number | null
}

interface ParsedNeighbour {
  switch_chassis_id?: string | null
  switch_port_id?: string | null
  switch_port_description?: string | null
  switch_system_name?: string | null
  switch_system_description?: string | null
  switch_port_untagged_vlan_id?: number | null
  switch_port_mtu?: number | null
  switch_mgmt_addresses?: string[] | null
  switch_port_vlans?: { id: number; name?: string | null }[] | null
}

/** `{inventory, plugin_data}` as `baremetal node inventory save` writes it. */
interface SavedInventory {
  inventory: {
    hostname?: string | null
    cpu?: { architecture?: string | null; count?: number | null } | null
    memory?: { physical_mb?: number | null; total?: number | null } | null
    system_vendor?: {
      manufacturer?: string | null
      product_name?: string | null
      serial_number?: string | null
    } | null
    boot?: { current_boot_mode?: string | null; pxe_interface?: string | null } | null
    interfaces?: WrittenInterface[] | null
    disks?: WrittenDisk[] | null
  }
  plugin_data?: {
    all_interfaces?: Record<string, { pxe_enabled?: boolean | null }> | null
    lldp_raw?: Record<string, CollectedTlv[]> | null
    parsed_lldp?: Record<string, ParsedNeighbour> | null
  } | null
}

const TLV_SCHEMA = {
  type: 'array',
  minItems: 2,
  items: [{ type: 'integer' }, { type: 'string' }],
  description: 'a type and a value in hexadecimal',
}
const TLVS = listSchema(TLV_SCHEMA)

const NEIGHBOUR = objectSchema({
  switch_chassis_id: textSchema,
  switch_port_id: textSchema,
  switch_port_description: textSchema,
  switch_system_name: textSchema,
  switch_system_description: textSchema,
  switch_port_untagged_vlan_id: countSchema,
  switch_port_mtu: countSchema,
  switch_mgmt_addresses: listSchema({ type: 'string' }),
  switch_port_vlans: listSchema({
    type: 'object',
    required: ['id'],
    properties: { id: { type: 'integer' }, name: textSchema },
  }),
})

const PARSED = descriptionCheck<ParsedNeighbour>(NEIGHBOUR)

const INVENTORY = descriptionCheck<SavedInventory>({
  type: 'object',
  required: ['inventory'],
  properties: {
    inventory: {
      type: 'object',
      properties: {
        hostname: textSchema,
        cpu: objectSchema({ architecture: textSchema, count: countSchema }),
        memory: objectSchema({ physical_mb: countSchema, total: countSchema }),
        system_vendor: objectSchema({
          manufacturer: textSchema,
          product_name: textSchema,
          serial_number: textSchema,
        }),
        boot: objectSchema({ current_boot_mode: textSchema, pxe_interface: textSchema }),
        interfaces: listSchema({
          type: 'object',
          properties: {
            name: textSchema,
            mac_address: textSchema,
            ipv4_address: textSchema,
            has_carrier: flagSchema,
            driver: textSchema,
            lldp: TLVS,
          },
        }),
        disks: listSchema({
          type: 'object',
          properties: {
            name: textSchema,
            size: countSchema,
            model: textSchema,
            vendor: textSchema,
            serial: textSchema,
            wwn: textSchema,
            wwn_vendor_extension: textSchema,
            hctl: textSchema,
            by_path: textSchema,
            rotational: flagSchema,
            tran: textSchema,
            logical_sectors: countSchema,
          },
        }),
      },
    },
    plugin_data: objectSchema({
      all_interfaces: openSchema(objectSchema({ pxe_enabled: flagSchema })),
      lldp_raw: openSchema(TLVS),
      parsed_lldp: openSchema(NEIGHBOUR),
    }),
  },
})

/** Ironic's inventory of a node, as its agent or its BMC reported it (ironic-python-agent 13.0.0 hardware.py). */
export const IRONIC_INVENTORY = {
  format: 'an Ironic inventory',
  check: INVENTORY,
  claims: (value: unknown): boolean => typeof value === 'object' && value !== null && 'inventory' in value,
  read: (saved: SavedInventory): FoundMachines => ({
    format: 'an Ironic inventory',
    machines: [machineOf(saved)],
    notes: [
      'an inventory also has models, frequencies and flags of CPUs, versions of firmware, models and speeds of NICs and the address of the BMC, which a hardware file cannot hold',
      'whether a disk can erase itself is not in an inventory: by default NVMe disks can, and others cannot',
    ],
  }),
}

function machineOf({ inventory, plugin_data: plugins }: SavedInventory): FoundMachine {
  const { cpu, memory, system_vendor: vendor, boot, hostname } = inventory
  const bootMac = macOf(boot?.pxe_interface)
  const bytes = memory?.total ?? undefined
  return {
    firmware: boot?.current_boot_mode ?? undefined,
    architecture: cpu?.architecture ?? undefined,
    cpus: cpu?.count ?? undefined,
    memoryMib: memory?.physical_mb ?? (bytes === undefined ? undefined : Math.floor(bytes / MIB)),
    manufacturer: vendor?.manufacturer ?? undefined,
    product: vendor?.product_name ?? undefined,
    serial: vendor?.serial_number ?? undefined,
    hostname: hostname ?? undefined,
    nics: (inventory.interfaces ?? []).map((nic) => nicOf(nic, bootMac, plugins ?? {})),
    disks: (inventory.disks ?? []).map(diskOf),
  }
}

/** PXELINUX writes `01-52-54-...`: the hardware type, then the address with dashes. */
function macOf(bootInterface: string | null | undefined): string | undefined {
  return bootInterface
    ?.toLowerCase()
    .replace(/^[0-9a-f]{2}-(?=([0-9a-f]{2}-){5})/, '')
    .replaceAll('-', ':')
}

function nicOf(
  nic: WrittenInterface,
  bootMac: string | undefined,
  plugins: NonNullable<SavedInventory['plugin_data']>,
): FoundNic {
  const name = nic.name ?? undefined
  const mac = nic.mac_address?.toLowerCase()
  const { ipv4_address: ipv4 } = nic
  const isEnabled = name === undefined ? undefined : ownEntry(plugins.all_interfaces, name)?.pxe_enabled
  return {
    name,
    mac,
    ipv4: ipv4 === '' ? null : ipv4,
    carrier: nic.has_carrier ?? undefined,
    pxe: bootMac === undefined ? (isEnabled ?? undefined) : mac === bootMac,
    driver: nic.driver ?? undefined,
    lldp: neighbourOf(nic, plugins),
  }
}

/** By the hook's result, or else by the frames; null for an interface on which nothing was heard. */
function neighbourOf(
  { name, lldp }: WrittenInterface,
  { parsed_lldp: parsed, lldp_raw: raw }: NonNullable<SavedInventory['plugin_data']>,
): FoundNeighbour | null | undefined {
  const known = ownEntry(parsed, name ?? '')
  if (known) return neighbour(known)
  const collected = ownEntry(raw, name ?? '')
  const tlvs = collected && collected.length > 0 ? collected : (lldp ?? collected)
  if (!tlvs) return undefined
  const heard = parseLldp(tlvs)
  return tlvs.length > 0 && PARSED.accepts(heard) ? neighbour(heard) : null
}

const ownEntry = <T>(entries: Record<string, T> | null | undefined, name: string): T | undefined =>
  entries && Object.hasOwn(entries, name) ? entries[name] : undefined

const neighbour = (parsed: ParsedNeighbour): FoundNeighbour => ({
  chassis: withoutEmpty(parsed.switch_chassis_id),
  port: withoutEmpty(parsed.switch_port_id),
  name: withoutEmpty(parsed.switch_system_name),
  portDescription: withoutEmpty(parsed.switch_port_description),
  systemDescription: withoutEmpty(parsed.switch_system_description),
  untaggedVlan: parsed.switch_port_untagged_vlan_id ?? undefined,
  vlans: parsed.switch_port_vlans?.map(({ id, name }) => ({ id, name: withoutEmpty(name) })),
  mtu: parsed.switch_port_mtu ?? undefined,
  managementAddresses: parsed.switch_mgmt_addresses ?? undefined,
})

const diskOf = (disk: WrittenDisk): ImportedDisk => ({
  name: disk.name ?? undefined,
  size: disk.size ?? undefined,
  serial: disk.serial ?? undefined,
  model: disk.model ?? undefined,
  vendor: disk.vendor ?? undefined,
  wwn: disk.wwn ?? undefined,
  wwnExtension: disk.wwn_vendor_extension ?? undefined,
  hctl: disk.hctl ?? undefined,
  byPath: disk.by_path ?? undefined,
  rotational: disk.rotational ?? undefined,
  transport: disk.tran ?? undefined,
  sectorSize: disk.logical_sectors ?? undefined,
})
