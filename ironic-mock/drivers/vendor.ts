import { IronicError, formatClientValue, type JsonObject, type NodeRecord } from '../../base/wire/index.js'
import type { ShownVendorMethod, VendorMethod } from './hardware-type.js'
import { HARDWARE_TYPES, implementationOf } from './hardware-types.js'

const methodsOf = (node: Readonly<NodeRecord>, types = HARDWARE_TYPES): Readonly<Record<string, VendorMethod>> =>
  implementationOf('vendor', node.vendor_interface, types)?.methods ?? {}

export const vendorMethods = (
  node: Readonly<NodeRecord>,
  types = HARDWARE_TYPES,
): Readonly<Record<string, ShownVendorMethod>> =>
  Object.fromEntries(Object.entries(methodsOf(node, types)).map(([name, { shown }]) => [name, shown]))

/**
 * Finds the called method and checks its arguments.
 *
 * @throws IronicError 400
 */
export function calledVendorMethod(
  node: Readonly<NodeRecord>,
  { method: name, http, data }: { method: string; http: string; data: JsonObject },
): ShownVendorMethod {
  const methods = methodsOf(node)
  const found = Object.hasOwn(methods, name) ? methods[name] : undefined
  if (!found) throw new IronicError(400, `No handler for method ${name}`)
  if (!found.shown.http_methods.includes(http))
    throw new IronicError(400, `The method ${name} does not support HTTP ${http}`)
  found.check?.(data)
  return found.shown
}

/** Whether a reset of the BMC is a warm one, which is the default; text other than a word for yes means no. */
export const isWarm = ({ warm = true }: JsonObject): boolean =>
  ['1', 't', 'true', 'on', 'y', 'yes'].includes(formatClientValue(warm).trim().toLowerCase())
