import { defaultsOf, fieldsOf, patchableFields, schemasOf, type CreationField, type FieldRow } from './field-table.js'
import { booleanOrWord, nullable, nullableObject, nullableText, type JsonSchema, type SchemaOf } from './json-schema.js'
import type { Microversion } from './microversion.js'
import { networkDataSchema } from './network-data.js'
import type { JsonObject, NodeRecord } from './node.js'

const networkData: JsonSchema = {
  anyOf: [{ type: 'null' }, { type: 'object', additionalProperties: false }, networkDataSchema],
}

/** The driver chooses an interface that the request does not name. */
const driverInterface = (since: Microversion) =>
  ({ since, default: undefined, schema: nullableText, patchable: 'by name' }) as const

/** Fields of a node that the database keeps and the API never shows, with their defaults. */
const NODE_COLUMNS = {
  allocation_id: null,
  chassis_id: null,
  conductor_affinity: null,
} as const satisfies Partial<NodeRecord>

type NodeRows = {
  readonly [Name in Exclude<keyof NodeRecord, 'id' | keyof typeof NODE_COLUMNS>]: FieldRow<NodeRecord[Name]>
}

/**
 * A node's own fields in the order in which Ironic answers them; links and other derived ones follow. Schemas, defaults
 * and all lists of a node's fields come from here. Defaults are those of ironic db/sqlalchemy/models.py Node.
 */
const NODE_ROWS = {
  uuid: { since: 1, default: undefined, schema: nullableText },
  created_at: { since: 1, kind: 'time', default: undefined },
  updated_at: { since: 1, kind: 'time', default: null },
  automated_clean: { since: 47, default: null, schema: booleanOrWord, patchable: 'by name' },
  bios_interface: driverInterface(40),
  boot_interface: driverInterface(31),
  boot_mode: { since: 75, default: null, schema: nullableText },
  clean_step: { since: 7, kind: 'object', default: {} },
  conductor_group: { since: 46, default: '', schema: nullableText, patchable: 'by name' },
  console_enabled: { since: 1, default: false, schema: booleanOrWord },
  console_interface: driverInterface(31),
  disable_power_off: { since: 95, default: false, keepsNull: true, schema: booleanOrWord, patchable: 'by name' },
  deploy_interface: driverInterface(31),
  deploy_step: { since: 44, kind: 'object', default: {} },
  description: { since: 51, default: null, schema: nullable('string', { maxLength: 4096 }), patchable: 'by name' },
  driver: { since: 1, default: undefined, schema: { type: 'string' }, patchable: 'by name' },
  driver_info: {
    since: 1,
    kind: 'object',
    secrets: 'by name',
    default: {},
    schema: nullableObject,
    patchable: 'by name',
  },
  driver_internal_info: { since: 3, kind: 'object', secrets: 'by name', default: {} },
  extra: { since: 1, kind: 'object', default: {}, schema: nullableObject, patchable: 'by name' },
  fault: { since: 42, default: null },
  firmware_interface: { ...driverInterface(86), patchable: 'appended' },
  health: { since: 109, default: null },
  inspection_finished_at: { since: 6, kind: 'time', default: null },
  inspection_started_at: { since: 6, kind: 'time', default: null },
  inspect_interface: driverInterface(31),
  instance_info: {
    since: 1,
    kind: 'object',
    secrets: 'of an instance',
    default: {},
    schema: nullableObject,
    patchable: 'by name',
  },
  instance_name: {
    since: 104,
    default: null,
    schema: nullable('string', { minLength: 1, maxLength: 255 }),
    patchable: 'by name',
  },
  instance_uuid: { since: 1, default: null, schema: nullableText, patchable: 'by name' },
  last_error: { since: 1, default: null },
  lessee: { since: 65, default: null, schema: nullableText, patchable: 'by name' },
  maintenance: { since: 1, default: false, schema: booleanOrWord, patchable: 'by name' },
  maintenance_reason: { since: 1, default: null },
  management_interface: driverInterface(31),
  name: { since: 5, default: null, schema: nullableText, patchable: 'by name' },
  network_data: { since: 66, kind: 'object', default: {}, schema: networkData, patchable: 'by name' },
  network_interface: driverInterface(20),
  owner: { since: 50, default: null, schema: nullableText, patchable: 'by name' },
  parent_node: { since: 83, default: null, schema: nullable('string', { maxLength: 36 }), patchable: 'appended' },
  power_interface: driverInterface(31),
  power_state: { since: 1, default: null },
  properties: { since: 1, kind: 'object', default: {}, schema: nullableObject, patchable: 'by name' },
  protected: { since: 48, default: false, schema: booleanOrWord, creatable: false, patchable: 'by name' },
  protected_reason: { since: 48, default: null, schema: nullableText, creatable: false, patchable: 'by name' },
  provision_state: { since: 1, default: 'enroll' },
  provision_updated_at: { since: 1, kind: 'time', default: null },
  raid_config: { since: 12, kind: 'object', default: {} },
  raid_interface: driverInterface(31),
  rescue_interface: driverInterface(38),
  reservation: { since: 1, default: null },
  resource_class: { since: 21, default: null, schema: nullable('string', { maxLength: 80 }), patchable: 'by name' },
  retired: { since: 61, default: false, keepsNull: true, schema: booleanOrWord, patchable: 'by name' },
  retired_reason: { since: 61, default: null, schema: nullableText, patchable: 'by name' },
  secure_boot: { since: 75, default: null, schema: booleanOrWord },
  service_step: { since: 87, kind: 'object', default: {} },
  shard: { since: 82, default: null, schema: nullableText, patchable: 'by name' },
  storage_interface: driverInterface(33),
  target_power_state: { since: 1, default: null },
  target_provision_state: { since: 1, default: null },
  target_raid_config: { since: 12, kind: 'object', default: {} },
  traits: { since: 37, sortable: false, default: [] },
  vendor_interface: driverInterface(31),
} satisfies NodeRows

