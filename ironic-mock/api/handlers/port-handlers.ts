import { defined } from '../../../base/runtime/index.js'
import {
  IronicError,
  ironicErrors,
  localLinkConnectionSchema,
  PATCHABLE_PORT_FIELDS,
  PORT_LIST_FIELDS,
  SINCE,
  formatClientValue,
  type JsonObject,
  type PortRecord,
} from '../../../base/wire/index.js'
import type { NewPort } from '../../conductor/core/conductor.js'
import type { PortQuery } from '../../store/store.js'
import type { Backend, IronicApiCall, HandlersOf } from '../call.js'
import { findCallNode } from '../nodes/find-node.js'
import { isUuid } from '../formats.js'
import { renderPage, readFields, readPaging, readSelection, type PagingArgs } from '../listing.js'
import { joinablePortgroup, newPortFields, patchPort, refuseNewerLink, refuseNewerPortFields } from '../port-rules.js'
import { renderPort } from '../render-node.js'
import { nodeOr } from '../resource-list.js'
import { checkPatchable, patchValues } from '../resource-patch.js'
import { schemaProblem } from '../api-schema.js'
import { linkedNode } from './portgroup-handlers.js'

type PortListArgs = PagingArgs & { fields?: string[] | null; detail?: boolean | null }

const showPort = (
  port: PortRecord,
  { links, version }: IronicApiCall<object>,
  { store }: Backend,
  fields?: readonly string[],
) => {
  const portgroup = store.records.resources('portgroup').byId(port.portgroup_id)?.uuid ?? null
  return renderPort(port, { links, version, portgroup, ...defined({ fields }) })
}

/** @param fields fields to show, or undefined for all */
export async function listPorts(
  call: IronicApiCall<PortListArgs>,
  backend: Backend,
  query: PortQuery,
  url: string,
  fields: readonly string[] | undefined,
): Promise<{ body: JsonObject }> {
  const { version, links, args } = call
  const paging = readPaging('port', args, version)
  if (paging.marker && !(await backend.store.port(paging.marker))) throw ironicErrors.portNotFound(paging.marker)
  const ports = backend.store.portsNow({ ...query, ...paging, sortKey: paging.sortKey as keyof PortRecord })
  const items = ports.map((port) => showPort(port, call, backend, fields))
  const repeated = { detail: url.endsWith('/detail') ? null : args.detail, fields: fields?.join(',') }
  return { body: renderPage('ports', items, paging, links.href(url), repeated, ports.at(-1)?.uuid) }
}

/** Finds a port by uuid or name; by name also for clients too old to see names. */
async function findPort({ store }: Backend, ident: string): Promise<PortRecord> {
  const uuid = isUuid(ident) ? ident.toLowerCase() : store.records.portsByName.get(ident)
  const port = uuid === undefined ? undefined : await store.port(uuid)
  if (!port) throw ironicErrors.portNotFound(ident)
  return port
}

interface PortFilters {
  node?: string | null
  node_uuid?: string | null
  address?: string | null
  portgroup?: string | null
  shard?: string[] | null
  description_contains?: string | null
  conductor_groups?: string[] | null
}

/**
 * Query of a list: the first filter that is set counts, in the order portgroup, node, address, shards, conductor
 * groups.
 */
function portQuery({ args, version }: IronicApiCall<PortListArgs & PortFilters>, backend: Backend): PortQuery {
  const { address, portgroup, shard, description_contains: text, conductor_groups: groups } = args
  const ident = args.node_uuid ?? args.node
  if (portgroup && version < 24) throw ironicErrors.notAcceptable()
  if (shard && version < 82) throw ironicErrors.notAcceptable('1.82')
  if (ident && !isUuid(ident) && version < SINCE.nodeNames) throw ironicErrors.notAcceptable()
  if ([ident, portgroup, shard?.length].filter(Boolean).length > 1)
    throw new IronicError(403, 'Operation not permitted.')
  if (groups?.length && (ident || portgroup || address))
    throw new IronicError(
      400,
      'Filtering by conductor_groups cannot be combined with node_ident, portgroup_ident, or node address filters.',
    )
  const described = (port: PortRecord) => !text || (port.description?.includes(text) ?? false)
  const { records } = backend.store
  if (portgroup) {
    const group = records.resources('portgroup').find(portgroup)
    if (!group) throw ironicErrors.portgroupNotFound(portgroup)
    return { node_uuid: group.node_uuid, where: (port) => port.portgroup_id === group.id && described(port) }
  }
  if (ident) return { node_uuid: nodeOr(404, backend, ident).uuid, where: described }
  if (address) return { addresses: [address] }
  const owner = (port: PortRecord) => records.nodes.get(port.node_uuid)?.record
  if (shard?.length) return { where: (port) => shard.includes(owner(port)?.shard ?? '') && described(port) }
  if (groups?.length) return { where: (port) => groups.includes(owner(port)?.conductor_group ?? '') && described(port) }
  return { where: described }
}

