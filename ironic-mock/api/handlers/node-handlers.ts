import { defined } from '../../../base/runtime/index.js'
import {
  ironicErrors,
  NODE_FIELDS,
  NODE_LIST_FIELDS,
  SINCE,
  formatClientValue,
  type JsonObject,
  type Microversion,
  type NodeRecord,
} from '../../../base/wire/index.js'
import type { Backend, IronicApiCall, HandlersOf } from '../call.js'
import type { NewNode } from '../../conductor/core/conductor.js'
import { readFieldValues } from '../field-values.js'
import { findCallNode } from '../nodes/find-node.js'
import { JsonText } from '../json-text.js'
import { nextPage, readFields, readPaging, readSelection } from '../listing.js'
import { nodeQuery, type NodeFilters } from '../nodes/node-filters.js'
import { nodeTexts } from '../nodes/node-texts.js'
import { checkPatch, patchNode, type NodePatchRequest } from '../nodes/node-patch.js'
import { checkDescription, checkNodeName, checkUuid, refuseNewerFields } from '../nodes/node-rules.js'
import type { Records } from '../../store/record-store.js'
import { renderNode } from '../render-node.js'

const showNode = (
  node: NodeRecord,
  { links, version }: IronicApiCall<object>,
  backend: Backend,
  fields?: readonly string[],
) =>
  renderNode(node, {
    links,
    version,
    conductor: backend.conductor,
    records: backend.store.records,
    ...defined({ fields }),
  })

/** @throws IronicError 400 */
function chassisId(records: Records, uuid: unknown): number {
  const chassis = records.resources('chassis').byUuid.get(formatClientValue(uuid).toLowerCase())
  if (!chassis) throw ironicErrors.chassisNotFound(formatClientValue(uuid))
  return chassis.id
}

/**
 * UUID of a parent node, which must have the same owner. A missing node and one of another owner get the same error.
 *
 * @throws IronicError 400
 */
function parentOf({ records }: Backend['store'], ident: unknown, owner: string | null): string {
  const named = typeof ident === 'string' ? (records.nodesByName.get(ident) ?? ident.toLowerCase()) : ''
  const found = records.nodes.get(named)?.record
  if (!found || found.owner !== owner) throw ironicErrors.invalidParent(ident)
  return found.uuid
}

type NodeListArgs = NodeFilters & { detail?: boolean | null }

/** @param url path of `next`, below `/v1` */
export async function listNodes(
  call: IronicApiCall<NodeListArgs>,
  backend: Backend,
  url: string,
  fields: readonly string[] | undefined,
): Promise<{ body: JsonText }> {
  const { args, version, links } = call
  const paging = readPaging('node', args, version)
  if (paging.marker && !(await backend.store.node(paging.marker))) throw ironicErrors.nodeNotFound(paging.marker)
  const query = await nodeQuery(call, backend)
  const entries = backend.store.nodesNow({ ...query, ...paging, sortKey: paging.sortKey as keyof NodeRecord })
  // A list of all fields differs from a whole node, so it is another view.
  const { placement } = backend.conductor
  const view = `${links.base} ${version} ${placement} ${fields ? `of ${fields.join()}` : 'whole'}`
  const items = nodeTexts(entries, view, ({ record }) => showNode(record, call, backend, fields))
  const list = (after: string) => ({ body: new JsonText('{"nodes":[', items, after) })
  // An instance has one node, so there are no pages.
  if (args.instance_uuid) return list(']}')
  const { associated, maintenance, retired, detail } = args
  // `next` repeats these filters only when they are true.
  const chosen = Object.entries({ associated, maintenance, retired }).filter(([, yes]) => yes)
  const repeated = { ...Object.fromEntries(chosen), detail, fields: fields?.join(',') }
  const next = nextPage(entries.length, paging, links.href(url), repeated, entries.at(-1)?.columns.uuid ?? '')
  return list(next === undefined ? ']}' : `],"next":${JSON.stringify(next)}}`)
}

/** Checks the document of a new node, and adds defaults of its microversion. */
function readNewNode(document: JsonObject, version: Microversion, { store }: Backend): NewNode {
  // Null, and the default group, count as absent.
  const present = Object.keys(document).filter((name) => document[name] !== (name === 'conductor_group' ? '' : null))
  refuseNewerFields(
    present.filter((name) => document[name] !== null),
    version,
  )
  checkNodeName(document.name, version)
  checkDescription(document.description, 'create')
  for (const name of ['uuid', 'instance_uuid', 'chassis_uuid']) checkUuid(name, document[name])
  if (typeof document.owner === 'string') throw ironicErrors.ownerAtCreation()
  const { chassis_uuid, ...fields } = readFieldValues(document, NODE_FIELDS)
  // An interface of null counts as absent.
  for (const [name, value] of Object.entries(fields)) if (value === null) delete fields[name]
  if (version < SINCE.enrollState) fields.provision_state = 'available'
  if (fields.parent_node) fields.parent_node = parentOf(store, fields.parent_node, null)
  return {
    ...fields,
    ...defined({ chassis_id: chassis_uuid == null ? undefined : chassisId(store.records, chassis_uuid) }),
  } as NewNode
}

export const nodeHandlers: HandlersOf<
  'nodes.list' | 'nodes.detail' | 'nodes.get' | 'nodes.create' | 'nodes.patch' | 'nodes.delete'
> = {
  'nodes.list': (call, backend) =>
    listNodes(call, backend, 'nodes', readSelection('node', call.args, call.version, NODE_LIST_FIELDS)),
  'nodes.detail': (call, backend) => {
    const { include_children, ...rest } = call.args
    const args = { ...rest, ...defined({ include_children: include_children ? true : undefined }) }
    return listNodes({ ...call, args }, backend, 'nodes/detail', undefined)
  },

  'nodes.get': async (call, backend) => {
    const node = findCallNode(call, backend, call.args.node_ident)
    const fields = readFields('node', call.args.fields, call.version)
    return { body: showNode(node, call, backend, fields) }
  },

  'nodes.create': async (call, backend) => {
    const node = await backend.conductor.createNode(readNewNode(call.document, call.version, backend))
    return { body: showNode(node, call, backend), location: call.links.href(`nodes/${node.uuid}`) }
  },

  'nodes.patch': async (call, backend) => {
    const { node_ident: ident, reset_interfaces } = call.args
    const request: NodePatchRequest = {
      ident,
      patch: call.document,
      version: call.version,
      resetInterfaces: reset_interfaces ?? false,
      drivers: backend.conductor.drivers(),
      schemas: backend.nodeSchemas,
      chassisId: (uuid) => chassisId(backend.store.records, uuid),
      parent: (parent, owner) => parentOf(backend.store, parent, owner),
      chassisUuid: (id) => backend.store.records.resources('chassis').byId(id)?.uuid ?? null,
    }
    if (reset_interfaces != null && call.version < SINCE.resetInterfaces) throw ironicErrors.notAcceptable()
    checkPatch(request)
    const { uuid } = findCallNode(call, backend, ident)
    const node = await backend.conductor.updateNode(uuid, (current) => patchNode(current, request))
    return { body: showNode(node, call, backend) }
  },

  'nodes.delete': async (call, backend) => {
    const { uuid } = findCallNode(call, backend, call.args.node_ident)
    await backend.conductor.destroyNode(uuid)
    return {}
  },
}
