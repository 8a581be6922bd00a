import {
  ironicErrors,
  localLinkConnectionSchema,
  PATCHABLE_PORT_FIELDS,
  PORT_FIELDS,
  portSchema,
  SINCE,
  type JsonObject,
  type Microversion,
  type NodeRecord,
  type PortRecord,
} from '../../wire/index.js'
import { isLogicalName, isMac, isUuid, parseBoolean } from './formats.js'
import { applyPatch, type PatchOperation } from './json-patch.js'
import { checkDocument } from './schema.js'

/** Fields newer than the client's microversion cannot be set. */
export function refuseNewerPortFields(names: readonly string[], version: Microversion): void {
  for (const name of names) {
    const since =
      name === 'node_ident'
        ? SINCE.portNodeIdent
        : name === 'portgroup_uuid'
          ? 24
          : (PORT_FIELDS.find((field) => field.name === name)?.since ?? 1)
    if (since > version) throw ironicErrors.notAcceptable()
  }
}

const BOOLEANS = ['pxe_enabled', 'is_smartnic', 'available_for_dynamic_portgroup']
const DEFAULTS: JsonObject = {
  pxe_enabled: true,
  is_smartnic: false,
  available_for_dynamic_portgroup: true,
  extra: {},
  local_link_connection: {},
}

/** The fields of a port as they are kept: address in lower case, booleans of words, defaults for nulls. */
export function normalisedPort(fields: JsonObject): JsonObject {
  const out: JsonObject = { ...fields }
  for (const [name, value] of Object.entries(fields)) {
    if (value === null) {
      if (Object.hasOwn(DEFAULTS, name)) out[name] = structuredClone(DEFAULTS[name])
    } else if (BOOLEANS.includes(name)) {
      const flag = parseBoolean(value)
      if (flag === undefined) throw ironicErrors.notBoolean(name, String(value))
      out[name] = flag
    }
  }
  const { address, local_link_connection: link, uuid, portgroup_uuid: portgroup, name } = out
  if (typeof address === 'string') {
    if (!isMac(address)) throw ironicErrors.expected('valid MAC address', 'address', address)
    out.address = address.toLowerCase()
  }
  if (typeof uuid === 'string' && !isUuid(uuid)) throw ironicErrors.expected('UUID', 'uuid', uuid)
  if (typeof name === 'string' && !isLogicalName(name)) throw ironicErrors.expected('name', 'name', name)
  if (link !== undefined) checkDocument(localLinkConnectionSchema, 'local_link_connection', link)
  if (typeof portgroup === 'string') throw ironicErrors.portgroupNotFound(portgroup, 400)
  delete out.portgroup_uuid
  return out
}

/** What a patch changes of a port, which `target` says that it moves to another node. */
export function patchPort(
  port: PortRecord,
  patch: readonly PatchOperation[],
  target?: NodeRecord,
): Partial<PortRecord> {
  const before: JsonObject = { portgroup_uuid: null, node_ident: port.node_uuid }
  for (const name of PATCHABLE_PORT_FIELDS)
    if (name !== 'portgroup_uuid' && name !== 'node_ident') before[name] = port[name]
  const applied = applyPatch(before, patch)
  for (const name of PATCHABLE_PORT_FIELDS)
    if (!(name in applied) && name !== 'address' && name !== 'node_uuid') applied[name] = null
  const { node_ident: _, ...document } = applied
  checkDocument(portSchema, 'patch', document)
  const after = normalisedPort(document) as Partial<PortRecord>
  if (target) Object.assign(after, { node_uuid: target.uuid, node_id: target.id })
  return Object.fromEntries(
    Object.entries(after).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(port[name as keyof PortRecord]),
    ),
  ) as Partial<PortRecord>
}
