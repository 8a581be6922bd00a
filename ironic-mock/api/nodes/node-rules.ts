import {
  ironicErrors,
  NODE_FIELDS,
  SINCE,
  formatClientValue,
  type JsonObject,
  type Microversion,
  type NodeRecord,
} from '../../../base/wire/index.js'
import { isHostName, isLogicalName, isUuid, parseBoolean } from '../formats.js'

/** Path segments below /v1/nodes, in the order of upstream's refusal. */
const RESERVED_NAMES = ['maintenance', 'management', 'states', 'vendor_passthru', 'detail', 'validate']
const MAX_NODE_NAME_LENGTH = 255
const MAX_DESCRIPTION_LENGTH = 4096

/** @param updating ident of the node that gets the name; absent at creation */
export function checkNodeName(name: unknown, version: Microversion, updating?: string): void {
  if (typeof name !== 'string') return
  const valid =
    version >= SINCE.rfc3986Names ? isLogicalName(name) && name.length <= MAX_NODE_NAME_LENGTH : isHostName(name)
  if (!valid) throw ironicErrors.invalidNodeName(name, updating)
  if (RESERVED_NAMES.includes(name)) throw ironicErrors.reservedNodeName(name, RESERVED_NAMES)
}

/** Refuses fields newer than the client's microversion with 406, as for reading them. */
export function refuseNewerFields(names: readonly string[], version: Microversion): void {
  for (const name of names)
    if ((NODE_FIELDS.find((field) => field.name === name)?.since ?? 1) > version) throw ironicErrors.notAcceptable()
}

export function checkDescription(description: unknown, doing: 'create' | 'update'): void {
  if (typeof description === 'string' && description.length > MAX_DESCRIPTION_LENGTH)
    throw ironicErrors.descriptionTooLong(doing)
}

export function checkUuid(name: string, value: unknown): void {
  if (typeof value === 'string' && !isUuid(value)) throw ironicErrors.expected('UUID', name, value)
}

/** Values of fields that are absent or removed. */
const NODE_DEFAULTS = {
  automated_clean: null,
  disable_power_off: null,
  retired: null,
  boot_mode: null,
  conductor_group: '',
  console_enabled: false,
  description: null,
  driver_info: {},
  extra: {},
  instance_info: {},
  instance_name: null,
  instance_uuid: null,
  lessee: null,
  maintenance: false,
  name: null,
  network_data: {},
  owner: null,
  parent_node: null,
  properties: {},
  protected: false,
  protected_reason: null,
  resource_class: null,
  retired_reason: null,
  secure_boot: null,
  shard: null,
} as const satisfies Partial<NodeRecord>

const BOOLEANS = [
  'automated_clean',
  'console_enabled',
  'disable_power_off',
  'maintenance',
  'protected',
  'retired',
  'secure_boot',
]

/** Fields with booleans read from words, and defaults for null and removed ones. */
export function normalizeNode(fields: JsonObject): JsonObject {
  const out: JsonObject = { ...fields }
  for (const [name, value] of Object.entries(fields)) {
    if (value === null && Object.hasOwn(NODE_DEFAULTS, name))
      out[name] = structuredClone(NODE_DEFAULTS[name as keyof typeof NODE_DEFAULTS])
    else if (value !== null && BOOLEANS.includes(name)) {
      const flag = parseBoolean(value)
      if (flag === undefined) throw ironicErrors.notBoolean(name, formatClientValue(value))
      out[name] = flag
    }
  }
  return out
}
