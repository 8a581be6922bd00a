import {
  IronicError,
  ironicErrors,
  localLinkConnectionSchema,
  PATCHABLE_PORT_FIELDS,
  PORT_FIELDS,
  portSchema,
  SINCE,
  formatClientValue,
  type JsonObject,
  type Microversion,
  type NodeRecord,
  type PortgroupRecord,
  type PortRecord,
  type PatchOperation,
} from '../../base/wire/index.js'
import type { Records } from '../store/record-store.js'
import { isMac, isUuid, parseBoolean } from './formats.js'
import { patchRecord } from './resource-patch.js'
import { checkDocument } from './api-schema.js'

/** Fields whose microversion upstream checks in a patch; it accepts others from clients too old to see them. */
const REFUSED = ['pxe_enabled', 'local_link_connection', 'portgroup_uuid', 'physical_network', 'is_smartnic']
const SINCE_FIELD = new Map<string, Microversion>([
  ...PORT_FIELDS.map(({ name, since }): [string, Microversion] => [name, since]),
  ['portgroup_uuid', 24],
  ['node_ident', SINCE.portNodeIdent],
])

/**
 * Refuses fields newer than the client's microversion.
 *
 * @param patch whether the fields are those of a patch, of which upstream checks only some
 */
export function refuseNewerPortFields(names: readonly string[], version: Microversion, patch = false): void {
  for (const name of names)
    if ((SINCE_FIELD.get(name) ?? 1) > version && (!patch || REFUSED.includes(name))) throw ironicErrors.notAcceptable()
}

/** Refuses members of a link that are newer than the client. */
export function refuseNewerLink(link: unknown, version: Microversion): void {
  if (link === null || typeof link !== 'object') return
  if ('network_type' in link && version < 64) throw ironicErrors.notAcceptable()
  if ('vtep-logical-switch' in link && (version < 90 || version >= 105)) throw ironicErrors.notAcceptable()
}

const BOOLEANS = ['pxe_enabled', 'is_smartnic', 'available_for_dynamic_portgroup']
const PORT_DEFAULTS: JsonObject = {
  pxe_enabled: true,
  is_smartnic: false,
  available_for_dynamic_portgroup: true,
  extra: {},
  local_link_connection: {},
}

/** Fields of a new port as they are stored: address in lower case, booleans from words, defaults for nulls. */
export function newPortFields(fields: JsonObject): JsonObject {
  const out: JsonObject = { ...fields }
  for (const [name, value] of Object.entries(fields)) {
    if (value === null) {
      if (Object.hasOwn(PORT_DEFAULTS, name)) out[name] = structuredClone(PORT_DEFAULTS[name])
    } else if (BOOLEANS.includes(name)) {
      const flag = parseBoolean(value)
      if (flag === undefined) throw ironicErrors.notBoolean(name, formatClientValue(value))
      out[name] = flag
    }
  }
  if (typeof out.address === 'string') {
    if (!isMac(out.address)) throw ironicErrors.expected('valid MAC address', 'address', out.address)
    out.address = out.address.toLowerCase()
  }
  for (const name of ['node_uuid', 'portgroup_uuid', 'uuid']) {
    const value = out[name]
    if (typeof value !== 'string') continue
    if (!isUuid(value)) throw ironicErrors.expected('UUID', name, value)
    out[name] = value.toLowerCase()
  }
  if (out.uuid === null) delete out.uuid
  const link = out.local_link_connection
  if (link !== undefined) {
    checkDocument(localLinkConnectionSchema, 'local_link_connection', link)
    out.local_link_connection = normalisedLink(link as JsonObject)
  }
  return out
}

/** Link with its switch id in lower case: a MAC or an OpenFlow datapath. */
function normalisedLink(link: JsonObject): JsonObject {
  const { switch_id: id } = link
  if (typeof id !== 'string') return link
  if (!isMac(id) && !/^[0-9a-f]{16}$|^0x[0-9a-f]{16}$|^[0-9a-f]{2}(:[0-9a-f]{2}){7}$/i.test(id))
    throw new IronicError(400, `Expected a MAC address or OpenFlow datapath ID but received ${id}.`)
  return { ...link, switch_id: id.toLowerCase() }
}

/**
 * Portgroup that a port of this node may join.
 *
 * @throws IronicError 400 when there is none, or it belongs to another node
 */
export function joinablePortgroup(records: Records, uuid: unknown, node: string): PortgroupRecord | undefined {
  if (uuid === undefined || uuid === null) return undefined
  const group = records.resources('portgroup').byUuid.get(formatClientValue(uuid))
  if (!group) throw ironicErrors.portgroupNotFound(formatClientValue(uuid), 400)
  if (group.node_uuid !== node)
    throw new IronicError(400, 'Port can not be added to a portgroup belonging to a different node.')
  return group
}

export interface PortPatchContext {
  readonly records: Records
  readonly version: Microversion
  /** Node to which the patch moves the port. */
  readonly target?: Readonly<NodeRecord>
}

/** Changes that a patch makes to a port. */
export function patchPort(
  port: PortRecord,
  patch: readonly PatchOperation[],
  { records, version, target }: PortPatchContext,
): Partial<PortRecord> {
  const current = records.resources('portgroup').byId(port.portgroup_id)
  const before: JsonObject = { portgroup_uuid: current?.uuid ?? null }
  for (const name of PATCHABLE_PORT_FIELDS)
    if (name !== 'portgroup_uuid' && name !== 'node_ident') before[name] = port[name]
  const node = target?.uuid ?? port.node_uuid
  const operations = patch.map((operation) =>
    operation.path === '/node_uuid' ? { ...operation, op: 'replace' as const, value: node } : operation,
  )
  const document = patchRecord(before, operations, portSchema)
  for (const name of PATCHABLE_PORT_FIELDS)
    if (!(name in document) && name !== 'address' && name !== 'node_uuid' && name !== 'node_ident')
      document[name] = null
  const group = joinablePortgroup(records, document.portgroup_uuid, node)
  const { portgroup_uuid: _, ...fields } = newPortFields(document)
  refuseNewerLink(fields.local_link_connection, version)
  const updates = (name: string) => patch[0]?.path === `/${name}` || patch[0]?.path.startsWith(`/${name}/`)
  if (fields.physical_network === '')
    throw new IronicError(400, 'A non-empty value is required when setting physical_network')
  if (version >= 102 && updates('physical_network') && group)
    throw new IronicError(400, 'physical_network cannot be changed while the port belongs to a portgroup.')
  const after = { ...fields, portgroup_id: group?.id ?? null } as Partial<PortRecord>
  if (target) Object.assign(after, { node_uuid: target.uuid, node_id: target.id })
  return Object.fromEntries(
    Object.entries(after).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(port[name as keyof PortRecord]),
    ),
  ) as Partial<PortRecord>
}
