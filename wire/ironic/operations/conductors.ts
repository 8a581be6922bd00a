import { arg, type Operation } from '../operation.js'
import { paging, selected } from './listing.js'

export const CONDUCTORS = [
  {
    id: 'conductors.list',
    method: 'GET',
    path: '/v1/conductors',
    since: 49,
    hidden: 'resource',
    query: { ...paging, ...selected },
    status: 200,
  },
  {
    id: 'conductors.get',
    method: 'GET',
    path: '/v1/conductors/{hostname}',
    since: 49,
    hidden: 'resource',
    query: { fields: arg.list },
    status: 200,
  },
] as const satisfies readonly Operation[]
