import { STEP_INTERFACES } from '../step-kinds.js'
import type { JsonObject } from './node.js'
import type { JsonSchema, SchemaOf } from './ironic-schemas.js'
import { traitSchema } from './traits.js'

const nullable = (type: string, more: JsonSchema = {}): JsonSchema => ({ type: [type, 'null'], ...more })
const recordTextSchema = nullable('string')
const recordObjectSchema = nullable('object')
const uuidSchema = { type: 'string', format: 'uuid' } as const

const document = <Document = JsonObject>(
  properties: JsonSchema,
  required: readonly string[] = [],
): SchemaOf<Document> => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

export const portgroupSchema = document(
  {
    address: recordTextSchema,
    category: nullable('string', { maxLength: 80 }),
    extra: recordObjectSchema,
    mode: recordTextSchema,
    name: recordTextSchema,
    node_uuid: { type: 'string' },
    physical_network: nullable('string', { maxLength: 64 }),
    properties: recordObjectSchema,
    standalone_ports_supported: { type: ['string', 'boolean', 'null'] },
    uuid: recordTextSchema,
  },
  ['node_uuid'],
)

export const chassisSchema = document({
  uuid: recordTextSchema,
  extra: recordObjectSchema,
  description: nullable('string', { maxLength: 255 }),
})

const allocationProperties = {
  candidate_nodes: nullable('array', {
    items: { anyOf: [uuidSchema, { type: 'string', minLength: 1, maxLength: 255, pattern: '^[A-Za-z0-9-._~]+$' }] },
  }),
  extra: recordObjectSchema,
  name: recordTextSchema,
  owner: recordTextSchema,
  resource_class: nullable('string', { maxLength: 80 }),
  traits: nullable('array', { items: traitSchema }),
  uuid: recordTextSchema,
}
/** Before 1.58 without `node`, which backfills. */
export const allocationWithoutNodeSchema = document(allocationProperties)
export const allocationSchema = document({ ...allocationProperties, node: recordTextSchema })

export const volumeConnectorSchema = document(
  {
    connector_id: { type: 'string' },
    extra: recordObjectSchema,
    node_uuid: { type: 'string' },
    type: { type: 'string' },
    uuid: recordTextSchema,
  },
  ['connector_id', 'node_uuid', 'type'],
)

export const volumeTargetSchema = document(
  {
    boot_index: { type: 'integer' },
    extra: recordObjectSchema,
    node_uuid: { type: 'string' },
    properties: recordObjectSchema,
    volume_id: { type: 'string' },
    volume_type: { type: 'string' },
    uuid: recordTextSchema,
  },
  ['boot_index', 'node_uuid', 'volume_id', 'volume_type'],
)

const recordCountSchema: JsonSchema = {
  anyOf: [
    { type: 'integer', minimum: 0 },
    { type: 'string', minLength: 1, pattern: '^[0-9]+$' },
  ],
}
const stepProperties = {
  args: { type: 'object' },
  interface: { type: 'string', enum: STEP_INTERFACES },
  step: { type: 'string', minLength: 1 },
}

export const templateStepSchema = document({ ...stepProperties, priority: recordCountSchema }, [
  'interface',
  'step',
  'args',
  'priority',
])
export const deployTemplateSchema = document(
  {
    description: nullable('string', { maxLength: 255 }),
    extra: recordObjectSchema,
    name: traitSchema,
    steps: { type: 'array', items: templateStepSchema, minItems: 1 },
    uuid: recordTextSchema,
  },
  ['steps', 'name'],
)

export const runbookStepSchema = document({ ...stepProperties, order: recordCountSchema }, [
  'interface',
  'step',
  'order',
])
const runbookProperties = {
  uuid: recordTextSchema,
  name: traitSchema,
  steps: { type: 'array', items: runbookStepSchema, minItems: 1 },
  disable_ramdisk: nullable('boolean'),
  extra: recordObjectSchema,
  public: nullable('boolean'),
  owner: nullable('string', { maxLength: 255 }),
}
/** Before 1.112 a runbook's name is a trait. */
export const traitRunbookSchema = document(runbookProperties, ['steps', 'name'])
export const runbookSchema = document(
  {
    ...runbookProperties,
    name: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[A-Za-z0-9\\-._~]+$' },
    description: nullable('string', { maxLength: 255 }),
  },
  ['steps', 'name'],
)
/** The body of `PUT /v1/runbooks/X/traits`. */
export const traitListSchema = document<{ traits?: string[] }>({ traits: { type: 'array', items: traitSchema } })

