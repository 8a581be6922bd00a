import {
  ironicErrors,
  localLinkConnectionSchema,
  PATCHABLE_PORT_FIELDS,
  PORT_FIELDS,
  PORT_LIST_FIELDS,
  portSchema,
  SINCE,
  type JsonObject,
  type Microversion,
  type NodeRecord,
  type PortRecord,
} from '../../../wire/index.js'
import type { Backend, Call, HandlersOf } from '../call.js'
import type { NewPort } from '../../conductor/conductor.js'
import type { PortQuery } from '../../store/store.js'
import { findNode } from '../find-node.js'
import { isLogicalName, isMac, isUuid, parseBoolean } from '../formats.js'
import { applyPatch, type PatchOperation } from '../json-patch.js'
import { page, readFields, readPaging, readSelection, type PagingArgs } from '../listing.js'
import { renderPort } from '../render.js'
import { checkDocument } from '../schema.js'

type ListArgs = PagingArgs & { fields?: string[] | null; detail?: boolean | null }

/** @param fields all of them when undefined */
async function list(
  call: Call<ListArgs>,
  backend: Backend,
  query: PortQuery,
  url: string,
  fields: readonly string[] | undefined,
): Promise<{ body: JsonObject }> {
  const { version, links, args } = call
  const paging = readPaging('port', args, version)
  if (paging.marker && !(await backend.store.port(paging.marker))) throw ironicErrors.portNotFound(paging.marker)
  const ports = await backend.store.ports({
    ...query,
    ...paging,
    sortKey: paging.sortKey as keyof PortRecord,
  })
  const shown = ports.map((port) => renderPort(port, { links, version, ...(fields ? { fields } : {}) }))
  return {
    body: page('ports', shown, paging, links.href(url), { detail: args.detail, fields: fields?.join(',') }),
  }
}

async function find(call: Call<object>, { store }: Backend, ident: string): Promise<PortRecord> {
  const port = isUuid(ident) || call.version >= SINCE.portNames ? await store.port(ident) : undefined
  if (!port) throw ironicErrors.portNotFound(ident)
  return port
}

interface Filters {
  node?: string | null
  node_uuid?: string | null
  address?: string | null
  portgroup?: string | null
  shard?: string[] | null
}

async function filtered(call: Call<ListArgs & Filters>, backend: Backend): Promise<PortQuery> {
  const { node, node_uuid, address, portgroup, shard } = call.args
  // There are no portgroups yet, so none can be found.
  if (portgroup) throw ironicErrors.portgroupNotFound(portgroup)
  const query: PortQuery = {}
  if (node) query.node_uuid = (await findNode(call, backend, node)).uuid
  else if (node_uuid) query.node_uuid = (await findNode(call, backend, node_uuid)).uuid
  if (address) query.addresses = [address]
  if (shard) {
    const members = await backend.store.nodes({ where: (each: NodeRecord) => shard.includes(each.shard ?? '') })
    const uuids = new Set(members.map((each) => each.uuid))
    query.where = (port) => uuids.has(port.node_uuid)
  }
  return query
}

const selection = ({ args, version }: Call<ListArgs>) => readSelection('port', args, version, PORT_LIST_FIELDS)

