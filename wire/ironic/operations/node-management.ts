import { arg, type Operation } from '../operation.js'

export const NODE_MANAGEMENT = [
  {
    id: 'nodes.bootDevice.get',
    method: 'GET',
    path: '/v1/nodes/{node_ident}/management/boot_device',
    since: 1,
    status: 200,
  },
  {
    id: 'nodes.bootDevice.set',
    method: 'PUT',
    path: '/v1/nodes/{node_ident}/management/boot_device',
    since: 1,
    body: { args: { boot_device: arg.string, persistent: arg.boolean } },
    required: ['boot_device'],
    status: 204,
  },
  {
    id: 'nodes.bootDevice.supported',
    method: 'GET',
    path: '/v1/nodes/{node_ident}/management/boot_device/supported',
    since: 1,
    status: 200,
  },
] as const satisfies readonly Operation[]
