import { arg, type IronicOperation } from '../ironic-operation.js'
import { checkedOne } from './list-arguments.js'

/** In upstream's order. */
const INTERFACES = [
  'boot',
  'console',
  'deploy',
  'inspect',
  'management',
  'network',
  'power',
  'raid',
  'vendor',
  'storage',
  'rescue',
  'bios',
  'firmware',
]
const driverFieldNames = [
  'hosts',
  'links',
  'name',
  ...INTERFACES.flatMap((name) => [`default_${name}_interface`, `enabled_${name}_interfaces`]),
  'properties',
  'type',
]

/** The vendor method checks its arguments itself. */
const VENDOR_CALL = {
  path: '/v1/drivers/{driver_name}/vendor_passthru/{method}',
  also: ['/v1/drivers/{driver_name}/vendor_passthru'],
  since: 1,
  query: { method: arg.string },
  required: ['method'],
  body: { document: {}, label: 'data' },
} as const

export const DRIVERS = [
  {
    id: 'drivers.list',
    method: 'GET',
    path: '/v1/drivers',
    since: 1,
    query: { type: arg.string, detail: arg.boolean, fields: arg.list },
    querySchema: checkedOne(driverFieldNames),
    status: 200,
  },
  {
    id: 'drivers.get',
    method: 'GET',
    path: '/v1/drivers/{driver_name}',
    also: ['/v1/drivers/{driver_name}/{fields}'],
    since: 1,
    query: { fields: arg.list },
    querySchema: checkedOne(driverFieldNames),
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
  {
    id: 'drivers.raidProperties',
    method: 'GET',
    path: '/v1/drivers/{driver_name}/raid/logical_disk_properties',
    also: ['/v1/drivers/raid/{driver_name}/logical_disk_properties'],
    since: 12,
    hidden: { status: 406, message: 'Request not acceptable.', shape: 'wsme' },
    status: 200,
  },
  {
    id: 'drivers.vendor.methods',
    method: 'GET',
    path: '/v1/drivers/{driver_name}/vendor_passthru/methods',
    also: ['/v1/drivers/vendor_passthru/{driver_name}/methods'],
    since: 1,
    status: 200,
  },
  { id: 'drivers.vendor.get', method: 'GET', ...VENDOR_CALL, status: 200 },
  { id: 'drivers.vendor.post', method: 'POST', ...VENDOR_CALL, status: 200 },
  { id: 'drivers.vendor.put', method: 'PUT', ...VENDOR_CALL, status: 200 },
  { id: 'drivers.vendor.patch', method: 'PATCH', ...VENDOR_CALL, status: 200 },
  { id: 'drivers.vendor.delete', method: 'DELETE', ...VENDOR_CALL, status: 200 },
] as const satisfies readonly IronicOperation[]
