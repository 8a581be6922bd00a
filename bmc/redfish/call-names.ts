import { BMC_DIALECTS } from '../dialects/index.js'
import { NO_RESOURCE } from './dispatch.js'
import { methodsOf } from './protocol/resource.js'
import { REDFISH_RESOURCES, REDFISH_ROUTES } from './resources/index.js'

/** The names by which calls pass the probe. */
export const REDFISH_CALLS: readonly string[] = [
  ...new Set([
    NO_RESOURCE,
    ...REDFISH_RESOURCES.flatMap(({ reads, changes }) => [reads, ...(changes ? [changes] : [])]),
  ]),
]

/** Last parts of the paths of settings objects, as BMCs have them: of systems, and of their BIOS. */
const SETTINGS_NAMES: ReadonlySet<string> = new Set(
  Object.values(BMC_DIALECTS).flatMap(({ bios, boot }) =>
    boot.settings === null ? [bios.settings] : [bios.settings, boot.settings],
  ),
)

/** The parts of a path with the name that resources have for a settings object. */
function withModelSettings(parts: readonly string[]): readonly string[] {
  const [folder, , part, settings] = parts
  const last = parts.at(-1) ?? ''
  const isSettings =
    (parts.length === 3 && part === last) || (parts.length === 4 && part === 'Bios' && settings === last)
  return folder === 'Systems' && isSettings && SETTINGS_NAMES.has(last) ? [...parts.slice(0, -1), 'Settings'] : parts
}

/**
 * The names by which the calls at a resource pass the probe: with a method one, without one all; none where there is no such
 * call.
 *
 * @param parts of the path, `redfish` and `v1` among them
 */
export function redfishCallsAt(method: string | undefined, parts: readonly string[]): readonly string[] {
  const [service, version, ...below] = parts
  const resource =
    service === 'redfish' && version === 'v1'
      ? REDFISH_ROUTES.find(`/${withModelSettings(below).join('/')}`)?.resource
      : undefined
  if (!resource) return []
  const called = (name: string): string => (name === 'GET' ? resource.reads : (resource.changes ?? resource.reads))
  return methodsOf(resource)
    .map((each) => each.toUpperCase())
    .filter((name) => method === undefined || name === method || (name === 'GET' && method === 'HEAD'))
    .map(called)
}
