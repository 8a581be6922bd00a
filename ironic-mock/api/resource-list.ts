import { defined } from '../../base/runtime/index.js'
import {
  IronicError,
  ironicErrors,
  RESOURCE_FIELDS,
  formatClientValue,
  type JsonObject,
  type ResourceKind,
  type ResourceRecords,
} from '../../base/wire/index.js'
import type { ResourceQuery } from '../store/store.js'
import type { Backend, IronicApiCall } from './call.js'
import { isLogicalName, isUuid } from './formats.js'
import { renderPage, type Paging, type PagingArgs } from './listing.js'
import { refuseNewerNames, renderResource } from './resource-view.js'

export interface ResourceListOptions<Kind extends ResourceKind> {
  readonly query?: Pick<ResourceQuery<Kind>, 'node_uuid' | 'where'>
  /** Path of `next`, below `/v1`; by default that of the resource's list. */
  readonly url?: string
  /** Fields to show; undefined for all. */
  readonly fields: readonly string[] | undefined
  /** Arguments that `next` repeats. */
  readonly repeated?: Readonly<Record<string, string | boolean | null | undefined>>
}

/** One page of the records of a kind. */
export function listResources<Kind extends ResourceKind>(
  kind: Kind,
  call: IronicApiCall<PagingArgs>,
  { store }: Backend,
  { query = {}, url, fields, repeated = {} }: ResourceListOptions<Kind>,
): { body: JsonObject } {
  const { plural, path } = RESOURCE_FIELDS[kind]
  const { version, links, args } = call
  refuseNewerNames(kind, [...(fields ?? []), args.sort_key ?? ''], version)
  const paging = readResourcePaging(kind, args)
  const table = store.records.resources(kind)
  if (paging.marker && !table.byUuid.has(paging.marker)) throw ironicErrors.resourceGone(kind, paging.marker)
  const records = store.resourcesNow(kind, {
    ...query,
    ...paging,
    sortKey: paging.sortKey as keyof ResourceRecords[Kind],
  })
  // Lists of portgroups hide nothing from older clients.
  const shownTo = kind === 'portgroup' ? Infinity : version
  const items = records.map((record) => renderResource(kind, record, { links, version: shownTo }, fields))
  const more = { ...repeated, fields: fields?.join(',') }
  return {
    body: renderPage(plural, items, paging, links.href(url ?? path), more, formatClientValue(records.at(-1)?.uuid)),
  }
}

function readResourcePaging(kind: ResourceKind, args: PagingArgs): Paging {
  const limit = args.limit ?? Infinity
  if (limit <= 0) throw ironicErrors.limitNotPositive()
  const sortDir = args.sort_dir ?? 'asc'
  if (sortDir !== 'asc' && sortDir !== 'desc') throw ironicErrors.sortDir(sortDir)
  const sortKey = args.sort_key ?? 'id'
  const { own, notSortable } = RESOURCE_FIELDS[kind]
  if (notSortable.includes(sortKey)) throw ironicErrors.notSortable(sortKey)
  if (sortKey !== 'id' && !own.some(({ name }) => name === sortKey && name !== 'node_uuid'))
    throw ironicErrors.sortKey(sortKey)
  return { limit, sortKey, sortDir, ...defined({ marker: args.marker || undefined }) }
}

/**
 * Finds the record of a path, by uuid or name.
 *
 * @throws IronicError 404
 */
export function findResource<Kind extends ResourceKind>(
  kind: Kind,
  { store }: Backend,
  ident: string,
): ResourceRecords[Kind] {
  const table = store.records.resources(kind)
  const found = isUuid(ident) ? table.byUuid.get(ident.toLowerCase()) : table.find(ident)
  if (!found) throw ironicErrors.resourceGone(kind, ident)
  return found
}

/** Refuses an ident that can be neither uuid nor name, in the router's shape. */
export function checkRoutedIdent(what: string, ident: string): string {
  if (!isUuid(ident) && !isLogicalName(ident)) throw ironicErrors.badIdent(what, ident)
  return ident
}

/** Answer to a GET of one record. */
export function showResource<Kind extends ResourceKind>(
  kind: Kind,
  call: IronicApiCall<{ fields?: string[] | null }>,
  record: ResourceRecords[Kind],
): { body: JsonObject } {
  const fields = call.args.fields ?? undefined
  if (fields) refuseNewerNames(kind, fields, call.version)
  return { body: renderResource(kind, record, call, fields) }
}

/** Answer to a POST. */
export function createdAnswer<Kind extends ResourceKind>(
  kind: Kind,
  call: IronicApiCall<object>,
  record: ResourceRecords[Kind],
): { body: JsonObject; location: string } {
  return {
    body: renderResource(kind, record, call),
    location: call.links.href(`${RESOURCE_FIELDS[kind].path}/${record.uuid}`),
  }
}

/** Node that a body or filter refers to; an IronicError with `status` when there is none. */
export function nodeOr(status: number, { store }: Backend, ident: string) {
  const { nodes, nodesByName } = store.records
  const found = nodes.get(ident.toLowerCase()) ?? nodes.get(nodesByName.get(ident) ?? '')
  if (!found) throw new IronicError(status, `Node ${ident} could not be found.`)
  return found.record
}
