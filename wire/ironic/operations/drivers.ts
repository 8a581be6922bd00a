import { arg, type Operation } from '../operation.js'

export const DRIVERS = [
  {
    id: 'drivers.list',
    method: 'GET',
    path: '/v1/drivers',
    since: 1,
    query: { type: arg.string, detail: arg.boolean, fields: arg.list },
    status: 200,
  },
  {
    id: 'drivers.get',
    method: 'GET',
    path: '/v1/drivers/{driver_name}',
    since: 1,
    query: { fields: arg.list },
    status: 200,
  },
  {
    id: 'drivers.properties',
    method: 'GET',
    path: '/v1/drivers/{driver_name}/properties',
    also: ['/v1/drivers/properties'],
    since: 1,
    query: { driver_name: arg.string },
    required: ['driver_name'],
    status: 200,
  },
] as const satisfies readonly Operation[]
