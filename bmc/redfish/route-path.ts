import { defined } from '../../base/runtime/index.js'
import type { Machine } from '../../machine/index.js'
import { commonDialect } from './dialects/spoken-dialect.js'
import { BmcPaths } from './dialects/bmc-paths.js'
import type { RedfishResource } from './protocol/resource.js'
import type { ServiceParts } from './service-parts.js'

/** A resource that a path leads to. */
export interface RoutedPath {
  readonly resource: RedfishResource
  readonly params: Record<string, string>
  /** Undefined for a resource of the service, and for a machine that is not there. */
  readonly machine?: Machine
}

/**
 * The resource of a path, by the names that the BMC of its machine has.
 *
 * @param path below `/redfish/v1`, percent-encoded
 */
export function routeRedfishPath(
  { routes, machines }: Pick<ServiceParts, 'routes' | 'machines'>,
  path: string,
): RoutedPath | undefined {
  const found = routes.find(path)
  if (found?.resource.kind === 'service') return found
  const machine = found ? machines.get(found.params['machine']!) : undefined
  if (found && machine?.spec.dialect === undefined && machine) return { ...found, machine }
  const owned = new BmcPaths(machines).find(path)
  if (owned?.machine.spec.dialect !== undefined) {
    const { ignoresCase } = owned.dialect.paths
    const own = owned.model === undefined ? undefined : routes.find(owned.model, ignoresCase)
    if (own) return { ...own, machine: owned.machine }
    return undefined
  }
  if (found) return { ...found, ...defined({ machine }) }
  return commonDialect(machines.list()).paths.ignoresCase ? routes.find(path, true) : undefined
}
