import type { JsonObject } from '../../base/wire/index.js'

interface Interface {
  name: string
  mac_address: string
  ipv4_address?: string | null
  ipv6_address?: string | null
  vendor?: string | null
  product?: string | null
  speed_mbps?: number | null
  pci_address?: string | null
}

interface Disk {
  name: string
  by_path?: string | null
  rotational: boolean
  size: number
  vendor?: string | null
  model?: string | null
  serial?: string | null
  wwn?: string | null
  wwn_vendor_extension?: string | null
  wwn_with_extension?: string | null
  hctl?: string | null
}

interface HostInventory {
  hostname?: string | null
  memory?: { physical_mb?: number | null }
  cpu?: {
    architecture?: string | null
    model_name?: string | null
    count?: number
    flags?: string[] | null
    frequency?: string | null
  }
  interfaces?: Interface[] | null
  disks?: Disk[] | null
  system_vendor?: {
    manufacturer?: string | null
    product_name?: string | null
    serial_number?: string | null
    firmware?: { vendor?: string | null; version?: string | null; build_date?: string | null } | null
  }
}

interface HardwareNic extends JsonObject {
  name: string
  mac: string
  pxe?: true
}

/** `status.hardware` of a BareMetalHost. */
export interface HardwareDetails {
  systemVendor: JsonObject
  firmware: { bios: JsonObject }
  ramMebibytes?: number
  nics?: HardwareNic[]
  storage?: JsonObject[]
  cpu: { arch?: string; model?: string; clockMegahertz?: number; count?: number; flags?: string[] }
  hostname?: string
}

/** Leaves out what is empty, as Go's omitempty does. */
const filled = (members: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(members).filter(
      ([, value]) =>
        ![undefined, null, '', 0, false].includes(value as never) && !(Array.isArray(value) && value.length === 0),
    ),
  )

/** The hardware of an inspected node (pkg/provisioner/ironic/hardwaredetails/hardwaredetails.go). */
export function hardwareDetails(found: JsonObject): HardwareDetails {
  const { memory, cpu, system_vendor: vendor, hostname, ...inventory } = found['inventory'] as HostInventory
  const plugins = (found['plugin_data'] ?? {}) as {
    all_interfaces?: Record<string, { pxe_enabled?: boolean }>
    parsed_lldp?: Record<string, Record<string, unknown>>
  }
  const { vendor: biosVendor, version, build_date: date } = vendor?.firmware ?? {}
  return {
    systemVendor: filled({
      manufacturer: vendor?.manufacturer,
      productName: vendor?.product_name,
      serialNumber: vendor?.serial_number,
    }),
    firmware: { bios: filled({ vendor: biosVendor, version, date }) },
    cpu: filled({
      arch: cpu?.architecture,
      model: cpu?.model_name,
      count: cpu?.count,
      clockMegahertz: Math.round(Number.parseFloat(cpu?.frequency ?? '')) || 0,
      flags: [...(cpu?.flags ?? [])].sort(),
    }),
    ...filled({
      ramMebibytes: memory?.physical_mb,
      hostname,
      nics: (inventory.interfaces ?? []).flatMap((nic) =>
        nicsOf(nic, plugins.all_interfaces?.[nic.name]?.pxe_enabled ?? false, plugins.parsed_lldp?.[nic.name]),
      ),
      storage: (inventory.disks ?? []).map(storageOf),
    }),
  }
}

/** One entry for each address family. */
function nicsOf(nic: Interface, pxe: boolean, lldp: Record<string, unknown> | undefined): HardwareNic[] {
  const { ipv4_address: ipv4, ipv6_address: ipv6 } = nic
  const neighbour = filled({
    switchID: lldp?.['switch_chassis_id'],
    portID: lldp?.['switch_port_id'],
    switchSystemName: lldp?.['switch_system_name'],
  })
  const entry = (ip: string | null | undefined): HardwareNic => ({
    name: nic.name,
    mac: nic.mac_address,
    ...filled({
      model: `${nic.vendor ?? ''} ${nic.product ?? ''}`.trimStart(),
      ip,
      speedGbps: Math.trunc((nic.speed_mbps ?? 0) / 1000),
      pxe,
      pciAddress: nic.pci_address,
      lldp: Object.keys(neighbour).length > 0 ? neighbour : undefined,
    }),
  })
  return [...(ipv4 || !ipv6 ? [entry(ipv4)] : []), ...(ipv6 ? [entry(ipv6)] : [])]
}

function storageOf(disk: Disk): JsonObject {
  const { name, by_path: path, rotational } = disk
  return filled({
    name: path || name,
    alternateNames: [name, path].filter(Boolean),
    rotational,
    type: rotational ? 'HDD' : name.startsWith('/dev/nvme') ? 'NVME' : 'SSD',
    sizeBytes: disk.size,
    vendor: disk.vendor,
    model: disk.model,
    serialNumber: disk.serial,
    wwn: disk.wwn,
    wwnVendorExtension: disk.wwn_vendor_extension,
    wwnWithExtension: disk.wwn_with_extension,
    hctl: disk.hctl,
  })
}

/** The inventory's parts that make the ports of a node, of hardware that was inspected by an Ironic before this one. */
export function inventoryOf(details: HardwareDetails | undefined): JsonObject | undefined {
  // Details of an annotation may have none.
  const nics: readonly HardwareNic[] | undefined = details?.nics
  if (!nics) return undefined
  return {
    inventory: { interfaces: nics.map(({ name, mac }) => ({ name, mac_address: mac })) },
    plugin_data: {
      all_interfaces: Object.fromEntries(nics.map(({ name, pxe = false }) => [name, { pxe_enabled: pxe }])),
    },
  }
}