export const portSelection = ({ args, version }: IronicApiCall<PortListArgs>) =>
  readSelection('port', args, version, PORT_LIST_FIELDS)

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
  'ports.list': (call, backend) => listPorts(call, backend, portQuery(call, backend), 'ports', portSelection(call)),
  'ports.detail': (call, backend) => listPorts(call, backend, portQuery(call, backend), 'ports/detail', undefined),
  'nodes.ports': async (call, backend) => {
    const node = findCallNode(call, backend, call.args.node_ident)
    return listPorts(call, backend, { node_uuid: node.uuid }, 'ports', portSelection(call))
  },
  'nodes.ports.detail': async (call, backend) => {
    const node = findCallNode(call, backend, call.args.node_ident)
    return listPorts(call, backend, { node_uuid: node.uuid }, 'ports/detail', undefined)
  },

  'ports.get': async (call, backend) => {
    const port = await findPort(backend, call.args.port_ident)
    return { body: showPort(port, call, backend, readFields('port', call.args.fields, call.version)) }
  },

  'ports.create': async (call, backend) => {
    const document = newPortFields(call.document)
    if (document.node_ident !== undefined && call.version < SINCE.portNodeIdent) throw ironicErrors.notAcceptable()
    const node = nodeOr(400, backend, formatClientValue(document.node_uuid ?? document.node_ident))
    refuseNewerPortFields(Object.keys(document), call.version)
    refuseNewerLink(document.local_link_connection, call.version)
    const { node_ident: _, portgroup_uuid, ...fields } = document
    const group = joinablePortgroup(backend.store.records, portgroup_uuid, node.uuid)
    if (fields.is_smartnic && schemaProblem(localLinkConnectionSchema, fields.local_link_connection ?? {}))
      throw new IronicError(400, 'Smart NIC port must have port_id and hostname in local_link_connection')
    if (fields.physical_network === '')
      throw new IronicError(400, 'A non-empty value is required when setting physical_network')
    if (group && fields.pxe_enabled === true && !group.standalone_ports_supported)
      throw new IronicError(
        409,
        `Port group ${group.uuid} doesn't support standalone ports. This port cannot be created as a member of that portgroup as the port's 'pxe_enabled' field was set to True.`,
      )
    const port = await backend.conductor.createPort({
      ...fields,
      portgroup_id: group?.id ?? null,
      node_uuid: node.uuid,
    } as NewPort)
    return { body: showPort(port, call, backend), location: call.links.href(`ports/${port.uuid}`) }
  },

  'ports.patch': async (call, backend) => {
    const { version } = call
    const patch = call.document
    checkPatchable(patch, PATCHABLE_PORT_FIELDS)
    refuseNewerPortFields(
      patch.map(({ path }) => path.split('/')[1]!),
      version,
      true,
    )
    const found = await findPort(backend, call.args.port_ident)
    const [move] = patchValues(patch, 'node_uuid')
    const target = move === undefined ? undefined : linkedNode(backend, move)
    const { records } = backend.store
    const port = await backend.conductor.updatePort(found.uuid, (current) => {
      const after = patchPort(current, patch, { records, version, ...defined({ target }) })
      const node = records.nodes.get(current.node_uuid)?.record
      if (node?.provision_state === 'inspecting' && version >= SINCE.inspectWaitState)
        throw new IronicError(
          409,
          `Cannot update port "${current.uuid}" on "${node.uuid}" while it is in state "inspecting".`,
        )
      return after
    })
    return { body: showPort(port, call, backend) }
  },

  'ports.delete': async (call, backend) => {
    await backend.conductor.destroyPort(call.args.port_uuid)
    return {}
  },
}
