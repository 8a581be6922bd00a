import {
  allocationSchema,
  allocationWithoutNodeSchema,
  IronicError,
  ironicErrors,
  PATCHABLE,
  pythonRepr,
  RESOURCE_FIELDS,
  textOf,
  type AllocationRecord,
  type JsonObject,
} from '../../../wire/index.js'
import type { NewAllocation } from '../../conductor/core/conductor.js'
import type { Backend, Call, HandlersOf } from '../call.js'
import { findNode } from '../nodes/find-node.js'
import { isUuid } from '../formats.js'
import type { PatchOperation } from '../json-patch.js'
import { created, findResource, listResources, nodeOr, showResource } from '../resource-list.js'
import { checkPatchable, isName, patched, patchValues, readForms } from '../resource-patch.js'
import { checkDocument } from '../schema.js'

/** The schema of the query knows the owner from 1.60 on. */
function refuseOwnerBefore60({ version, args }: Call<{ fields?: string[] | null }>): void {
  if (version >= 60 || !args.fields?.includes('owner')) return
  const { own, derived } = RESOURCE_FIELDS.allocation
  const names = [...own, ...derived].map(({ name }) => name).filter((name) => name !== 'owner')
  throw ironicErrors.schema(undefined, `'owner' is not one of ${pythonRepr([...names, 'links'].sort())}`)
}

/** Neither a name nor a uuid: upstream says so, with 400, where it looks an allocation up. */
function named({ args }: Call<{ allocation_ident: string }>, backend: Backend): AllocationRecord {
  const { allocation_ident: ident } = args
  if (!isUuid(ident) && !isName(ident))
    throw new IronicError(400, `Expected a logical name or UUID but received ${ident}.`)
  return findResource('allocation', backend, ident)
}

const ofNode = ({ store }: Backend, uuid: string) => store.records.resources('allocation').of(uuid)[0]
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
    return showResource('allocation', call, named(call, backend))
  },

  'allocations.create': async (call, backend) => {
    const given = call.document as JsonObject
    if (call.version < 58) checkDocument(allocationWithoutNodeSchema, undefined, given)
    if (call.version < 60 && 'owner' in given) throw ironicErrors.notAcceptable()
    if (given.name && !isName(given.name))
      throw new IronicError(400, `Cannot create allocation with invalid name '${textOf(given.name)}'`)
    const node = given.node ? nodeOr(400, backend, textOf(given.node)) : undefined
    const resource_class = (given.resource_class as string | null | undefined) || node?.resource_class || null
    if (!node && !resource_class)
      throw new IronicError(400, 'The resource_class field is mandatory when not backfilling')
    const { uuid } = readForms(given, { uuid: 'uuid' })
    const fields: NewAllocation = {
      name: (given.name as string | null | undefined) ?? null,
      resource_class,
      traits: (given.traits as string[] | null | undefined) ?? [],
      candidate_nodes: candidates(backend, (given.candidate_nodes as string[] | null | undefined) ?? []),
      extra: (given.extra as JsonObject | null | undefined) ?? {},
      owner: (given.owner as string | null | undefined) ?? null,
    }
    const wanted = (uuid as string | null | undefined) ?? node?.instance_uuid
    if (wanted) fields.uuid = wanted
    return created('allocation', call, await backend.conductor.resources.allocate(fields, node?.uuid))
  },

  'allocations.patch': async (call, backend) => {
    const { uuid } = named(call, backend)
    const patch = call.document as PatchOperation[]
    checkPatchable(patch, PATCHABLE.allocation)
    for (const name of patchValues(patch, 'name'))
      if (name && !isName(name))
        throw new IronicError(400, `Cannot update allocation with invalid name '${textOf(name)}'`)
    const record = await backend.conductor.resources.update('allocation', uuid, (current) => {
      const { name = null, extra } = patched(current, patch, allocationSchema)
      return { name: name as string | null, extra: (extra as JsonObject | null) ?? {} }
    })
    return showResource('allocation', { ...call, args: {} }, record)
  },

  'allocations.delete': async (call, backend) => {
    await backend.conductor.resources.remove('allocation', named(call, backend).uuid)
    return {}
  },

  'nodes.allocation': (call, backend) => {
    // In a read an unknown node is a 400, when the allocation is deleted a 404.
    const { node_ident: ident } = call.args
    const found = ofNode(backend, nodeOr(400, backend, ident).uuid)
    if (!found) throw noneOf(ident)
    return showResource('allocation', call, found)
  },
  'nodes.allocation.delete': async (call, backend) => {
    const { node_ident: ident } = call.args
    const found = ofNode(backend, (await findNode(call, backend, ident)).uuid)
    if (!found) throw noneOf(ident)
    await backend.conductor.resources.remove('allocation', found.uuid)
    return {}
  },
}

/** The uuids of the nodes that are named; all that are unknown are told. */
function candidates(backend: Backend, idents: readonly string[]): string[] {
  const { nodes, nodesByName } = backend.store.records
  const uuidOf = (ident: string) => (nodes.has(ident.toLowerCase()) ? ident.toLowerCase() : nodesByName.get(ident))
  const unknown = idents.filter((ident) => uuidOf(ident) === undefined)
  if (unknown.length > 0) throw new IronicError(400, `Nodes cannot be found: ${unknown.join(', ')}`)
  return idents.map((ident) => uuidOf(ident)!)
}
