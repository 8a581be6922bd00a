import { arg, type Hidden } from '../ironic-operation.js'
import { queryObjectSchema, querySchema } from '../resource-schemas.js'

export const paging = { limit: arg.integer, marker: arg.string, sort_key: arg.string, sort_dir: arg.string } as const
export const pagingByUuid = { ...paging, marker: arg.uuid } as const
export const pagingByName = { ...paging, marker: arg.name } as const
export const fieldSelection = { fields: arg.list, detail: arg.boolean } as const
export const fieldsOnly = { fields: arg.list } as const

/** The answer of most resources to clients of a microversion before them. */
export const unsupportedVersion: Hidden = {
  status: 404,
  message: 'The API is not supported for this version',
  shape: 'wsme',
}

/** Refusals for a resource that the microversion does not have yet: 404 for reads, 405 for writes. */
export function hiddenResource(what: string, shape: Hidden['shape'] = 'wsme'): { reading: Hidden; writing: Hidden } {
  const message = `The API version does not allow ${what}`
  return { reading: { status: 404, message, shape }, writing: { status: 405, message, shape } }
}

/** Arguments of a list and of a single resource, where upstream checks the query against a schema. */
export const checkedList = (fields: readonly string[], marker: keyof typeof querySchema | 'none' = 'none') =>
  queryObjectSchema(
    querySchema.sorted,
    ...(marker === 'marker' ? [querySchema.marker] : []),
    querySchema.fields(fields),
  )
export const checkedOne = (fields: readonly string[]) => queryObjectSchema(querySchema.fields(fields))
