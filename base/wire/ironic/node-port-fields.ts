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

export interface VersionedField<Name extends string> {
  readonly name: Name
  /** Hidden, and refused in requests with 406, below this. */
  readonly since: Microversion
  readonly kind: FieldKind
}

type PlainFields<Record> = Exclude<keyof Record & string, 'id'>

const nodeField = <const Name extends string>(
  name: Name,
  since = 1,
  kind: FieldKind = 'plain',
): VersionedField<Name> => ({
  name,
  since,
  kind,
})

/** A node's own fields in the order in which Ironic answers them; links and other derived ones follow. */
export const NODE_FIELDS = [
  nodeField('uuid'),
  nodeField('created_at', 1, 'time'),
  nodeField('updated_at', 1, 'time'),
  nodeField('automated_clean', 47),
  nodeField('bios_interface', 40),
  nodeField('boot_interface', 31),
  nodeField('boot_mode', 75),
  nodeField('clean_step', 7, 'object'),
  nodeField('conductor_group', 46),
  nodeField('console_enabled'),
  nodeField('console_interface', 31),
  nodeField('disable_power_off', 95),
  nodeField('deploy_interface', 31),
  nodeField('deploy_step', 44, 'object'),
  nodeField('description', 51),
  nodeField('driver'),
  nodeField('driver_info', 1, 'object'),
  nodeField('driver_internal_info', 3, 'object'),
  nodeField('extra', 1, 'object'),
  nodeField('fault', 42),
  nodeField('firmware_interface', 86),
  nodeField('health', 109),
  nodeField('inspection_finished_at', 6, 'time'),
  nodeField('inspection_started_at', 6, 'time'),
  nodeField('inspect_interface', 31),
  nodeField('instance_info', 1, 'object'),
  nodeField('instance_name', 104),
  nodeField('instance_uuid'),
  nodeField('last_error'),
  nodeField('lessee', 65),
  nodeField('maintenance'),
  nodeField('maintenance_reason'),
  nodeField('management_interface', 31),
  nodeField('name', 5),
  nodeField('network_data', 66, 'object'),
  nodeField('network_interface', 20),
  nodeField('owner', 50),
  nodeField('parent_node', 83),
  nodeField('power_interface', 31),
  nodeField('power_state'),
  nodeField('properties', 1, 'object'),
  nodeField('protected', 48),
  nodeField('protected_reason', 48),
  nodeField('provision_state'),
  nodeField('provision_updated_at', 1, 'time'),
  nodeField('raid_config', 12, 'object'),
  nodeField('raid_interface', 31),
  nodeField('rescue_interface', 38),
  nodeField('reservation'),
  nodeField('resource_class', 21),
  nodeField('retired', 61),
  nodeField('retired_reason', 61),
  nodeField('secure_boot', 75),
  nodeField('service_step', 87, 'object'),
  nodeField('shard', 82),
  nodeField('storage_interface', 33),
  nodeField('target_power_state'),
  nodeField('target_provision_state'),
  nodeField('target_raid_config', 12, 'object'),
  nodeField('traits', 37),
  nodeField('vendor_interface', 31),
] as const satisfies readonly VersionedField<PlainFields<NodeRecord>>[]

/** Fields that the API adds to a node, after its `links`. */
export const NODE_DERIVED_FIELDS = [
  nodeField('conductor', 49),
  nodeField('allocation_uuid', 52),
  nodeField('chassis_uuid'),
  nodeField('ports'),
  nodeField('states', 14),
  nodeField('portgroups', 24),
  nodeField('volume', 32),
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
  nodeField('uuid'),
  nodeField('created_at', 1, 'time'),
  nodeField('updated_at', 1, 'time'),
  nodeField('address'),
  nodeField('extra', 1, 'object'),
  nodeField('internal_info', 18, 'object'),
  nodeField('is_smartnic', 53),
  nodeField('local_link_connection', 19, 'object'),
  nodeField('physical_network', 34),
  nodeField('pxe_enabled', 19),
  nodeField('node_uuid'),
  nodeField('name', 88),
  nodeField('description', 97),
  nodeField('vendor', 100),
  nodeField('category', 101),
  nodeField('available_for_dynamic_portgroup', 111),
] as const satisfies readonly VersionedField<PlainFields<PortRecord>>[]

/** After the port's `links`. */
export const PORT_DERIVED_FIELDS = [nodeField('portgroup_uuid', 24)] as const

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
