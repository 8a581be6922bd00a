import { nullableText, type JsonSchema, type SchemaOf } from './json-schema.js'
import type { JsonObject } from './node.js'
import { traitSchema } from './traits.js'
import { STEP_INTERFACES } from '../step-kinds.js'

/** An operation of a PATCH, as in RFC 6902. */
export interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove'
  readonly path: string
  readonly value?: unknown
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

export const patchSchema: SchemaOf<PatchOperation[]> = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      op: { enum: ['add', 'replace', 'remove'] },
      // Neither dots nor `~1` pass, although 1.98 promises them (ironic 39.0.0 api/schemas/v1/portgroup.py).
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
        bmc_address: nullableText,
        bmc_v6address: nullableText,
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
