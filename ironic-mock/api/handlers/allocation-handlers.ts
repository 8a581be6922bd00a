import {
  allocationSchema,
  allocationWithoutNodeSchema,
  IronicError,
  ironicErrors,
  PATCHABLE,
  pythonRepr,
  RESOURCE_FIELDS,
  formatClientValue,
  type AllocationRecord,
  type JsonObject,
} from '../../../base/wire/index.js'
import type { NewAllocation } from '../../conductor/core/conductor.js'
import type { Backend, IronicApiCall, HandlersOf } from '../call.js'
import { findCallNode } from '../nodes/find-node.js'
import { isUuid } from '../formats.js'
import { createdAnswer, findResource, listResources, nodeOr, showResource } from '../resource-list.js'
import { checkPatchable, isName, patchRecord, patchValues, readForms } from '../resource-patch.js'
import { checkDocument } from '../api-schema.js'

/** Refuses `owner` in `fields` before 1.60, since when the schema of the query knows it. */
function refuseOwnerBefore60({ version, args }: IronicApiCall<{ fields?: string[] | null }>): void {
  if (version >= 60 || !args.fields?.includes('owner')) return
  const { own, derived } = RESOURCE_FIELDS.allocation
  const names = [...own, ...derived].map(({ name }) => name).filter((name) => name !== 'owner')
  throw ironicErrors.schema(undefined, `'owner' is not one of ${pythonRepr([...names, 'links'].sort())}`)
}

/** Finds an allocation. An ident that is neither a name nor a uuid is a 400 here, as upstream. */
function findAllocation({ args }: IronicApiCall<{ allocation_ident: string }>, backend: Backend): AllocationRecord {
  const { allocation_ident: ident } = args
  if (!isUuid(ident) && !isName(ident))
    throw new IronicError(400, `Expected a logical name or UUID but received ${ident}.`)
  return findResource('allocation', backend, ident)
}

const allocationOf = ({ store }: Backend, uuid: string) => store.records.resources('allocation').of(uuid)[0]
const noneOf = (ident: string) => new IronicError(404, `Allocation for node ${ident} was not found`)

export const allocationHandlers: HandlersOf<
  | 'allocations.list'
  | 'allocations.create'
  | 'allocations.get'
  | 'allocations.patch'
  | 'allocations.delete'
  | 'nodes.allocation'
  | 'nodes.allocation.delete'
> = {
  'allocations.list': (call, backend) => {
    const { node, resource_class, state, owner, fields } = call.args
    refuseOwnerBefore60(call)
    if (owner != null && call.version < 60) throw ironicErrors.notAcceptable()
    const where = (record: AllocationRecord) =>
      (resource_class == null || record.resource_class === resource_class) &&
      (state == null || record.state === state) &&
      (owner == null || record.owner === owner)
    const query = node ? { where, node_uuid: nodeOr(400, backend, node).uuid } : { where }
    return listResources('allocation', call, backend, { query, fields: fields ?? undefined })
  },
  'allocations.get': (call, backend) => {
    refuseOwnerBefore60(call)
    return showResource('allocation', call, findAllocation(call, backend))
  },

  'allocations.create': async (call, backend) => {
    const document = call.document
    if (call.version < 58) checkDocument(allocationWithoutNodeSchema, undefined, document)
    if (call.version < 60 && 'owner' in document) throw ironicErrors.notAcceptable()
    if (document.name && !isName(document.name))
      throw new IronicError(400, `Cannot create allocation with invalid name '${formatClientValue(document.name)}'`)
    const node = document.node ? nodeOr(400, backend, formatClientValue(document.node)) : undefined
    const resource_class = (document.resource_class as string | null | undefined) || node?.resource_class || null
    if (!node && !resource_class)
      throw new IronicError(400, 'The resource_class field is mandatory when not backfilling')
    const { uuid } = readForms(document, { uuid: 'uuid' })
    const fields: NewAllocation = {
      name: (document.name as string | null | undefined) ?? null,
      resource_class,
      traits: (document.traits as string[] | null | undefined) ?? [],
      candidate_nodes: findCandidates(backend, (document.candidate_nodes as string[] | null | undefined) ?? []),
      extra: (document.extra as JsonObject | null | undefined) ?? {},
      owner: (document.owner as string | null | undefined) ?? null,
    }
    const wanted = (uuid as string | null | undefined) ?? node?.instance_uuid
    if (wanted) fields.uuid = wanted
    return createdAnswer('allocation', call, await backend.conductor.resources.allocate(fields, node?.uuid))
  },

  'allocations.patch': async (call, backend) => {
    const { uuid } = findAllocation(call, backend)
    const patch = call.document
    checkPatchable(patch, PATCHABLE.allocation)
    for (const name of patchValues(patch, 'name'))
      if (name && !isName(name))
        throw new IronicError(400, `Cannot update allocation with invalid name '${formatClientValue(name)}'`)
    const record = await backend.conductor.resources.update('allocation', uuid, (current) => {
      const { name = null, extra } = patchRecord(current, patch, allocationSchema)
      return { name: name as string | null, extra: (extra as JsonObject | null) ?? {} }
    })
    return showResource('allocation', { ...call, args: {} }, record)
  },

  'allocations.delete': async (call, backend) => {
    await backend.conductor.resources.remove('allocation', findAllocation(call, backend).uuid)
    return {}
  },

  'nodes.allocation': (call, backend) => {
    // Upstream answers 400 for an unknown node on GET, and 404 on DELETE.
    const { node_ident: ident } = call.args
    const found = allocationOf(backend, nodeOr(400, backend, ident).uuid)
    if (!found) throw noneOf(ident)
    return showResource('allocation', call, found)
  },
  'nodes.allocation.delete': async (call, backend) => {
    const { node_ident: ident } = call.args
    const found = allocationOf(backend, findCallNode(call, backend, ident).uuid)
    if (!found) throw noneOf(ident)
    await backend.conductor.resources.remove('allocation', found.uuid)
    return {}
  },
}

/** UUIDs of the findAllocation nodes; the error lists every unknown one. */
function findCandidates(backend: Backend, idents: readonly string[]): string[] {
  const { nodes, nodesByName } = backend.store.records
  const uuidOf = (ident: string) => (nodes.has(ident.toLowerCase()) ? ident.toLowerCase() : nodesByName.get(ident))
  const unknown = idents.filter((ident) => uuidOf(ident) === undefined)
  if (unknown.length > 0) throw new IronicError(400, `Nodes cannot be found: ${unknown.join(', ')}`)
  return idents.map((ident) => uuidOf(ident)!)
}
