/** An object of a JSON document. */
export type JsonObject = Record<string, unknown>

/** The states of Ironic's machine, spelled as on the wire (ironic 39.0.0 common/states.py). */
export const PROVISION_STATES = [
  'enroll',
  'verifying',
  'manageable',
  'inspecting',
  'inspect wait',
  'inspect failed',
  'cleaning',
  'clean wait',
  'clean hold',
  'clean failed',
  'available',
  'deploying',
  'wait call-back',
  'deploy hold',
  'deploy failed',
  'active',
  'deleting',
  'error',
  'adopting',
  'adopt failed',
  'rescuing',
  'rescue wait',
  'rescue',
  'rescue failed',
  'unrescuing',
  'unrescue failed',
  'servicing',
  'service wait',
  'service hold',
  'service failed',
] as const
/** A provision state of Ironic. */
export type ProvisionState = (typeof PROVISION_STATES)[number]

/** A power state of Ironic. */
export type PowerState = 'power on' | 'power off' | 'rebooting' | 'soft power off' | 'soft rebooting' | 'error'

/** Why a node is in maintenance by itself: its field `fault`. */
export type NodeFault = NonNullable<NodeRecord['fault']>

/** The names of the driver interfaces of a node, in the order in which `validate` and errors list them. */
export const DRIVER_INTERFACES = [
  'bios',
  'boot',
  'console',
  'deploy',
  'firmware',
  'inspect',
  'management',
  'network',
  'power',
  'raid',
  'rescue',
  'storage',
  'vendor',
] as const
/** A hardware interface of a node: `boot`, `deploy` ... */
export type DriverInterface = (typeof DRIVER_INTERFACES)[number]

type InterfaceFields = { [I in DriverInterface as `${I}_interface`]: string }

/**
 * A node as Ironic's database keeps it. Times are ISO 8601 in UTC with microseconds and without an offset
 * (`2026-11-21T09:32:58.301371`); the API adds `+00:00`. Secrets are in clear here and masked where they are shown.
 */
export interface NodeRecord extends InterfaceFields {
  id: number
  uuid: string
  name: string | null
  created_at: string
  updated_at: string | null
  allocation_id: number | null
  automated_clean: boolean | null
  boot_mode: string | null
  chassis_id: number | null
  clean_step: JsonObject
  conductor_affinity: number | null
  conductor_group: string
  console_enabled: boolean
  deploy_step: JsonObject
  description: string | null
  /** Null means no. */
  disable_power_off: boolean | null
  driver: string
  driver_info: JsonObject
  driver_internal_info: JsonObject
  extra: JsonObject
  fault: 'power failure' | 'clean failure' | 'rescue abort failure' | 'service failure' | null
  health: string | null
  inspection_finished_at: string | null
  inspection_started_at: string | null
  instance_info: JsonObject
  instance_name: string | null
  instance_uuid: string | null
  last_error: string | null
  lessee: string | null
  maintenance: boolean
  maintenance_reason: string | null
  network_data: JsonObject
  owner: string | null
  parent_node: string | null
  power_state: PowerState | null
  properties: JsonObject
  protected: boolean
  protected_reason: string | null
  provision_state: ProvisionState
  provision_updated_at: string | null
  raid_config: JsonObject
  /** The conductor that holds the node's lock. */
  reservation: string | null
  resource_class: string | null
  retired: boolean | null
  retired_reason: string | null
  secure_boot: boolean | null
  service_step: JsonObject
  shard: string | null
  target_power_state: PowerState | null
  target_provision_state: ProvisionState | null
  target_raid_config: JsonObject
  traits: string[]
}

/** A port as Ironic's database keeps it. */
export interface PortRecord {
  id: number
  uuid: string
  node_id: number
  node_uuid: string
  created_at: string
  updated_at: string | null
  /** Lower case. */
  address: string
  extra: JsonObject
  local_link_connection: JsonObject
  portgroup_id: number | null
  pxe_enabled: boolean
  internal_info: JsonObject
  physical_network: string | null
  is_smartnic: boolean
  name: string | null
  description: string | null
  vendor: string | null
  category: string | null
  available_for_dynamic_portgroup: boolean
}
