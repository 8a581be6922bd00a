import { arg, type IronicOperation } from '../ironic-operation.js'
import { allocationSchema } from '../resource-schemas.js'
import { patchSchema } from '../ironic-schemas.js'
import { checkedList, checkedOne, fieldsOnly, paging, hiddenResource } from './list-arguments.js'

const allocationFieldNames = [
  'candidate_nodes',
  'created_at',
  'extra',
  'last_error',
  'links',
  'name',
  'node_uuid',
  'resource_class',
  'state',
  'traits',
  'updated_at',
  'uuid',
  'owner',
]
const { reading, writing } = hiddenResource('allocations')

export const ALLOCATIONS = [
  {
    id: 'allocations.list',
    method: 'GET',
    path: '/v1/allocations',
    since: 52,
    hidden: reading,
    query: {
      ...paging,
      ...fieldsOnly,
      node: arg.string,
      resource_class: arg.string,
      state: arg.string,
      owner: arg.string,
    },
    querySchema: checkedList(allocationFieldNames, 'marker'),
    status: 200,
  },
  {
    // The members of the body depend on the microversion: the handler checks them.
    id: 'allocations.create',
    method: 'POST',
    path: '/v1/allocations',
    also: ['/v1/allocations/{document}'],
    since: 52,
    hidden: writing,
    body: { document: allocationSchema },
    status: 201,
  },
  {
    id: 'allocations.get',
    method: 'GET',
    path: '/v1/allocations/{allocation_ident}',
    also: ['/v1/allocations/{allocation_ident}/{fields}'],
    since: 52,
    hidden: reading,
    query: fieldsOnly,
    querySchema: checkedOne(allocationFieldNames),
    status: 200,
  },
  {
    id: 'allocations.patch',
    method: 'PATCH',
    path: '/v1/allocations/{allocation_ident}',
    also: ['/v1/allocations'],
    since: 57,
    hidden: hiddenResource('updating allocations').writing,
    query: { allocation_ident: arg.string },
    required: ['allocation_ident'],
    body: { document: patchSchema },
    status: 200,
  },
  {
    id: 'allocations.delete',
    method: 'DELETE',
    path: '/v1/allocations/{allocation_ident}',
    also: ['/v1/allocations'],
    since: 52,
    hidden: writing,
    query: { allocation_ident: arg.string },
    required: ['allocation_ident'],
    status: 204,
  },
  {
    id: 'nodes.allocation',
    method: 'GET',
    path: '/v1/nodes/{node_ident}/allocation',
    since: 52,
    hidden: 'route',
    query: fieldsOnly,
    status: 200,
  },
  {
    id: 'nodes.allocation.delete',
    method: 'DELETE',
    path: '/v1/nodes/{node_ident}/allocation',
    since: 52,
    hidden: 'route',
    status: 204,
  },
] as const satisfies readonly IronicOperation[]
