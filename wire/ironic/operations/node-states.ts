import { arg, type Operation } from '../operation.js'

export const NODE_STATES = [
  { id: 'nodes.states', method: 'GET', path: '/v1/nodes/{node_ident}/states', since: 1, status: 200 },
  {
    id: 'nodes.provision',
    method: 'PUT',
    path: '/v1/nodes/{node_ident}/states/provision',
    since: 1,
    body: {
      args: {
        target: arg.string,
        configdrive: arg.configdrive,
        clean_steps: arg.steps,
        deploy_steps: arg.steps,
        rescue_password: arg.string,
        disable_ramdisk: arg.boolean,
        service_steps: arg.steps,
        runbook: arg.string,
      },
    },
    required: ['target'],
    status: 202,
  },
  {
    id: 'nodes.power',
    method: 'PUT',
    path: '/v1/nodes/{node_ident}/states/power',
    since: 1,
    body: { args: { target: arg.string, timeout: arg.integer } },
    required: ['target'],
    status: 202,
  },
  {
    id: 'nodes.maintenance.set',
    method: 'PUT',
    path: '/v1/nodes/{node_ident}/maintenance',
    since: 1,
    body: { args: { reason: arg.string } },
    status: 202,
  },
  {
    id: 'nodes.maintenance.unset',
    method: 'DELETE',
    path: '/v1/nodes/{node_ident}/maintenance',
    since: 1,
    status: 202,
  },
] as const satisfies readonly Operation[]
