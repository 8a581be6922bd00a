import { arg, type Operation } from '../operation.js'
import { portgroupSchema, queryOf } from '../resource-schemas.js'
import { patchSchema, type JsonSchema } from '../schemas.js'
import { checkedList, checkedOne, fieldsOnly, paging, pagingByUuid, selected, unsupported } from './listing.js'

const fields = [
  'address',
  'category',
  'created_at',
  'dynamic_portgroup',
  'extra',
  'internal_info',
  'links',
  'mode',
  'name',
  'node_uuid',
  'physical_network',
  'ports',
  'properties',
  'standalone_ports_supported',
  'updated_at',
  'uuid',
]
const filters = {
  ...paging,
  node: arg.string,
  address: arg.string,
  shard: arg.list,
  conductor_groups: arg.list,
} as const
const filterSchema = queryOf(checkedList(fields, 'marker').properties as JsonSchema, {
  address: { type: 'string', format: 'mac-address' },
})
const later = { shard: 106, conductor_groups: 99 } as const
const base = { since: 23, hidden: unsupported } as const
const sub = { since: 24, hidden: 'route' } as const

export const PORTGROUPS = [
  {
    id: 'portgroups.list',
    method: 'GET',
    path: '/v1/portgroups',
    ...base,
    query: { ...filters, ...selected },
    later,
    querySchema: filterSchema,
    status: 200,
  },
  {
    id: 'portgroups.detail',
    method: 'GET',
    path: '/v1/portgroups/detail',
    ...base,
    query: filters,
    later,
    querySchema: filterSchema,
    status: 200,
  },
  {
    id: 'portgroups.create',
    method: 'POST',
    path: '/v1/portgroups',
    also: ['/v1/portgroups/{document}'],
    ...base,
    body: { document: portgroupSchema, label: 'portgroup' },
    status: 201,
  },
  {
    id: 'portgroups.get',
    method: 'GET',
    path: '/v1/portgroups/{portgroup_ident}',
    also: ['/v1/portgroups/{portgroup_ident}/{fields}'],
    ...base,
    query: fieldsOnly,
    querySchema: checkedOne(fields),
    status: 200,
  },
  {
    id: 'portgroups.patch',
    method: 'PATCH',
    path: '/v1/portgroups/{portgroup_ident}',
    also: ['/v1/portgroups'],
    ...base,
    query: { portgroup_ident: arg.string },
    required: ['portgroup_ident'],
    body: { document: patchSchema, label: 'patch' },
    status: 200,
  },
  {
    id: 'portgroups.delete',
    method: 'DELETE',
    path: '/v1/portgroups/{portgroup_ident}',
    also: ['/v1/portgroups'],
    ...base,
    query: { portgroup_ident: arg.string },
    required: ['portgroup_ident'],
    status: 204,
  },
  {
    id: 'portgroups.ports',
    method: 'GET',
    path: '/v1/portgroups/{portgroup_ident}/ports',
    ...sub,
    query: { ...pagingByUuid, ...selected },
    status: 200,
  },
  {
    id: 'portgroups.ports.detail',
    method: 'GET',
    path: '/v1/portgroups/{portgroup_ident}/ports/detail',
    ...sub,
    query: pagingByUuid,
    status: 200,
  },
  {
    id: 'nodes.portgroups',
    method: 'GET',
    path: '/v1/nodes/{node_ident}/portgroups',
    ...sub,
    query: { ...filters, ...selected },
    later,
    querySchema: filterSchema,
    status: 200,
  },
  {
    id: 'nodes.portgroups.detail',
    method: 'GET',
    path: '/v1/nodes/{node_ident}/portgroups/detail',
    ...sub,
    query: filters,
    later,
    querySchema: filterSchema,
    status: 200,
  },
] as const satisfies readonly Operation[]
