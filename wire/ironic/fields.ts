import type { Microversion } from './microversion.js'
import type { NodeRecord, PortRecord } from './node.js'

/** Conversion of a record's value to the answer's. */
export type FieldKind =
  /** as it is */
  | 'plain'
  /** an object; the database's null is shown as `{}` */
  | 'object'
  /** gets its offset, `+00:00`, in the answer */
  | 'time'

export interface Field<Name extends string> {
  readonly name: Name
  /** Hidden, and refused in requests with 406, below this. */
  readonly since: Microversion
  readonly kind: FieldKind
}

type PlainFields<Record> = Exclude<keyof Record & string, 'id'>

const field = <const Name extends string>(name: Name, since = 1, kind: FieldKind = 'plain'): Field<Name> => ({
  name,
  since,
  kind,
})

/** A node's own fields in the order in which Ironic answers them; links and other derived ones follow. */
export const NODE_FIELDS = [
  field('uuid'),
  field('created_at', 1, 'time'),
  field('updated_at', 1, 'time'),
  field('automated_clean', 47),
  field('bios_interface', 40),
  field('boot_interface', 31),
  field('boot_mode', 75),
  field('clean_step', 7, 'object'),
  field('conductor_group', 46),
  field('console_enabled'),
  field('console_interface', 31),
  field('disable_power_off', 95),
  field('deploy_interface', 31),
  field('deploy_step', 44, 'object'),
  field('description', 51),
  field('driver'),
  field('driver_info', 1, 'object'),
  field('driver_internal_info', 3, 'object'),
  field('extra', 1, 'object'),
  field('fault', 42),
  field('firmware_interface', 86),
  field('health', 109),
  field('inspection_finished_at', 6, 'time'),
  field('inspection_started_at', 6, 'time'),
  field('inspect_interface', 31),
  field('instance_info', 1, 'object'),
  field('instance_name', 104),
  field('instance_uuid'),
  field('last_error'),
  field('lessee', 65),
  field('maintenance'),
  field('maintenance_reason'),
  field('management_interface', 31),
  field('name', 5),
  field('network_data', 66, 'object'),
  field('network_interface', 20),
  field('owner', 50),
  field('parent_node', 83),
  field('power_interface', 31),
  field('power_state'),
  field('properties', 1, 'object'),
  field('protected', 48),
  field('protected_reason', 48),
  field('provision_state'),
  field('provision_updated_at', 1, 'time'),
  field('raid_config', 12, 'object'),
  field('raid_interface', 31),
  field('rescue_interface', 38),
  field('reservation'),
  field('resource_class', 21),
  field('retired', 61),
  field('retired_reason', 61),
  field('secure_boot', 75),
  field('service_step', 87, 'object'),
  field('shard', 82),
  field('storage_interface', 33),
  field('target_power_state'),
  field('target_provision_state'),
  field('target_raid_config', 12, 'object'),
  field('traits', 37),
  field('vendor_interface', 31),
] as const satisfies readonly Field<PlainFields<NodeRecord>>[]

/** Fields that the API adds to a node, after its `links`. */
export const NODE_DERIVED_FIELDS = [
  field('conductor', 49),
  field('allocation_uuid', 52),
  field('chassis_uuid'),
  field('ports'),
  field('states', 14),
  field('portgroups', 24),
  field('volume', 32),
] as const

export const NODE_LIST_FIELDS = [
  'instance_uuid',
  'maintenance',
  'power_state',
  'provision_state',
  'uuid',
  'name',
] as const

export const PORT_FIELDS = [
  field('uuid'),
  field('created_at', 1, 'time'),
  field('updated_at', 1, 'time'),
  field('address'),
  field('extra', 1, 'object'),
  field('internal_info', 18, 'object'),
  field('is_smartnic', 53),
  field('local_link_connection', 19, 'object'),
  field('physical_network', 34),
  field('pxe_enabled', 19),
  field('node_uuid'),
  field('name', 88),
  field('description', 97),
  field('vendor', 100),
  field('category', 101),
  field('available_for_dynamic_portgroup', 111),
] as const satisfies readonly Field<PlainFields<PortRecord>>[]

/** After the port's `links`. */
export const PORT_DERIVED_FIELDS = [field('portgroup_uuid', 24)] as const

export const PORT_LIST_FIELDS = ['uuid', 'address'] as const

/** `GET /v1/nodes/X/states`, in order. */
export const STATES_FIELDS = [
  'console_enabled',
  'last_error',
  'power_state',
  'provision_state',
  'target_power_state',
  'target_provision_state',
  'provision_updated_at',
  'raid_config',
  'target_raid_config',
  'boot_mode',
  'secure_boot',
] as const satisfies readonly (keyof NodeRecord)[]

/** Fields that PATCH may change, in the order in which the refusal lists them. */
export const PATCHABLE_NODE_FIELDS = [
  'automated_clean',
  'bios_interface',
  'boot_interface',
  'chassis_uuid',
  'conductor_group',
  'console_interface',
  'deploy_interface',
  'description',
  'disable_power_off',
  'driver',
  'driver_info',
  'extra',
  'inspect_interface',
  'instance_info',
  'instance_name',
  'instance_uuid',
  'lessee',
  'maintenance',
  'management_interface',
  'name',
  'network_data',
  'network_interface',
  'owner',
  'power_interface',
  'properties',
  'protected',
  'protected_reason',
  'raid_interface',
  'rescue_interface',
  'resource_class',
  'retired',
  'retired_reason',
  'shard',
  'storage_interface',
  'vendor_interface',
  'parent_node',
  'firmware_interface',
] as const satisfies readonly (keyof NodeRecord | 'chassis_uuid')[]

export const PATCHABLE_PORT_FIELDS = [
  'address',
  'extra',
  'is_smartnic',
  'local_link_connection',
  'node_ident',
  'node_uuid',
  'physical_network',
  'portgroup_uuid',
  'pxe_enabled',
  'name',
  'description',
  'vendor',
  'category',
  'available_for_dynamic_portgroup',
] as const satisfies readonly (keyof PortRecord | 'node_ident' | 'portgroup_uuid')[]
