import { defined } from '../../base/runtime/index.js'
import { ironicErrors, SINCE, formatClientValue, type JsonObject, type Microversion } from '../../base/wire/index.js'
import { checkRequestedFields, checkSortKey } from './render-node.js'

/** Longest page of lists without `[api]max_limit`, which the API sets for every call. */
export const MAX_LIMIT = 1000

export interface PagingArgs {
  limit?: number | null
  marker?: string | null
  sort_key?: string | null
  sort_dir?: string | null
}

export interface Paging {
  readonly limit: number
  readonly marker?: string
  readonly sortKey: string
  readonly sortDir: 'asc' | 'desc'
}

export function readPaging(resource: 'node' | 'port', args: PagingArgs, version: Microversion): Paging {
  const limit = args.limit ?? MAX_LIMIT
  if (limit <= 0) throw ironicErrors.limitNotPositive()
  const sortDir = args.sort_dir ?? 'asc'
  if (sortDir !== 'asc' && sortDir !== 'desc') throw ironicErrors.sortDir(sortDir)
  const sortKey = args.sort_key || 'id'
  checkSortKey(resource, sortKey, version)
  return { limit, sortKey, sortDir, ...defined({ marker: args.marker || undefined }) }
}

/** Fields that a list shows: the requested ones, all (undefined) with `detail`, or the resource's short list. */
export function readSelection(
  resource: 'node' | 'port',
  args: { fields?: string[] | null; detail?: boolean | null },
  version: Microversion,
  short: readonly string[],
): readonly string[] | undefined {
  const fields = readFields(resource, args.fields, version)
  if (args.detail !== undefined && args.detail !== null && version < SINCE.detailQuery)
    throw ironicErrors.detailTooNew(args.detail ? 'True' : 'False')
  if (fields && args.detail) throw ironicErrors.fieldsAndDetail()
  return fields ?? (args.detail ? undefined : short)
}

export function readFields(
  resource: 'node' | 'port',
  fields: readonly string[] | null | undefined,
  version: Microversion,
): readonly string[] | undefined {
  if (!fields) return undefined
  if (version < SINCE.fieldsQuery) throw ironicErrors.notAcceptable()
  checkRequestedFields(resource, fields, version)
  return fields
}

/**
 * A page under its plural name, with `next` when it is full. As upstream, `next` repeats the sorting and the parameters
 * in `repeated`, and forgets the other filters (Ironic's source).
 *
 * @param marker uuid after which the next page begins, by default that of the last item
 */
export function renderPage(
  plural: string,
  items: readonly JsonObject[],
  paging: Paging,
  url: string,
  repeated: Readonly<Record<string, string | boolean | null | undefined>> = {},
  marker?: string,
): JsonObject {
  const next = nextPage(items.length, paging, url, repeated, marker ?? formatClientValue(items.at(-1)?.uuid))
  return next === undefined ? { [plural]: items } : { [plural]: items, next }
}

/** URL of the next page; undefined after a page that was not full. */
export function nextPage(
  length: number,
  paging: Paging,
  url: string,
  repeated: Readonly<Record<string, string | boolean | null | undefined>>,
  marker: string,
): string | undefined {
  if (length === 0 || length < paging.limit) return undefined
  const query = [`sort_key=${paging.sortKey}`, `sort_dir=${paging.sortDir}`]
  for (const [name, value] of Object.entries(repeated))
    if (value !== undefined && value !== null)
      query.push(`${name}=${value === true ? 'True' : value === false ? 'False' : value}`)
  query.push(`limit=${paging.limit}`, `marker=${marker}`)
  return `${url}?${query.join('&')}`
}
