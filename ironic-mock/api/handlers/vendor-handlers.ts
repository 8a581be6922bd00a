import { IronicError, LOGICAL_DISK_PROPERTIES } from '../../../base/wire/index.js'
import type { Backend, IronicApiCall, HandlersOf, Reply } from '../call.js'
import { findCallNode } from '../nodes/find-node.js'

interface NodeMethod {
  node_ident: string
  method: string
}

const callNodeMethod =
  (http: string) =>
  async (call: IronicApiCall<NodeMethod>, backend: Backend): Promise<Reply> => {
    const { uuid } = findCallNode(call, backend, call.args.node_ident)
    const { method } = call.args
    const { isSync, value } = await backend.conductor.hardware.callVendor(uuid, { method, http, data: call.document })
    // An asynchronous method answers 202 without a body, a synchronous one without a value 200 without a body.
    if (!isSync) return { status: 202 }
    return value === null ? {} : { body: value }
  }

/** Always refuses: no driver has vendor methods of its own. */
const callDriverMethod = (
  { args }: IronicApiCall<{ driver_name: string; method: string }>,
  backend: Backend,
): Reply => {
  backend.conductor.askDriver(args.driver_name, null)
  throw new IronicError(400, `No handler for method ${args.method}`)
}

export const vendorHandlers: HandlersOf<
  | 'nodes.vendor.methods'
  | 'nodes.vendor.get'
  | 'nodes.vendor.post'
  | 'nodes.vendor.put'
  | 'nodes.vendor.patch'
  | 'nodes.vendor.delete'
  | 'drivers.vendor.methods'
  | 'drivers.vendor.get'
  | 'drivers.vendor.post'
  | 'drivers.vendor.put'
  | 'drivers.vendor.patch'
  | 'drivers.vendor.delete'
  | 'drivers.raidProperties'
> = {
  'nodes.vendor.methods': async (call, backend) => {
    const { uuid } = findCallNode(call, backend, call.args.node_ident)
    return { body: await backend.conductor.hardware.vendorMethods(uuid) }
  },
  'nodes.vendor.get': callNodeMethod('GET'),
  'nodes.vendor.post': callNodeMethod('POST'),
  'nodes.vendor.put': callNodeMethod('PUT'),
  'nodes.vendor.patch': callNodeMethod('PATCH'),
  'nodes.vendor.delete': callNodeMethod('DELETE'),

  'drivers.vendor.methods': ({ args }, backend) => {
    backend.conductor.askDriver(args.driver_name, 'vendor methods')
    return { body: {} }
  },
  'drivers.vendor.get': callDriverMethod,
  'drivers.vendor.post': callDriverMethod,
  'drivers.vendor.put': callDriverMethod,
  'drivers.vendor.patch': callDriverMethod,
  'drivers.vendor.delete': callDriverMethod,

  'drivers.raidProperties': ({ args }, backend) => {
    backend.conductor.askDriver(args.driver_name, 'RAID')
    return { body: LOGICAL_DISK_PROPERTIES }
  },
}