export interface RuleOperator {
  readonly required: readonly string[]
  readonly optional?: readonly string[]
}

/** Arguments of the actions of inspection rules; as a list they come in this order. */
export const RULE_ACTIONS: Readonly<Record<string, RuleOperator>> = {
  fail: { required: ['msg'] },
  log: { required: ['msg'], optional: ['level'] },
  'set-attribute': { required: ['path', 'value'] },
  'extend-attribute': { required: ['path', 'value'], optional: ['unique'] },
  'del-attribute': { required: ['path'] },
  'set-capability': { required: ['name', 'value'] },
  'unset-capability': { required: ['name'] },
  'add-trait': { required: ['name'] },
  'remove-trait': { required: ['name'] },
  'set-plugin-data': { required: ['path', 'value'] },
  'extend-plugin-data': { required: ['path', 'value'], optional: ['unique'] },
  'unset-plugin-data': { required: ['path'] },
  'set-port-attribute': { required: ['port_id', 'path', 'value'] },
  'extend-port-attribute': { required: ['port_id', 'path', 'value'], optional: ['unique'] },
  'del-port-attribute': { required: ['port_id', 'path'] },
  'api-call': { required: ['url'], optional: ['headers', 'proxies', 'timeout', 'retries', 'backoff_factor'] },
}

/** Operators of conditions; each also with `!` before it. */
export const RULE_CONDITIONS: Readonly<Record<string, RuleOperator>> = {
  eq: { required: ['values'], optional: ['force_strings'] },
  lt: { required: ['values'], optional: ['force_strings'] },
  gt: { required: ['values'], optional: ['force_strings'] },
  'is-empty': { required: ['value'] },
  'in-net': { required: ['address', 'subnet'] },
  matches: { required: ['value', 'regex'] },
  contains: { required: ['value', 'regex'] },
  'one-of': { required: ['value'], optional: ['values'] },
  'is-none': { required: ['value'] },
  'is-true': { required: ['value'] },
  'is-false': { required: ['value'] },
}

const conditions = Object.keys(RULE_CONDITIONS)
const container = { type: ['array', 'object'] }
export const inspectionRuleSchema = document(
  {
    actions: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['op', 'args'],
        properties: { op: { enum: Object.keys(RULE_ACTIONS) }, args: container, loop: container },
      },
    },
    conditions: {
      type: 'array',
      items: {
        type: 'object',
        required: ['op', 'args'],
        properties: {
          op: { enum: [...conditions, ...conditions.map((op) => `!${op}`)] },
          args: container,
          multiple: { enum: ['any', 'all', 'first', 'last'] },
          loop: container,
        },
      },
    },
    description: nullable('string', { maxLength: 255 }),
    phase: nullable('string', { maxLength: 16 }),
    priority: { type: 'integer', minimum: 0 },
    sensitive: nullable('boolean'),
    uuid: recordTextSchema,
  },
  ['actions'],
)

/** Events of ports that Neutron reports. */
export const eventsSchema = document(
  {
    events: {
      type: 'array',
      minItems: 1,
      items: document(
        {
          event: { type: 'string', enum: ['network.bind_port', 'network.unbind_port', 'network.delete_port'] },
          port_id: uuidSchema,
          mac_address: { type: 'string', format: 'mac-address' },
          status: { type: 'string' },
          device_id: nullable('string', { format: 'uuid' }),
          'binding:host_id': nullable('string', { format: 'uuid' }),
          'binding:vnic_type': recordTextSchema,
        },
        ['event', 'port_id', 'mac_address', 'status'],
      ),
    },
  },
  ['events'],
)

/** Arguments of a query that upstream holds against a schema after it has read them: `Schema error: ...`. */
export const querySchema = {
  sorted: { sort_dir: { enum: ['asc', 'desc'] } },
  marker: { marker: uuidSchema },
  fields: (names: readonly string[]): JsonSchema => ({ fields: { type: 'array', items: { enum: names } } }),
} as const
export const queryObjectSchema = (...properties: readonly JsonSchema[]): JsonSchema => ({
  type: 'object',
  properties: Object.assign({}, ...properties) as JsonSchema,
})
