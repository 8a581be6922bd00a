/**
 * Inventory of an inspection, as Ironic stores it (recording agent-inspect). Strings are empty
 * and other fields null where nothing is known.
 */
export interface Inventory {
  interfaces: InventoryInterface[]
  cpu: InventoryCpu
  disks: InventoryDisk[]
  memory: { total: number | null; physical_mb: number | null }
  /** null without a BMC, `0.0.0.0` with one that has no address. */
  bmc_address: string | null
  bmc_v6address: string | null
  system_vendor: {
    product_name: string
    serial_number: string
    manufacturer: string
    firmware: { vendor: string; version: string; build_date: string }
  }
  boot: {
    current_boot_mode: 'uefi' | 'bios'
    /** The kernel's BOOTIF value as it is: `01-52-54-00-aa-bb-01`. */
    pxe_interface: string | null
  }
  hostname: string
  /** Absent when there is none. */
  bmc_mac?: string
}

/** A network interface of a machine. */
export interface InventoryInterface {
  name: string
  mac_address: string
  ipv4_address: string | null
  ipv6_address: string | null
  has_carrier: boolean
  lldp: [number, string][] | null
  vendor: string | null
  product: string | null
  client_id: string | null
  biosdevname: string | null
  speed_mbps: number | null
  pci_address: string | null
  driver: string | null
}

/** The processors of a machine. */
export interface InventoryCpu {
  model_name: string
  /** MHz as text: `2500.0`. */
  frequency: string
  count: number
  architecture: string
  flags: string[]
  socket_count: number
}

/** A disk of a machine. */
export interface InventoryDisk {
  /** `/dev/sda` */
  name: string
  model: string | null
  /** Bytes. */
  size: number
  rotational: boolean
  wwn: string | null
  serial: string | null
  vendor: string | null
  wwn_with_extension: string | null
  wwn_vendor_extension: string | null
  hctl: string | null
  by_path: string | null
  logical_sectors: number | null
  physical_sectors: number | null
  tran: string | null
}

/** Body of `POST /v1/continue_inspection`; more collectors add more keys. */
export interface InspectionBody {
  inventory?: Inventory
  /** Absent when no disk fits. */
  root_disk?: InventoryDisk
  /** MAC of the NIC that was booted from; deprecated upstream, still sent. */
  boot_interface?: string | null
  configuration?: { collectors: string[]; managers: { name: string; version: string }[] }
  /** A tar.gz in base64. */
  logs?: string
  error: string | null
  [collected: string]: unknown
}
