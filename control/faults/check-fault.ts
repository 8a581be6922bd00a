import { hours, UserError } from '../../base/runtime/index.js'
import { AGENT_OPERATIONS, IRONIC_OPERATIONS } from '../../base/wire/index.js'
import { EXCHANGE_PARTIES } from './exchange-parties.js'
import type { Fault, FaultMatch } from './fault.js'
import { effectFacts, type FaultPoint } from './fault-effects.js'

/** Kinds of probe points that a condition can hold at. */
export const CONDITIONS: Partial<Record<keyof FaultMatch, readonly FaultPoint[]>> = {
  route: ['exchange', 'bmc'],
  to: ['exchange'],
  program: ['command', 'ssh'],
  disk: ['disk-read', 'disk-write', 'partitions'],
  image: ['pull', 'image-pull'],
  bmc: ['bmc'],
}

/** Milliseconds of lab time that an effect may take: dates end some time. */
const MAX_EFFECT_TIME = hours(24 * 36_525)

/** Kinds of probe points at which a fault can strike. */
export function pointsOf({ match, effect }: Fault): readonly FaultPoint[] {
  let { points } = effectFacts(effect.kind)
  for (const [condition, at] of Object.entries(CONDITIONS))
    if (match[condition as keyof FaultMatch] !== undefined) points = points.filter((point) => at.includes(point))
  if (match.route === undefined) return points
  const asked = isRedfishRoute(match.route) ? 'bmc' : 'exchange'
  return points.filter((point) => point === asked)
}

/** True if a route is one of a BMC, as in `GET /redfish/v1/Systems/:id/SecureBoot`. */
export const isRedfishRoute = (route: string): boolean => routeOf(route).parts[0] === 'redfish'

/** @throws UserError `fault` for a fault that could never strike */
export function checkFault(fault: Fault): void {
  const { match, effect, times, after, probability, between } = fault
  const facts = effectFacts(effect.kind)
  const wrong = (message: string, remedy: string) => new UserError('fault', message, { remedy, kind: 'usage' })
  if (pointsOf(fault).length === 0) {
    const named = Object.keys(CONDITIONS).filter((name) => match[name as keyof FaultMatch] !== undefined)
    const fitting = Object.entries(CONDITIONS).flatMap(([name, at]) =>
      at.some((point) => facts.points.includes(point)) ? [name] : [],
    )
    throw wrong(
      `a fault of kind ${effect.kind} can never strike where ${named.join(' and ')} ${named.length > 1 ? 'match' : 'matches'}`,
      fitting.length === 0 ? 'match a node, machine, state, step or phase' : `match ${fitting.join(' or ')}`,
    )
  }
  const problem = facts.problem?.(match)
  if (problem) throw wrong(problem.message, problem.remedy)
  if (times !== undefined && !(Number.isSafeInteger(times) && times > 0))
    throw wrong(`times is ${times}, which is not a count`, 'name how often it strikes: 1 or more')
  if (after !== undefined && !(Number.isSafeInteger(after) && after >= 0))
    throw wrong(`after is ${after}, which is not a count`, 'name how many matches pass before it strikes')
  if (probability !== undefined && !(probability > 0 && probability <= 1))
    throw wrong(`probability ${probability} lets it never strike`, 'name a number above 0, at most 1')
  if (between !== undefined && !(between[0] < between[1]))
    throw wrong('between ends before it begins', 'name the earlier time first')
  const receivers = facts.exchanges && EXCHANGE_PARTIES[facts.exchanges].to
  if (match.to !== undefined && receivers && !receivers.includes(match.to))
    throw wrong(
      `a fault of kind ${effect.kind} can never strike an exchange with ${match.to}`,
      `match ${receivers.join(' or ')}`,
    )
  if (match.route !== undefined && match.to === 'images' && !isFilePath(match.route))
    throw wrong(`no file has the path ${match.route}`, 'match what a path begins with, as in GET /images/')
  if (match.route !== undefined && match.to !== 'images' && !isRedfishRoute(match.route)) {
    const calls = callsOf(match.route, match.to)
    if (calls.length === 0)
      throw wrong(
        `no call ${match.to === undefined ? '' : `of ${match.to} `}begins with ${match.route}`,
        'match a route as in PUT /v1/nodes/:id/states/provision or GET /redfish/v1/Systems/:id; for a file, match {"to": "images"} too',
      )
    const unreached = routeProblem(fault, calls)
    if (unreached !== undefined) throw wrong(unreached, 'match another route, or leave the other condition out')
  }
  const framing = effect.kind === 'status' && Object.keys(effect.headers ?? {}).find(isFramingHeader)
  if (framing)
    throw wrong(`the header ${framing} follows from the body`, 'leave it out; truncated-body breaks an answer off')
  if ('ms' in effect && !(effect.ms >= 0 && effect.ms <= MAX_EFFECT_TIME))
    throw wrong(`the effect takes ${effect.ms} ms, which is not a valid lab time`, 'name at most a hundred years')
}

