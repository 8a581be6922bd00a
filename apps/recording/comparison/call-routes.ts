import { literalPattern } from '../../../base/runtime/index.js'
import { AGENT_OPERATIONS, IRONIC_OPERATIONS } from '../../../base/wire/index.js'
import type { RecordingExchange } from '../format/recording-exchange.js'

interface PathPattern {
  readonly pattern: RegExp
  readonly path: string
}

const routeOf = (path: string): PathPattern => ({
  path,
  pattern: new RegExp(
    `^${path
      .split(/\{\w+\}/)
      .map(literalPattern)
      .join('[^/]+')}$`,
  ),
})

let routes: { ironic: readonly PathPattern[]; agent: readonly PathPattern[] } | undefined

function allRoutes() {
  const ironic = IRONIC_OPERATIONS.map(({ path }) => routeOf(path))
  // Words before names: /v1/nodes/detail is no node.
  ironic.sort((one, other) => one.path.split('{').length - other.path.split('{').length)
  const agent = Object.values(AGENT_OPERATIONS).flatMap(({ paths }) => paths.map(routeOf))
  return { ironic, agent }
}

/** Method and route, with names in place of ids: `GET /v1/nodes/{node_ident}`. A command of the agent has its name. */
export function callName({ method, target, to, request }: RecordingExchange): string {
  routes ??= allRoutes()
  const path = target.replace(/\?.*$/s, '')
  const known = routes[to === 'agent' ? 'agent' : 'ironic']
  const plain = path.length > 1 ? path.replace(/\/+$/, '') : path
  const route = known.find(({ pattern }) => pattern.test(path)) ?? known.find(({ pattern }) => pattern.test(plain))
  const command =
    to === 'agent' && method === 'POST' ? (request.body as { name?: unknown } | undefined)?.name : undefined
  return [method, route?.path ?? path, ...(typeof command === 'string' ? [command] : [])].join(' ')
}
