import { BMC_DIALECTS } from '../dialects/index.js'
import { NO_RESOURCE } from './dispatch.js'
import { modelPath } from './dialects/bmc-paths.js'
import { methodsOf, type RedfishResource } from './protocol/resource.js'
import { REDFISH_RESOURCES, REDFISH_ROUTES } from './resources/index.js'

/** The names by which calls pass the probe. */
export const REDFISH_CALLS: readonly string[] = [
  ...new Set([
    NO_RESOURCE,
    ...REDFISH_RESOURCES.flatMap(({ reads, changes }) => [reads, ...(changes ? [changes] : [])]),
  ]),
]

interface FoundRoute {
  readonly resource: RedfishResource
  readonly params: Readonly<Record<string, string>>
}

/** The resource of a path as DMTF has it, or else as a BMC that ironstage has writes it. */
function resourceAt(path: string): FoundRoute | undefined {
  const standard = REDFISH_ROUTES.find(path)
  if (standard) return standard
  for (const dialect of Object.values(BMC_DIALECTS)) {
    const model = modelPath(dialect, path)
    const found = model === undefined ? undefined : REDFISH_ROUTES.find(model, dialect.paths.ignoresCase)
    if (found) return found
  }
  return undefined
}

/** Routes that were asked for before: thousands of faults have few. */
const foundRoutes = new Map<string, FoundRoute | undefined>()
const MAX_FOUND_ROUTES = 1000

/** @param parts of the path, `redfish` and `v1` among them */
function routeAt(parts: readonly string[]): FoundRoute | undefined {
  const [service, version, ...below] = parts
  if (service !== 'redfish' || version !== 'v1') return undefined
  const path = `/${below.join('/')}`
  if (foundRoutes.has(path)) return foundRoutes.get(path)
  const found = resourceAt(path)
  if (foundRoutes.size >= MAX_FOUND_ROUTES) foundRoutes.clear()
  foundRoutes.set(path, found)
  return found
}

/**
 * A path with the names and letters that DMTF has for it, where a BMC has others; undefined for one that no BMC has.
 *
 * @param parts of the path, `redfish` and `v1` among them
 */
export function standardRedfishPath(parts: readonly string[]): readonly string[] | undefined {
  const found = routeAt(parts)
  if (!found) return undefined
  const named = found.resource.path.replace(/\{(\w+)\}/g, (_, name: string) => found.params[name] ?? '')
  return ['redfish', 'v1', ...named.split('/').filter((part) => part !== '')]
}

/**
 * The names by which the calls at a resource pass the probe: with a method one, without one all; none where there is no such
 * call.
 *
 * @param parts of the path, `redfish` and `v1` among them
 */
export function redfishCallsAt(method: string | undefined, parts: readonly string[]): readonly string[] {
  const resource = routeAt(parts)?.resource
  if (!resource) return []
  const called = (name: string): string => (name === 'GET' ? resource.reads : (resource.changes ?? resource.reads))
  return methodsOf(resource)
    .map((each) => each.toUpperCase())
    .filter((name) => method === undefined || name === method || (name === 'GET' && method === 'HEAD'))
    .map(called)
}
