import type { BmcDialect } from '../dialects/index.js'
import { defined } from '../../base/runtime/index.js'
import { commonDialect } from './dialects/spoken-dialect.js'
import { BmcPaths } from './dialects/bmc-paths.js'
import { isAtOrBelow } from './dialects/resource-pattern.js'
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
  const common = () => commonDialect(machines.list())
  if (found?.resource.kind === 'service') return present(common(), found)
  const machine = found ? machines.get(found.params['machine']!) : undefined
  if (found && machine?.spec.dialect === undefined && machine) return { ...found, machine }
  const owned = new BmcPaths(machines).find(path)
  if (owned?.machine.spec.dialect !== undefined) {
    const { dialect, model } = owned
    const own = model === undefined ? undefined : routes.find(model, dialect.paths.ignoresCase)
    return own && present(dialect, { ...own, machine: owned.machine })
  }
  if (found) return { ...found, ...defined({ machine }) }
  const inAnyCase = common().paths.ignoresCase ? routes.find(path, true) : undefined
  return inAnyCase && present(common(), inAnyCase)
}

/** A resource, unless the BMC does not have it. */
const present = ({ resources }: BmcDialect, routed: RoutedPath): RoutedPath | undefined =>
  resources.absent.some((pattern) => isAtOrBelow(standardPath(routed), pattern)) ? undefined : routed

/** The path below `/redfish/v1` of a resource with the names and letters that DMTF has for it. */
export const standardPath = ({ resource, params }: Pick<RoutedPath, 'resource' | 'params'>): string =>
  resource.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
