import { arg, type Operation } from '../operation.js'
import { checkedList, checkedOne, paging, selected, unsupported } from './listing.js'

const fields = ['alive', 'conductor_group', 'created_at', 'drivers', 'hostname', 'links', 'updated_at']

export const CONDUCTORS = [
  {
    id: 'conductors.list',
    method: 'GET',
    path: '/v1/conductors',
    since: 49,
    hidden: unsupported,
    query: { ...paging, ...selected },
    querySchema: checkedList(fields),
    status: 200,
  },
  {
    id: 'conductors.get',
    method: 'GET',
    path: '/v1/conductors/{hostname}',
    also: ['/v1/conductors/{hostname}/{fields}'],
    since: 49,
    hidden: unsupported,
    query: { fields: arg.list },
    querySchema: checkedOne(fields),
    status: 200,
  },
] as const satisfies readonly Operation[]
