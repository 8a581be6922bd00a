import { defined } from '../../base/runtime/index.js'
import { commonDialect } from './dialects/face.js'
import { FacePaths } from './dialects/face-paths.js'
import { routeDumpedPath } from './dumps/dumped-route.js'
import type { RoutedPath } from './routed-path.js'
import type { ServiceParts } from './service-parts.js'

/**
 * The resource of a path, by the names that the BMC of its machine has.
 *
 * @param path below `/redfish/v1`, percent-encoded
 */
export async function routeRedfishPath(
  service: Pick<ServiceParts, 'routes' | 'machines'>,
  path: string,
): Promise<RoutedPath | undefined> {
  const dumped = await routeDumpedPath(service, `/redfish/v1${path}`)
  if (dumped !== null) return dumped
  const { routes, machines } = service
  const found = routes.find(path)
  if (found?.resource.kind === 'service') return found
  const machine = found ? machines.get(found.params['machine']!) : undefined
  if (found && machine?.spec.dialect === undefined && machine) return { ...found, machine }
  const owned = new FacePaths(machines).find(path)
  if (owned?.machine.spec.dialect !== undefined) {
    const { ignoresCase } = owned.dialect.paths
    const own = owned.model === undefined ? undefined : routes.find(owned.model, ignoresCase)
    if (own) return { ...own, machine: owned.machine }
    return undefined
  }
  if (found) return { ...found, ...defined({ machine }) }
  return commonDialect(machines.list()).paths.ignoresCase ? routes.find(path, true) : undefined
}
