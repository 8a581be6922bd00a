import { defaultsOf, fieldsOf, patchableFields, schemasOf, type CreationField, type FieldRow } from './field-table.js'
import { booleanOrWord, nullable, nullableObject, nullableText, type SchemaOf } from './json-schema.js'
import { SINCE } from './microversion.js'
import type { JsonObject, PortRecord } from './node.js'

/** Fields of a port that the database keeps and the API never shows, with their defaults. */
const PORT_COLUMNS = { portgroup_id: null } as const satisfies Partial<PortRecord>

type PortRows = {
  readonly [Name in Exclude<keyof PortRecord, 'id' | 'node_id' | keyof typeof PORT_COLUMNS>]: FieldRow<PortRecord[Name]>
}

/** A port's own fields in the order in which Ironic answers them, as the table of a node. */
const PORT_ROWS = {
  uuid: { since: 1, default: undefined, schema: nullableText },
  created_at: { since: 1, kind: 'time', default: undefined },
  updated_at: { since: 1, kind: 'time', default: null },
  address: { since: 1, default: undefined, schema: { type: 'string' }, patchable: 'by name' },
  extra: { since: 1, kind: 'object', default: {}, schema: nullableObject, patchable: 'by name' },
  internal_info: { since: 18, kind: 'object', default: {} },
  is_smartnic: { since: 53, default: false, schema: booleanOrWord, patchable: 'by name' },
  local_link_connection: { since: 19, kind: 'object', default: {}, schema: nullableObject, patchable: 'by name' },
  physical_network: {
    since: 34,
    default: null,
    schema: nullable('string', { maxLength: 64 }),
    patchable: 'by name',
  },
  pxe_enabled: { since: 19, default: true, schema: booleanOrWord, patchable: 'by name' },
  node_uuid: { since: 1, default: undefined, schema: { type: 'string' }, patchable: 'by name' },
  name: { since: 88, default: null, schema: nullableText, patchable: 'appended', refusedInPatch: false },
  description: {
    since: 97,
    default: null,
    schema: nullable('string', { maxLength: 255 }),
    patchable: 'appended',
    refusedInPatch: false,
  },
  vendor: {
    since: 100,
    default: null,
    schema: nullable('string', { maxLength: 32 }),
    patchable: 'appended',
    refusedInPatch: false,
  },
  category: {
    since: 101,
    default: null,
    schema: nullable('string', { maxLength: 80 }),
    patchable: 'appended',
    refusedInPatch: false,
  },
  available_for_dynamic_portgroup: {
    since: 111,
    default: true,
    schema: { type: 'boolean' },
    patchable: 'appended',
    refusedInPatch: false,
  },
} satisfies PortRows

/** After the port's `links`. */
const DERIVED_ROWS = {
  portgroup_uuid: { since: 24, default: undefined, schema: nullableText, patchable: 'by name' },
} as const satisfies Readonly<Record<string, FieldRow>>

/** In requests alone: a node by name or uuid. */
const ARGUMENT_ROWS = {
  node_ident: {
    since: SINCE.portNodeIdent,
    default: undefined,
    schema: { type: 'string' },
    patchable: 'by name',
    refusedInPatch: false,
  },
} as const satisfies Readonly<Record<string, FieldRow>>

const REQUEST_ROWS = { ...PORT_ROWS, ...DERIVED_ROWS, ...ARGUMENT_ROWS }

export const PORT_FIELDS = fieldsOf(PORT_ROWS)
export const PORT_DERIVED_FIELDS = fieldsOf(DERIVED_ROWS)
/** The names that a request may have. */
export const PORT_REQUEST_FIELDS = fieldsOf(REQUEST_ROWS)

/** Fields that a list shows by default. */
export const PORT_LIST_FIELDS = ['uuid', 'address'] as const satisfies readonly (keyof PortRecord)[]

export const PATCHABLE_PORT_FIELDS = patchableFields(REQUEST_ROWS)

/** A new port without what its creation sets. All ports would share its objects: copy it. */
export const PORT_DEFAULTS = { ...PORT_COLUMNS, ...defaultsOf(PORT_ROWS) } as Readonly<
  Omit<PortRecord, 'id' | 'node_id' | CreationField<typeof PORT_ROWS>>
>

/** Names of all that the database keeps of a port. */
export const PORT_RECORD_FIELDS = [
  'id',
  'node_id',
  ...Object.keys({ ...PORT_COLUMNS, ...PORT_ROWS }),
] as readonly (keyof PortRecord)[]

export const portSchema: SchemaOf<JsonObject> = {
  type: 'object',
  properties: schemasOf(REQUEST_ROWS, 'patch'),
  required: ['address'],
  oneOf: [{ required: ['node_ident'] }, { required: ['node_uuid'] }],
  additionalProperties: false,
}
