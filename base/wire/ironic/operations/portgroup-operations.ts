import { arg, type IronicOperation } from '../ironic-operation.js'
import { portgroupSchema, queryObjectSchema } from '../resource-schemas.js'
import { patchSchema, type JsonSchema } from '../ironic-schemas.js'
import {
  checkedList,
  checkedOne,
  fieldsOnly,
  paging,
  pagingByUuid,
  fieldSelection,
  unsupportedVersion,
} from './list-arguments.js'

const portgroupFieldNames = [
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
const filterSchema = queryObjectSchema(checkedList(portgroupFieldNames, 'marker').properties as JsonSchema, {
  address: { type: 'string', format: 'mac-address' },
})
const portgroupFiltersSince = { shard: 106, conductor_groups: 99 } as const
const portgroupBase = { since: 23, hidden: unsupportedVersion } as const
const sub = { since: 24, hidden: 'route' } as const

export const PORTGROUPS = [
  {
    id: 'portgroups.list',
    method: 'GET',
    path: '/v1/portgroups',
    ...portgroupBase,
    query: { ...filters, ...fieldSelection },
    later: portgroupFiltersSince,
    querySchema: filterSchema,
    status: 200,
  },
  {
    id: 'portgroups.detail',
    method: 'GET',
    path: '/v1/portgroups/detail',
    ...portgroupBase,
    query: filters,
    later: portgroupFiltersSince,
    querySchema: filterSchema,
    status: 200,
  },
  {
    id: 'portgroups.create',
    method: 'POST',
    path: '/v1/portgroups',
    also: ['/v1/portgroups/{document}'],
    ...portgroupBase,
    body: { document: portgroupSchema, label: 'portgroup' },
    status: 201,
  },
  {
    id: 'portgroups.get',
    method: 'GET',
    path: '/v1/portgroups/{portgroup_ident}',
    also: ['/v1/portgroups/{portgroup_ident}/{fields}'],
    ...portgroupBase,
    query: fieldsOnly,
    querySchema: checkedOne(portgroupFieldNames),
    status: 200,
  },
  {
    id: 'portgroups.patch',
    method: 'PATCH',
    path: '/v1/portgroups/{portgroup_ident}',
    also: ['/v1/portgroups'],
    ...portgroupBase,
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
    ...portgroupBase,
    query: { portgroup_ident: arg.string },
    required: ['portgroup_ident'],
    status: 204,
  },
  {
    id: 'portgroups.ports',
    method: 'GET',
    path: '/v1/portgroups/{portgroup_ident}/ports',
    ...sub,
    query: { ...pagingByUuid, ...fieldSelection },
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
    query: { ...filters, ...fieldSelection },
    later: portgroupFiltersSince,
    querySchema: filterSchema,
    status: 200,
  },
  {
    id: 'nodes.portgroups.detail',
    method: 'GET',
    path: '/v1/nodes/{node_ident}/portgroups/detail',
    ...sub,
    query: filters,
    later: portgroupFiltersSince,
    querySchema: filterSchema,
    status: 200,
  },
] as const satisfies readonly IronicOperation[]
