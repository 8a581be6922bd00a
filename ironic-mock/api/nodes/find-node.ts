import { ironicErrors, SINCE, type Microversion, type NodeRecord } from '../../../base/wire/index.js'
import type { Backend, IronicApiCall } from '../call.js'
import { isLogicalName, isUuid } from '../formats.js'

/**
 * Finds the node of a path. Names work from microversion 1.5; the router refuses an ident that can be neither UUID nor
 * name. The record is shared: callers must not change it.
 *
 * @throws IronicError 404, or 400 in the router's shape
 */
export function findCallNode(call: IronicApiCall<object>, { store }: Backend, ident: string): NodeRecord {
  const byUuid = isUuid(ident)
  if (!isIdent(ident)) throw ironicErrors.badIdent('node', ident)
  const named = (name: string) => (knowsNames(call.version) ? store.nodeNow(name) : undefined)
  const found = byUuid ? store.nodeNow(ident.toLowerCase()) : named(ident)
  // A node may have such a name, but its path leads to a subresource.
  if (SUBRESOURCES.includes(ident)) throw ironicErrors.noSuchRoute()
  if (found) return found.record
  // The removed `.json` may belong to the name.
  const whole = `${ident}.json`
  const other = call.jsonSuffix ? named(whole) : undefined
  if (!other) throw ironicErrors.nodeNotFound(call.jsonSuffix ? whole : ident)
  return other.record
}

/** Path segments that the router takes for a subresource without its node. */
const SUBRESOURCES = [
  'ports',
  'portgroups',
  'vifs',
  'volume',
  'traits',
  'bios',
  'allocation',
  'history',
  'inventory',
  'children',
  'firmware',
  'vmedia',
]

const ROUTED_ON = [...SUBRESOURCES, 'validate']
const isIdent = (text: string): boolean => isUuid(text) || isLogicalName(text)

/**
 * Refuses impossible idents as the router does, before it looks at versions and arguments.
 *
 * @param segments decoded, from `v1` on
 * @throws IronicError 400 or, for a subresource without its node, 404 in the router's shape
 */
export function checkRoutedIdent([, collection, ident, next]: readonly string[]): void {
  if (collection === 'nodes' && ident !== undefined && SUBRESOURCES.includes(ident)) throw ironicErrors.noSuchRoute()
  if (ident === undefined || isIdent(ident)) return
  if (collection === 'portgroups') throw ironicErrors.badIdent('portgroup', ident)
  if (collection === 'nodes' && next !== undefined && ROUTED_ON.includes(next))
    throw ironicErrors.badIdent('node', ident)
}

const knowsNames = (version: Microversion): boolean => version >= SINCE.nodeNames
