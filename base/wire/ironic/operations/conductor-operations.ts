import { arg, type IronicOperation } from '../ironic-operation.js'
import { checkedList, checkedOne, paging, fieldSelection, unsupportedVersion } from './list-arguments.js'

const conductorFieldNames = ['alive', 'conductor_group', 'created_at', 'drivers', 'hostname', 'links', 'updated_at']

export const CONDUCTORS = [
  {
    id: 'conductors.list',
    method: 'GET',
    path: '/v1/conductors',
    since: 49,
    hidden: unsupportedVersion,
    query: { ...paging, ...fieldSelection },
    querySchema: checkedList(conductorFieldNames),
    status: 200,
  },
  {
    id: 'conductors.get',
    method: 'GET',
    path: '/v1/conductors/{hostname}',
    also: ['/v1/conductors/{hostname}/{fields}'],
    since: 49,
    hidden: unsupportedVersion,
    query: { fields: arg.list },
    querySchema: checkedOne(conductorFieldNames),
    status: 200,
  },
] as const satisfies readonly IronicOperation[]
