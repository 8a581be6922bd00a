import { arg, type IronicOperation } from '../ironic-operation.js'
import { inspectionDataSchema } from '../ironic-schemas.js'

export const RAMDISK = [
  {
    id: 'lookup',
    method: 'GET',
    path: '/v1/lookup',
    since: 22,
    hidden: 'resource',
    query: { addresses: arg.list, node_uuid: arg.uuid },
    status: 200,
  },
  {
    id: 'heartbeat',
    method: 'POST',
    path: '/v1/heartbeat/{node_ident}',
    also: ['/v1/heartbeat'],
    since: 22,
    hidden: 'resource',
    query: { node_ident: arg.ident },
    required: ['node_ident', 'callback_url'],
    body: {
      args: {
        callback_url: arg.string,
        agent_version: arg.string,
        agent_token: arg.string,
        agent_verify_ca: arg.string,
        agent_status: arg.string,
        agent_status_message: arg.string,
      },
    },
    status: 202,
  },
  {
    // IPA before 1.84 existed calls without any version, which is 1.1; nothing between is served.
    id: 'continueInspection',
    method: 'POST',
    path: '/v1/continue_inspection',
    since: 1,
    query: { node_uuid: arg.uuid },
    body: { document: inspectionDataSchema, label: 'data' },
    status: 202,
  },
] as const satisfies readonly IronicOperation[]
