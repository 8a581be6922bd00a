import { arg, type IronicOperation } from '../ironic-operation.js'
import { patchSchema, portSchema } from '../ironic-schemas.js'
import { pagingByUuid, fieldSelection } from './list-arguments.js'

const portFilters = {
  ...pagingByUuid,
  node: arg.ident,
  node_uuid: arg.uuid,
  address: arg.mac,
  portgroup: arg.ident,
  shard: arg.list,
  conductor_groups: arg.list,
  description_contains: arg.string,
} as const

const portFiltersSince = { description_contains: 97, conductor_groups: 99 } as const

export const PORTS = [
  {
    id: 'ports.list',
    method: 'GET',
    path: '/v1/ports',
    since: 1,
    query: { ...portFilters, ...fieldSelection },
    later: portFiltersSince,
    status: 200,
  },
  {
    id: 'ports.detail',
    method: 'GET',
    path: '/v1/ports/detail',
    since: 1,
    query: portFilters,
    later: portFiltersSince,
    status: 200,
  },
  {
    id: 'ports.create',
    method: 'POST',
    path: '/v1/ports',
    also: ['/v1/ports/{document}'],
    since: 1,
    body: { document: portSchema, label: 'port' },
    status: 201,
  },
  {
    id: 'ports.get',
    method: 'GET',
    path: '/v1/ports/{port_ident}',
    also: ['/v1/ports/{port_ident}/{fields}'],
    since: 1,
    query: { port_ident: arg.ident, fields: arg.list },
    status: 200,
  },
  {
    id: 'ports.patch',
    method: 'PATCH',
    path: '/v1/ports/{port_ident}',
    also: ['/v1/ports'],
    since: 1,
    query: { port_ident: arg.ident },
    required: ['port_ident'],
    body: { document: patchSchema, label: 'patch' },
    status: 200,
  },
  {
    id: 'ports.delete',
    method: 'DELETE',
    path: '/v1/ports/{port_uuid}',
    also: ['/v1/ports'],
    since: 1,
    query: { port_uuid: arg.uuid },
    required: ['port_uuid'],
    status: 204,
  },
] as const satisfies readonly IronicOperation[]
