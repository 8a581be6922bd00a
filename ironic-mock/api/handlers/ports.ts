import {
  ironicErrors,
  PATCHABLE_PORT_FIELDS,
  PORT_LIST_FIELDS,
  SINCE,
  type JsonObject,
  type NodeRecord,
  type PortRecord,
} from '../../../wire/index.js'
import type { NewPort } from '../../conductor/conductor.js'
import type { PortQuery } from '../../store/store.js'
import type { Backend, Call, HandlersOf } from '../call.js'
import { findNode } from '../find-node.js'
import { isUuid } from '../formats.js'
import type { PatchOperation } from '../json-patch.js'
import { page, readFields, readPaging, readSelection, type PagingArgs } from '../listing.js'
import { normalisedPort, patchPort, refuseNewerPortFields } from '../port-rules.js'
import { renderPort } from '../render.js'

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

/** Names count from microversion 1.88. */
async function find({ version }: Call<object>, { store }: Backend, ident: string): Promise<PortRecord> {
  const named = (port: PortRecord) => port.name === ident
  const port = isUuid(ident)
    ? await store.port(ident.toLowerCase())
    : version >= SINCE.portNames
      ? (await store.ports({ where: named }))[0]
      : undefined
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
    refuseNewerPortFields(Object.keys(given), version)
    const { node_ident, node_uuid, ...fields } = normalisedPort(given)
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
      refuseNewerPortFields([name], version)
    }
    const found = await find(call, backend, call.args.port_ident)
    const target = await movedTo(backend, found, patch)
    const port = await backend.conductor.updatePort(found.uuid, (current) => patchPort(current, patch, target))
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