/** Fields that the API adds to a node, after its `links`. */
const DERIVED_ROWS = {
  conductor: { since: 49, default: undefined },
  allocation_uuid: { since: 52, default: undefined },
  chassis_uuid: { since: 1, default: undefined, schema: nullableText, patchable: 'by name' },
  ports: { since: 1, default: undefined },
  states: { since: 14, default: undefined },
  portgroups: { since: 24, default: undefined },
  volume: { since: 32, default: undefined },
} as const satisfies Readonly<Record<string, FieldRow>>

const REQUEST_ROWS = { ...NODE_ROWS, chassis_uuid: DERIVED_ROWS.chassis_uuid }

export const NODE_FIELDS = fieldsOf(NODE_ROWS)
export const NODE_DERIVED_FIELDS = fieldsOf(DERIVED_ROWS)

/** Fields that a list shows by default, in this order. */
export const NODE_LIST_FIELDS = [
  'instance_uuid',
  'maintenance',
  'power_state',
  'provision_state',
  'uuid',
  'name',
] as const satisfies readonly (keyof NodeRecord)[]

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
] as const satisfies readonly (keyof typeof NODE_ROWS)[]

export const PATCHABLE_NODE_FIELDS = patchableFields(REQUEST_ROWS)

/** A new node without what its creation sets. All nodes would share its objects: copy it. */
export const NODE_DEFAULTS = { ...NODE_COLUMNS, ...defaultsOf(NODE_ROWS) } as Readonly<
  Omit<NodeRecord, 'id' | CreationField<typeof NODE_ROWS>>
>

/** Names of all that the database keeps of a node. */
export const NODE_RECORD_FIELDS = [
  'id',
  ...Object.keys({ ...NODE_COLUMNS, ...NODE_ROWS }),
] as readonly (keyof NodeRecord)[]

/** Schema of a new node. */
export const nodeSchema: SchemaOf<JsonObject> = {
  type: 'object',
  properties: schemasOf(REQUEST_ROWS, 'create'),
  required: ['driver'],
  additionalProperties: false,
}

/** Schema of a node with a patch applied. */
export const patchedNodeSchema: JsonSchema = { ...nodeSchema, properties: schemasOf(REQUEST_ROWS, 'patch') }
