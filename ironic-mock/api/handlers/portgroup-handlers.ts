import { defined } from '../../../base/runtime/index.js'
import {
  IronicError,
  ironicErrors,
  PATCHABLE,
  portgroupSchema,
  formatClientValue,
  type PortgroupRecord,
  type PatchOperation,
} from '../../../base/wire/index.js'
import type { NewFields } from '../../conductor/core/conductor.js'
import type { ResourceQuery } from '../../store/store.js'
import type { Backend, IronicApiCall, HandlersOf } from '../call.js'
import { findCallNode } from '../nodes/find-node.js'
import type { PagingArgs } from '../listing.js'
import { checkRoutedIdent, createdAnswer, findResource, listResources, nodeOr, showResource } from '../resource-list.js'
import { checkPatchable, isName, patchRecord, patchValues, readForms, withDefaults } from '../resource-patch.js'
import { selectedFields } from '../resource-view.js'
import { listPorts, portSelection } from './port-handlers.js'

const PORTGROUP_DEFAULTS = {
  address: null,
  category: null,
  extra: {},
  mode: 'active-backup',
  name: null,
  physical_network: null,
  properties: {},
  standalone_ports_supported: true,
}
const PORTGROUP_FORMS = {
  address: 'mac',
  node_uuid: 'uuid',
  standalone_ports_supported: 'boolean',
  uuid: 'uuid',
} as const

interface PortgroupFilters extends PagingArgs {
  node?: string | null
  address?: string | null
  shard?: string[] | null
  conductor_groups?: string[] | null
  fields?: string[] | null
  detail?: boolean | null
}

/** Query of a list. At most one of the filters may be set; an address must match exactly. */
function portgroupQuery(
  call: IronicApiCall<PortgroupFilters>,
  backend: Backend,
  node: string | null | undefined,
): Pick<ResourceQuery<'portgroup'>, 'node_uuid' | 'where'> {
  const { address, shard, conductor_groups: groups } = call.args
  if (shard && call.version < 106) throw ironicErrors.notAcceptable('1.106')
  if ([node, address, shard?.length, groups?.length].filter(Boolean).length > 1)
    throw new IronicError(400, 'Filtering by node, address, or shard simultaneously is not supported.')
  const { records } = backend.store
  const owner = (record: PortgroupRecord) => records.nodes.get(record.node_uuid)?.record
  if (node) return { node_uuid: nodeOr(404, backend, node).uuid }
  if (address) return { where: (record) => record.address === address }
  if (shard?.length) return { where: (record) => shard.includes(owner(record)?.shard ?? '') }
  if (groups?.length) return { where: (record) => groups.includes(owner(record)?.conductor_group ?? '') }
  return {}
}

function listPortgroups(
  call: IronicApiCall<PortgroupFilters>,
  backend: Backend,
  detailed: boolean,
  node = call.args.node,
) {
  const query = portgroupQuery(call, backend, node)
  const fields = detailed ? undefined : selectedFields('portgroup', call.args, call.version)
  return listResources('portgroup', call, backend, {
    query,
    fields,
    url: detailed ? 'portgroups/detail' : 'portgroups',
    repeated: detailed ? {} : { detail: call.args.detail },
  })
}

function refuseModeBefore26({ version }: IronicApiCall<object>, hasMode: boolean): void {
  if (version < 26 && hasMode) throw ironicErrors.notAcceptable()
}

const findPortgroup = (call: IronicApiCall<{ portgroup_ident: string }>, backend: Backend) =>
  findResource('portgroup', backend, checkRoutedIdent('portgroup', call.args.portgroup_ident))

export const portgroupHandlers: HandlersOf<
  | 'portgroups.list'
  | 'portgroups.detail'
  | 'portgroups.create'
  | 'portgroups.get'
  | 'portgroups.patch'
  | 'portgroups.delete'
  | 'portgroups.ports'
  | 'portgroups.ports.detail'
  | 'nodes.portgroups'
  | 'nodes.portgroups.detail'