/** True for a header by which HTTP finds the end of a body. */
const isFramingHeader = (name: string): boolean => /^(content-length|transfer-encoding|connection)$/i.test(name)

/** `POST /v1/nodes/:id` as method and parts. */
export function routeOf(route: string): { method: string | undefined; parts: readonly string[] } {
  const [, method, path = ''] = /^(?:([A-Z]+) +)?(.*)$/s.exec(route)!
  return { method, parts: path.split('/').filter((part) => part !== '') }
}

const isNamed = (part: string): boolean => /^(:\w+|\{\w+\})$/.test(part)

/** True if a part of a path or route is the same, or one of the two is named (`:id`, `{id}`) and stands for any. */
const isSamePart = (one: string, other: string): boolean => isNamed(one) || isNamed(other) || one === other

/** True if a path has the parts of a route, and no more. */
export const isSamePath = (path: readonly string[], parts: readonly string[]): boolean =>
  path.length === parts.length && parts.every((part, index) => isSamePart(part, path[index]!))

/** True if a path begins with the parts of a route, each of which is a whole part: `/disk.raw` is not `/disk.raw.sig`. */
export function beginsWith(path: readonly string[], parts: readonly string[]): boolean {
  return parts.every((part, index) => {
    const there = path[index]
    return there !== undefined && isSamePart(part, there)
  })
}

/** Servers of files answer these methods alone. */
const isFilePath = (route: string): boolean => /^(?:(?:GET|HEAD) +)?\//.test(route)

/** Calls of the routes that were asked for before: thousands of faults have few. */
const routedCalls = new Map<string, readonly RoutedCall[]>()
const MAX_KNOWN_NAMES = 1000

/** The calls that a route selects: who is asked, and what of the lab they are of. */
function callsOf(route: string, to: FaultMatch['to']): readonly RoutedCall[] {
  const key = `${to ?? ''} ${route}`
  const calls = routedCalls.get(key) ?? callsFor(route, to)
  if (routedCalls.size >= MAX_KNOWN_NAMES) routedCalls.clear()
  routedCalls.set(key, calls)
  return calls
}

function callsFor(route: string, to: FaultMatch['to']): readonly RoutedCall[] {
  const { method, parts } = routeOf(route)
  const fits = (called: string, paths: readonly string[]) =>
    (method === undefined || called === method) && paths.some((path) => beginsWith(routeOf(path).parts, parts))
  const ofIronic = IRONIC_OPERATIONS.filter((operation) =>
    fits(operation.method, [operation.path, ...('also' in operation ? operation.also : [])]),
  ).map(({ path }): RoutedCall => {
    const byAgent = /^\/(?:v1\/)?(?:lookup|heartbeat|continue_inspection)\b/.test(path)
    return { to: 'ironic', byAgent, hasMachine: byAgent, hasNode: byAgent || /^\/v1\/nodes\/\{/.test(path) }
  })
  const ofAgents = Object.values(AGENT_OPERATIONS).filter((operation) => fits(operation.method, operation.paths))
  return [
    ...(to === 'agent' ? [] : ofIronic),
    ...(to === 'ironic' ? [] : ofAgents.map((): RoutedCall => ({ ...OF_AN_AGENT }))),
  ]
}

interface RoutedCall {
  readonly to: 'ironic' | 'agent'
  /** True if an agent sends it. */
  readonly byAgent: boolean
  readonly hasMachine: boolean
  readonly hasNode: boolean
}

/** True if an agent can take part in an exchange of a match: it sends it, or answers it. */
export function involvesAgents({ route, to }: FaultMatch): boolean {
  if (to === 'images' || (route !== undefined && isRedfishRoute(route))) return false
  return route === undefined || callsOf(route, to).some((call) => call.byAgent || call.to === 'agent')
}

const OF_AN_AGENT = { to: 'agent', byAgent: false, hasMachine: true, hasNode: true } as const

/** Reason why a fault can never strike a call of its route; undefined where it can. */
function routeProblem({ match, effect }: Fault, calls: readonly RoutedCall[]): string | undefined {
  const { route, node, label, machine, step, phase } = match
  const { exchanges } = effectFacts(effect.kind)
  const parties = exchanges && EXCHANGE_PARTIES[exchanges]
  if (parties && !calls.some(({ to, byAgent }) => parties.includes({ to, from: byAgent ? 'agent' : 'client' })))
    return `a fault of kind ${effect.kind} can never strike ${route}, ${parties.otherwise}`
  const condition = Object.entries({ machine, step, phase }).find(([, value]) => value !== undefined)?.[0]
  if (condition !== undefined && !calls.some(({ hasMachine }) => hasMachine))
    return `a fault with a ${condition} can never strike ${route}, which involves no machine`
  if (node !== undefined && !calls.some(({ hasNode }) => hasNode))
    return `a fault of a node can never strike ${route}, which names no node`
  if (label !== undefined && !calls.some(({ hasNode }) => hasNode))
    return `a fault of labelled hosts can never strike ${route}, which names no node`
  return undefined
}
