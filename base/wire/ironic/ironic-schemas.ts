import { networkDataSchema } from './network-data.js'
import { DRIVER_INTERFACES, type JsonObject } from './node.js'
import { traitSchema } from './traits.js'
import { STEP_INTERFACES } from '../step-kinds.js'

/** A JSON schema (draft 7) as plain data; ajv compiles it where it is used, OpenAPI can be printed from it. */
export type JsonSchema = { readonly [keyword: string]: unknown }

declare const accepted: unique symbol
/** A schema that carries the type of the documents that it accepts; only the compiler sees it. */
export type SchemaOf<Document> = JsonSchema & { readonly [accepted]?: Document }

/** An operation of a PATCH, as in RFC 6902. */
export interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove'
  readonly path: string
  readonly value?: unknown
}

const nullable = (type: string, more: JsonSchema = {}): JsonSchema => ({ type: [type, 'null'], ...more })
const nodeTextSchema = nullable('string')
const nodeObjectSchema = nullable('object')
/** Ironic takes `"yes"` for true; what it does not know it refuses by name (Ironic's source). */
const boolean: JsonSchema = { type: ['string', 'boolean', 'null'] }

const interfaces = Object.fromEntries(DRIVER_INTERFACES.map((name) => [`${name}_interface`, nodeTextSchema]))

const networkData: JsonSchema = {
  anyOf: [{ type: 'null' }, { type: 'object', additionalProperties: false }, networkDataSchema],
}

/** Schema of a new node; a patched node is checked against it too. */
export const nodeSchema: SchemaOf<JsonObject> = {
  type: 'object',
  properties: {
    automated_clean: boolean,
    ...interfaces,
    boot_mode: nodeTextSchema,
    chassis_uuid: nodeTextSchema,
    conductor_group: nodeTextSchema,
    console_enabled: boolean,
    description: nullable('string', { maxLength: 4096 }),
    disable_power_off: boolean,
    driver: { type: 'string' },
    driver_info: nodeObjectSchema,
    extra: nodeObjectSchema,
    instance_info: nodeObjectSchema,
    instance_name: nullable('string', { minLength: 1, maxLength: 255 }),
    instance_uuid: nodeTextSchema,
    lessee: nodeTextSchema,
    maintenance: boolean,
    name: nodeTextSchema,
    network_data: networkData,
    owner: nodeTextSchema,
    parent_node: nullable('string', { maxLength: 36 }),
    properties: nodeObjectSchema,
    resource_class: nullable('string', { maxLength: 80 }),
    retired: boolean,
    retired_reason: nodeTextSchema,
    secure_boot: boolean,
    shard: nodeTextSchema,
    uuid: nodeTextSchema,
  },
  required: ['driver'],
  additionalProperties: false,
}

/** `protected` cannot be set at creation, only by a patch. */
export const patchedNodeSchema: JsonSchema = {
  ...nodeSchema,
  properties: { ...(nodeSchema.properties as JsonSchema), protected: boolean, protected_reason: nodeTextSchema },
}

const localLink = (required: string[], networkTypes: string[]): JsonSchema => ({
  type: 'object',
  properties: {
    port_id: { type: 'string' },
    switch_id: { type: 'string' },
    hostname: { type: 'string' },
    switch_info: { type: 'string' },
    network_type: { type: 'string', enum: networkTypes },
    'vtep-logical-switch': { type: 'string' },
    'vtep-physical-switch': { type: 'string' },
  },
  additionalProperties: false,
  required,
})
const EITHER = ['managed', 'unmanaged']
/** Forms of a switch port, of a smart NIC, unmanaged, of OVN, or empty: the order decides which problem is reported. */
export const localLinkConnectionSchema: JsonSchema = {
  anyOf: [
    localLink(['port_id', 'switch_id'], EITHER),
    localLink(['port_id', 'hostname'], EITHER),
    localLink(['network_type'], ['unmanaged']),
    localLink(['port_id', 'vtep-logical-switch', 'vtep-physical-switch'], EITHER),
    { type: 'object', additionalProperties: false },
  ],
}

