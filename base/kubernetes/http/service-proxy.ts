import type { WireRequest, WireResponse } from '../../wire/index.js'

/** Pages of services of the cluster that clients read through its API, as text; by `NAMESPACE/SERVICE/PATH`. */
export type ServicePages = Readonly<Record<string, () => string>>

/** A Service in a path may have a scheme before its name and a port behind: `https:NAME:8443`. */
const SERVICE = /^(?:https?:)?([^:]+)(?::[^:]*)?$/

/**
 * The answer of a service behind `/api/v1/namespaces/NAMESPACE/services/SERVICE/proxy/PATH`; undefined for another path, and
 * for a service that there is not.
 */
export function proxiedPage(
  segments: readonly string[],
  { method }: Pick<WireRequest, 'method'>,
  pages: ServicePages,
): WireResponse | undefined {
  const [api, version, namespaces, namespace, services, service = '', proxy, ...path] = segments
  if (api !== 'api' || version !== 'v1' || namespaces !== 'namespaces' || services !== 'services' || proxy !== 'proxy')
    return undefined
  const name = SERVICE.exec(service)?.[1]
  const key = `${namespace}/${name}/${path.join('/')}`
  if (!Object.hasOwn(pages, key) || (method !== 'GET' && method !== 'HEAD')) return undefined
  return { status: 200, headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }, body: pages[key]!() }
}
