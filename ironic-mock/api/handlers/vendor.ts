import { ironicErrors, IronicError, LOGICAL_DISK_PROPERTIES } from '../../../wire/index.js'
import type { Backend, Call, HandlersOf, Reply } from '../call.js'
import { findNode } from '../nodes/find-node.js'

interface NodeMethod {
  node_ident: string
  method: string
}

const ofNode =
  (http: string) =>
  async (call: Call<NodeMethod>, backend: Backend): Promise<Reply> => {
    const { uuid } = await findNode(call, backend, call.args.node_ident)
    const { method } = call.args
    const { waits, value } = await backend.conductor.hardware.callVendor(uuid, { method, http, data: call.document })
    // A method that does not wait answers 202 without a body, one that has nothing to say likewise 200.
    if (!waits) return { status: 202 }
    return value === null ? {} : { body: value }
  }

function checkDriver({ conductor }: Backend, name: string): void {
  if (!conductor.drivers().some((driver) => driver.name === name)) throw ironicErrors.driverUnknown(name)
}

/** No driver has methods of its own, so none is found. */
const ofDriver = ({ args }: Call<{ driver_name: string; method: string }>, backend: Backend): Reply => {
  checkDriver(backend, args.driver_name)
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
    const { uuid } = await findNode(call, backend, call.args.node_ident)
    return { body: await backend.conductor.hardware.vendorMethods(uuid) }
  },
  'nodes.vendor.get': ofNode('GET'),
  'nodes.vendor.post': ofNode('POST'),
  'nodes.vendor.put': ofNode('PUT'),
  'nodes.vendor.patch': ofNode('PATCH'),
  'nodes.vendor.delete': ofNode('DELETE'),

  'drivers.vendor.methods': ({ args }, backend) => {
    checkDriver(backend, args.driver_name)
    return { body: {} }
  },
  'drivers.vendor.get': ofDriver,
  'drivers.vendor.post': ofDriver,
  'drivers.vendor.put': ofDriver,
  'drivers.vendor.patch': ofDriver,
  'drivers.vendor.delete': ofDriver,

  'drivers.raidProperties': ({ args }, backend) => {
    checkDriver(backend, args.driver_name)
    return { body: LOGICAL_DISK_PROPERTIES }
  },
}
