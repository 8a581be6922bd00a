import type { BmcDialect } from '../dialects/index.js'
import { defined } from '../../base/runtime/index.js'
import type { Machine } from '../../machine/index.js'
import { commonDialect } from './dialects/spoken-dialect.js'
import { BmcPaths } from './dialects/bmc-paths.js'
import { isAtOrBelow } from './dialects/resource-pattern.js'
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
