/** A BIOS setting as Ironic's database keeps it: the value last read from a machine, or last set on the fake interface. */
export interface BiosSettingRecord {
  name: string
  /** Text, also for settings of another type. */
  value: string | null
  attribute_type: string | null
  allowable_values: string[]
  lower_bound: number | null
  max_length: number | null
  min_length: number | null
  read_only: boolean | null
  reset_required: boolean | null
  unique: boolean | null
  upper_bound: number | null
  created_at: string
  updated_at: string | null
}

/** A firmware component: `bios`, `bmc` or `nic:ID`. */
export interface FirmwareComponentRecord {
  component: string
  /** When it was first seen. */
  initial_version: string | null
  current_version: string | null
  last_version_flashed: string | null
  vendor: string | null
  model: string | null
  serial_number: string | null
  created_at: string
  updated_at: string | null
}

/** Lists that are stored beside a node, each as a whole, and deleted with it. */
export interface NodeLists {
  bios: BiosSettingRecord[]
  firmware: FirmwareComponentRecord[]
}
export type NodeListKind = keyof NodeLists
