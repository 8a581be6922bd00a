import { arg, type IronicOperation } from '../ironic-operation.js'
import { chassisSchema } from '../resource-schemas.js'
import { patchSchema } from '../ironic-schemas.js'
import { checkedList, checkedOne, fieldsOnly, pagingByUuid, fieldSelection } from './list-arguments.js'
import { nodeFilters } from './node-operations.js'

const chassisFieldNames = ['created_at', 'description', 'extra', 'links', 'nodes', 'updated_at', 'uuid']

export const CHASSIS = [
  {
    id: 'chassis.list',
    method: 'GET',
    path: '/v1/chassis',
    since: 1,
    query: { ...pagingByUuid, ...fieldSelection },
    querySchema: checkedList(chassisFieldNames),
    status: 200,
  },
  {
    id: 'chassis.detail',
    method: 'GET',
    path: '/v1/chassis/detail',
    since: 1,
    query: pagingByUuid,
    querySchema: checkedList(chassisFieldNames),
    status: 200,
  },
  {
    id: 'chassis.create',
    method: 'POST',
    path: '/v1/chassis',
    also: ['/v1/chassis/{document}'],
    since: 1,
    body: { document: chassisSchema, label: 'chassis' },
    status: 201,
  },
  {
    id: 'chassis.get',
    method: 'GET',
    path: '/v1/chassis/{chassis_uuid}',
    also: ['/v1/chassis/{chassis_uuid}/{fields}'],
    since: 1,
    query: { chassis_uuid: arg.uuid, ...fieldsOnly },
    querySchema: checkedOne(chassisFieldNames),
    status: 200,
  },
  {
    id: 'chassis.patch',
    method: 'PATCH',
    path: '/v1/chassis/{chassis_uuid}',
    also: ['/v1/chassis'],
    since: 1,
    query: { chassis_uuid: arg.string },
    querySchema: { properties: { chassis_uuid: { type: 'string', format: 'uuid' } } },
    required: ['chassis_uuid'],
    body: { document: patchSchema, label: 'patch' },
    status: 200,
  },
  {
    id: 'chassis.delete',
    method: 'DELETE',
    path: '/v1/chassis/{chassis_uuid}',
    also: ['/v1/chassis'],
    since: 1,
    query: { chassis_uuid: arg.uuid },
    required: ['chassis_uuid'],
    status: 204,
  },
  {
    id: 'chassis.nodes',
    method: 'GET',
    path: '/v1/chassis/{chassis_uuid}/nodes',
    since: 1,
    query: { ...nodeFilters, ...fieldSelection },
    status: 200,
  },
  {
    id: 'chassis.nodes.detail',
    method: 'GET',
    path: '/v1/chassis/{chassis_uuid}/nodes/detail',
    since: 1,
    query: nodeFilters,
    status: 200,
  },
] as const satisfies readonly IronicOperation[]