> = {
  'portgroups.list': (call, backend) => listPortgroups(call, backend, false),
  'portgroups.detail': (call, backend) => listPortgroups(call, backend, true),
  // Upstream finds a node here by uuid only; a difference on purpose.
  'nodes.portgroups': async (call, backend) =>
    listPortgroups(call, backend, false, findCallNode(call, backend, call.args.node_ident).uuid),
  'nodes.portgroups.detail': async (call, backend) =>
    listPortgroups(call, backend, true, findCallNode(call, backend, call.args.node_ident).uuid),
  'portgroups.get': (call, backend) => showResource('portgroup', call, findPortgroup(call, backend)),

  'portgroups.create': async (call, backend) => {
    const document = readForms(call.document, PORTGROUP_FORMS)
    const node = nodeOr(400, backend, formatClientValue(document.node_uuid))
    refuseModeBefore26(call, Boolean(document.mode) || Object.keys((document.properties ?? {}) as object).length > 0)
    if (document.name && !isName(document.name))
      throw new IronicError(400, `Cannot create portgroup with invalid name '${formatClientValue(document.name)}'`)
    const fields = {
      ...withDefaults(document, PORTGROUP_DEFAULTS),
      // An empty mode means the default.
      mode: document.mode || PORTGROUP_DEFAULTS.mode,
      ...defined({ uuid: document.uuid || undefined }),
      node_uuid: node.uuid,
      node_id: node.id,
      internal_info: {},
      dynamic_portgroup: false,
    } as unknown as NewFields<'portgroup'>
    return createdAnswer('portgroup', call, await backend.conductor.resources.create('portgroup', fields))
  },

  'portgroups.patch': async (call, backend) => {
    const { uuid } = findPortgroup(call, backend)
    const patch = call.document
    const [first] = patch
    refuseModeBefore26(call, first !== undefined && /^\/(mode|properties)(\/|$)/.test(first.path))
    checkPatchable(patch, PATCHABLE.portgroup)
    for (const name of patchValues(patch, 'name'))
      if (name && !isName(name))
        throw new IronicError(
          400,
          `Portgroup ${call.args.portgroup_ident}: Cannot change name to invalid name '${formatClientValue(name)}'`,
        )
    const [target] = patchValues(patch, 'node_uuid')
    const moved = target === undefined ? undefined : linkedNode(backend, target)
    const record = await backend.conductor.resources.update('portgroup', uuid, (current) => {
      const { node_uuid = current.node_uuid, ...shown } = patchRecord(
        { ...current, node_uuid: current.node_uuid },
        patch.map((operation) => keepNode(operation, current.node_uuid)),
        portgroupSchema,
      )
      if (!('mode' in shown)) throw new IronicError(400, "'mode' is a mandatory attribute and can not be removed")
      refuseDuringInspection(call, backend, formatClientValue(node_uuid), uuid)
      const fields = withDefaults(readForms(shown, PORTGROUP_FORMS), PORTGROUP_DEFAULTS)
      return { ...fields, ...(moved ? { node_uuid: moved.uuid, node_id: moved.id } : {}) }
    })
    return { body: showResource('portgroup', { ...call, args: {} }, record).body }
  },

  'portgroups.delete': async (call, backend) => {
    await backend.conductor.resources.remove('portgroup', findPortgroup(call, backend).uuid)
    return {}
  },

  'portgroups.ports': (call, backend) =>
    listPorts(call, backend, portgroupMembers(findPortgroup(call, backend)), 'ports', portSelection(call)),
  'portgroups.ports.detail': (call, backend) =>
    listPorts(call, backend, portgroupMembers(findPortgroup(call, backend)), 'ports/detail', undefined),
}

const portgroupMembers = ({ id, node_uuid }: PortgroupRecord) => ({
  node_uuid,
  where: ({ portgroup_id }: { portgroup_id: number | null }) => portgroup_id === id,
})

/** Node to which a patch moves a record. */
export function linkedNode(backend: Backend, ident: unknown) {
  try {
    return nodeOr(400, backend, formatClientValue(ident))
  } catch {
    throw ironicErrors.nodeLinkInvalid(formatClientValue(ident))
  }
}

/** Keeps the node of a record in a patch, even when the patch removes it: callers move the record themselves. */
export const keepNode = (operation: PatchOperation, node: string): PatchOperation =>
  operation.path === '/node_uuid' ? { op: 'replace', path: '/node_uuid', value: node } : operation

function refuseDuringInspection(
  call: IronicApiCall<object>,
  { store }: Backend,
  node: string,
  portgroup: string,
): void {
  const state = store.records.nodes.get(node)?.record.provision_state
  if (state === 'inspecting' && call.version >= 39)
    throw new IronicError(
      409,
      `Cannot update portgroup "${portgroup}" on node "${node}" while it is in state "inspecting".`,
    )
}