export const portSchema: SchemaOf<JsonObject> = {
  type: 'object',
  properties: {
    address: { type: 'string' },
    available_for_dynamic_portgroup: { type: 'boolean' },
    category: nullable('string', { maxLength: 80 }),
    description: nullable('string', { maxLength: 255 }),
    extra: nodeObjectSchema,
    is_smartnic: boolean,
    local_link_connection: nodeObjectSchema,
    name: nodeTextSchema,
    node_ident: { type: 'string' },
    node_uuid: { type: 'string' },
    physical_network: nullable('string', { maxLength: 64 }),
    portgroup_uuid: nodeTextSchema,
    pxe_enabled: boolean,
    uuid: nodeTextSchema,
    vendor: nullable('string', { maxLength: 32 }),
  },
  required: ['address'],
  oneOf: [{ required: ['node_ident'] }, { required: ['node_uuid'] }],
  additionalProperties: false,
}

export const patchSchema: SchemaOf<PatchOperation[]> = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      op: { enum: ['add', 'replace', 'remove'] },
      // Neither dots nor `~1` pass, although 1.98 promises them (Ironic's source).
      path: { type: 'string', pattern: '^(/[\\w-]+)+$' },
      value: {},
    },
    required: ['op', 'path'],
    additionalProperties: false,
  },
}

const stepInterface: JsonSchema = { enum: STEP_INTERFACES }
const stepNameSchema: JsonSchema = { type: 'string', minLength: 1 }

/** Steps of manual cleaning and of servicing. */
export const orderedStepsSchema: JsonSchema = {
  type: 'array',
  items: {
    type: 'object',
    required: ['interface', 'step'],
    properties: {
      interface: stepInterface,
      step: stepNameSchema,
      args: { type: 'object' },
      order: { type: 'integer', minimum: 0 },
      execute_on_child_nodes: { type: 'boolean' },
      limit_child_node_execution: { type: 'array', items: { type: 'string' } },
    },
    additionalProperties: false,
  },
}

/** A deploy step must have `args`, if empty, and a priority. */
export const deployStepsSchema: JsonSchema = {
  type: 'array',
  items: {
    type: 'object',
    required: ['interface', 'step', 'args', 'priority'],
    properties: {
      interface: stepInterface,
      step: stepNameSchema,
      args: { type: 'object' },
      priority: {
        anyOf: [
          { type: 'integer', minimum: 0 },
          { type: 'string', pattern: '^[0-9]+$' },
        ],
      },
    },
    additionalProperties: false,
  },
}

export const inspectionDataSchema: SchemaOf<JsonObject> = {
  type: 'object',
  properties: {
    inventory: {
      type: 'object',
      properties: {
        bmc_address: nodeTextSchema,
        bmc_v6address: nodeTextSchema,
        interfaces: {
          type: 'array',
          minItems: 1,
          items: {
            type: 'object',
            properties: { mac_address: { type: 'string' } },
            required: ['mac_address'],
          },
        },
      },
      required: ['interfaces'],
    },
  },
  required: ['inventory'],
}

export const traitsSchema: SchemaOf<{ traits?: string[] }> = {
  type: 'object',
  properties: { traits: { type: 'array', items: traitSchema } },
  additionalProperties: false,
}

/** Further members of a VIF are for the network interface. */
export const vifSchema: SchemaOf<JsonObject & { id: string }> = {
  type: 'object',
  properties: { id: { type: 'string' } },
  required: ['id'],
}

export const MEDIA_DEVICES = ['disk', 'cdrom', 'floppy'] as const
export type MediaDevice = (typeof MEDIA_DEVICES)[number]

export const virtualMediaSchema: SchemaOf<{ device_type: MediaDevice; image_url: string }> = {
  type: 'object',
  properties: {
    device_type: { type: 'string', enum: MEDIA_DEVICES },
    image_url: { type: 'string' },
    image_download_source: { type: 'string', enum: ['http', 'local', 'swift'] },
  },
  required: ['device_type', 'image_url'],
  additionalProperties: false,
}