function refuseNewerFields(names: readonly string[], version: Microversion): void {
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
function normalised(fields: JsonObject): JsonObject {
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

/** In a body an unknown node is the client's mistake, 400; in a path it is a 404. */
async function bodyNode({ store }: Backend, ident: string): Promise<NodeRecord> {
  const found = await store.node(ident)
  if (!found) throw Object.assign(ironicErrors.nodeNotFound(ident), { status: 400 })
  return found.node
}

export const portHandlers: HandlersOf<
  | 'ports.list'
  | 'ports.detail'
  | 'ports.create'
  | 'ports.get'
  | 'ports.patch'
  | 'ports.delete'
  | 'nodes.ports'
  | 'nodes.ports.detail'
> = {
  'ports.list': async (call, backend) => list(call, backend, await filtered(call, backend), 'ports', selection(call)),
  'ports.detail': async (call, backend) =>
    list(call, backend, await filtered(call, backend), 'ports/detail', undefined),
  'nodes.ports': async (call, backend) => {
    const node = await findNode(call, backend, call.args.node_ident)
    return list(call, backend, { node_uuid: node.uuid }, `nodes/${call.args.node_ident}/ports`, selection(call))
  },
  'nodes.ports.detail': async (call, backend) => {
    const node = await findNode(call, backend, call.args.node_ident)
    return list(call, backend, { node_uuid: node.uuid }, `nodes/${call.args.node_ident}/ports/detail`, undefined)
  },

  'ports.get': async (call, backend) => {
    const { version, links, args } = call
    const port = await find(call, backend, args.port_ident)
    const fields = readFields('port', args.fields, version)
    return { body: renderPort(port, { links, version, ...(fields ? { fields } : {}) }) }
  },

  'ports.create': async (call, backend) => {
    const { version, links } = call
    const given = call.document as JsonObject
    refuseNewerFields(Object.keys(given), version)
    const { node_ident, node_uuid, ...fields } = normalised(given)
    if (node_ident !== undefined && node_uuid !== undefined)
      throw ironicErrors.schema('port', "only one of 'node_uuid' and 'node_ident' can be given")
    if (typeof node_uuid === 'string' && !isUuid(node_uuid)) throw ironicErrors.expected('UUID', 'node_uuid', node_uuid)
    const node = await bodyNode(backend, String(node_uuid ?? node_ident))
    const port = await backend.conductor.createPort({ ...fields, node_uuid: node.uuid } as NewPort)
    return { body: renderPort(port, { links, version }), location: links.href(`ports/${port.uuid}`) }
  },

  'ports.patch': async (call, backend) => {
    const { version, links } = call
    const patch = call.document as PatchOperation[]
    const allowed: readonly string[] = PATCHABLE_PORT_FIELDS
    for (const { path } of patch) {
      const name = path.split('/')[1]!
      if (!allowed.includes(name)) throw ironicErrors.notPatchable(path, allowed)
      refuseNewerFields([name], version)
    }
    const found = await find(call, backend, call.args.port_ident)
    const target = await movedTo(backend, found, patch)
    const port = await backend.conductor.updatePort(found.uuid, (current) => changes(current, patch, target))
    return { body: renderPort(port, { links, version }) }
  },

  'ports.delete': async (call, backend) => {
    const port = await find(call, backend, call.args.port_ident)
    await backend.conductor.destroyPort(port.uuid)
    return {}
  },
}

/** The node that a patch moves the port to, if it does; looked up beforehand because the change itself is synchronous. */
async function movedTo(
  backend: Backend,
  port: PortRecord,
  patch: readonly PatchOperation[],
): Promise<NodeRecord | undefined> {
  const move = patch.filter(({ path, op }) => /^\/node_(uuid|ident)$/.test(path) && op !== 'remove').at(-1)
  return move && move.value !== port.node_uuid ? bodyNode(backend, String(move.value)) : undefined
}

function changes(port: PortRecord, patch: readonly PatchOperation[], target?: NodeRecord): Partial<PortRecord> {
  const before: JsonObject = { portgroup_uuid: null, node_ident: port.node_uuid }
  for (const name of PATCHABLE_PORT_FIELDS)
    if (name !== 'portgroup_uuid' && name !== 'node_ident') before[name] = port[name]
  const applied = applyPatch(before, patch)
  for (const name of PATCHABLE_PORT_FIELDS)
    if (!(name in applied) && name !== 'address' && name !== 'node_uuid') applied[name] = null
  const { node_ident: _, ...document } = applied
  checkDocument(portSchema, 'patch', document)
  const after = normalised(document) as Partial<PortRecord>
  if (target) Object.assign(after, { node_uuid: target.uuid, node_id: target.id })
  return Object.fromEntries(
    Object.entries(after).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(port[name as keyof PortRecord]),
    ),
  ) as Partial<PortRecord>
}
