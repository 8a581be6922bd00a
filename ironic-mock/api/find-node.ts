import { ironicErrors, SINCE, type Microversion, type NodeRecord } from '../../wire/index.js'
import type { Backend, Call } from './call.js'
import { isLogicalName, isUuid } from './formats.js'

/**
 * The node that a path names. Names count from microversion 1.5; what can be neither UUID nor name is refused by the
 * router.
 *
 * @throws IronicError 404, or 400 in the router's shape
 */
export async function findNode(call: Call<object>, { store }: Backend, ident: string): Promise<NodeRecord> {
  const byUuid = isUuid(ident)
  if (!byUuid && !isLogicalName(ident)) throw ironicErrors.badIdent('node', ident)
  const found = byUuid || knowsNames(call.version) ? await store.node(byUuid ? ident.toLowerCase() : ident) : undefined
  // A name that a node can have, and cannot be found by.
  if (SUBRESOURCES.includes(ident)) throw ironicErrors.noSuchRoute()
  if (!found) throw ironicErrors.nodeNotFound(ident)
  return found.node
}

/** What the router takes for a subresource without its node. */
const SUBRESOURCES = [
  ...['ports', 'portgroups', 'vifs', 'volume', 'traits', 'bios', 'allocation', 'history', 'inventory', 'children'],
  ...['firmware', 'vmedia'],
]

const knowsNames = (version: Microversion): boolean => version >= SINCE.nodeNames
