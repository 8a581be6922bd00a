import { hours, UserError } from '../../base/runtime/index.js'
import { AGENT_OPERATIONS, IRONIC_OPERATIONS } from '../../base/wire/index.js'
import type { PointKind } from '../points.js'
import type { Fault, FaultKind, FaultMatch } from './fault.js'

/** Kinds of probe points at which each effect acts. */
export const POINTS: Readonly<Record<FaultKind, readonly PointKind[]>> = {
  'agent-silent': ['exchange'],
  'agent-restart': ['exchange', 'command', 'agent-command'],
  'power-loss': ['exchange', 'command', 'agent-command', 'disk-write', 'bmc'],
  'bmc-silent': ['bmc'],
  'bmc-dark': ['bmc'],
  'bmc-lies': ['bmc'],
  'bmc-busy': ['bmc'],
  'exit-code': ['command'],
  'disk-error': ['disk-read', 'disk-write'],
  'disk-full': ['disk-write'],
  'disk-lies': ['disk-write'],
  'partitions-late': ['partitions'],
  // Calls of BMCs are exchanges where they come over Redfish.
  status: ['exchange', 'bmc'],
  'connection-reset': ['exchange', 'bmc'],
  hang: ['exchange', 'bmc', 'command'],
  'truncated-body': ['exchange', 'bmc'],
  'malformed-body': ['exchange', 'bmc'],
  'slow-body': ['exchange', 'bmc'],
  repeat: ['exchange'],
  'wrong-token': ['exchange'],
  'stale-agent-url': ['exchange'],
  'empty-last-error': ['exchange'],
  'pull-error': ['pull'],
  'link-cut': ['ssh'],
  delay: ['exchange', 'bmc', 'command', 'agent-command', 'disk-read', 'disk-write', 'pull', 'image-pull'],
}

/** Effects on links that only rehearsals of runs over hosts have. */
export const ON_LINKS: readonly FaultKind[] = ['link-cut']

/** Receivers of exchanges in which an effect acts; without, any. */
export const ASKED: Partial<Record<FaultKind, readonly NonNullable<FaultMatch['to']>[]>> = {
  'agent-silent': ['ironic', 'agent'],
  'wrong-token': ['ironic'],
  'stale-agent-url': ['ironic'],
  'empty-last-error': ['ironic'],
}

/** Effects on agents, and on what passes between them and an Ironic. */
export const OF_AGENTS: readonly FaultKind[] = ['agent-restart', ...(Object.keys(ASKED) as FaultKind[])]

/** Kinds of probe points that a condition can hold at. */
export const CONDITIONS: Partial<Record<keyof FaultMatch, readonly PointKind[]>> = {
  route: ['exchange'],
  to: ['exchange'],
  program: ['command', 'ssh'],
  disk: ['disk-read', 'disk-write', 'partitions'],
  image: ['pull', 'image-pull'],
  bmc: ['bmc'],
}

/** Milliseconds of lab time that an effect may take: dates end some time. */
const MAX_EFFECT_TIME = hours(24 * 36_525)

/** Kinds of probe points at which a fault can strike. */
export function pointsOf({ match, effect }: Fault): readonly PointKind[] {
  let points = POINTS[effect.kind]
  for (const [condition, at] of Object.entries(CONDITIONS))
    if (match[condition as keyof FaultMatch] !== undefined) points = points.filter((point) => at.includes(point))
  return points
}

/** @throws UserError `fault` for a fault that could never strike */
export function checkFault(fault: Fault): void {
  const { match, effect, times, after, probability, between } = fault
  const wrong = (message: string, remedy: string) => new UserError('fault', message, { remedy, kind: 'usage' })
  if (pointsOf(fault).length === 0) {
    const named = Object.keys(CONDITIONS).filter((name) => match[name as keyof FaultMatch] !== undefined)
    const fitting = Object.entries(CONDITIONS).flatMap(([name, at]) =>
      at.some((point) => POINTS[effect.kind].includes(point)) ? [name] : [],
    )
    throw wrong(
      `a fault of kind ${effect.kind} can never strike where ${named.join(' and ')} ${named.length > 1 ? 'match' : 'matches'}`,
      fitting.length === 0 ? 'match a node, machine, state, step or phase' : `match ${fitting.join(' or ')}`,
    )
  }
  if (effect.kind === 'delay' && Object.keys(match).length === 0)
    throw wrong('a delay that matches everything would delay itself', 'match something')
  if (times !== undefined && !(Number.isSafeInteger(times) && times > 0))
    throw wrong(`times is ${times}, which is not a count`, 'name how often it strikes: 1 or more')
  if (after !== undefined && !(Number.isSafeInteger(after) && after >= 0))
    throw wrong(`after is ${after}, which is not a count`, 'name how many matches pass before it strikes')
  if (probability !== undefined && !(probability > 0 && probability <= 1))
    throw wrong(`probability ${probability} lets it never strike`, 'name a number above 0, at most 1')
  if (between !== undefined && !(between[0] < between[1]))
    throw wrong('between ends before it begins', 'name the earlier time first')
  const asked = ASKED[effect.kind]
  if (match.to !== undefined && asked && !asked.includes(match.to))
    throw wrong(
      `a fault of kind ${effect.kind} can never strike an exchange with ${match.to}`,
      `match ${asked.join(' or ')}`,
    )
  if (match.route !== undefined && match.to === 'images' && !isFilePath(match.route))
    throw wrong(`no file has the path ${match.route}`, 'match what a path begins with, as in GET /images/')
  if (match.route !== undefined && match.to !== 'images') {
    const calls = callsOf(match.route, match.to)
    if (calls.length === 0)
      throw wrong(
        `no call ${match.to === undefined ? '' : `of ${match.to} `}begins with ${match.route}`,
        'match a route as in PUT /v1/nodes/:id/states/provision; for a file, match {"to": "images"} too',
      )
    const problem = routeProblem(fault, calls)
    if (problem !== undefined) throw wrong(problem, 'match another route, or leave the other condition out')
  }
  if (effect.kind === 'bmc-lies' && match.bmc !== undefined && /^(read |subscribe$)/.test(match.bmc))
    throw wrong(
      `a BMC cannot lie about ${match.bmc}, which changes nothing`,
      'match a call that changes something: set power',
    )
  if ('ms' in effect && !(effect.ms >= 0 && effect.ms <= MAX_EFFECT_TIME))
    throw wrong(`the effect takes ${effect.ms} ms, which is not a length of lab time`, 'name at most a hundred years')
}

/** `POST /v1/nodes/:id` as method and parts. */
export function routeOf(route: string): { method: string | undefined; parts: readonly string[] } {
  const [, method, path = ''] = /^(?:([A-Z]+) +)?(.*)$/s.exec(route)!
  return { method, parts: path.split('/').filter((part) => part !== '') }
}

const isNamed = (part: string): boolean => /^(:\w+|\{\w+\})$/.test(part)

/** Whether a path begins with the parts of a route, each of which is a whole part: `/disk.raw` is not `/disk.raw.sig`. */
export function beginsWith(path: readonly string[], parts: readonly string[]): boolean {
  return parts.every((part, index) => {
    const there = path[index]
    if (there === undefined) return false
    return isNamed(part) || isNamed(there) || there === part
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
  /** Whether an agent sends it. */
  readonly byAgent: boolean
  readonly hasMachine: boolean
  readonly hasNode: boolean
}

const OF_AN_AGENT = { to: 'agent', byAgent: false, hasMachine: true, hasNode: true } as const

/** Reason why a fault can never strike a call of its route; undefined where it can. */
function routeProblem({ match, effect }: Fault, calls: readonly RoutedCall[]): string | undefined {
  const { route, node, machine, step, phase } = match
  const ofAgent = effect.kind === 'wrong-token' || effect.kind === 'stale-agent-url'
  if (ofAgent && !calls.some(({ byAgent }) => byAgent))
    return `a fault of kind ${effect.kind} can never strike ${route}, which no agent sends`
  if (effect.kind === 'agent-silent' && !calls.some(({ to, byAgent }) => byAgent || to === 'agent'))
    return `a fault of kind ${effect.kind} can never strike ${route}, which is not a call of an agent`
  if (effect.kind === 'empty-last-error' && !calls.some(({ to }) => to === 'ironic'))
    return `a fault of kind ${effect.kind} can never strike ${route}, which Ironic does not answer`
  const condition = Object.entries({ machine, step, phase }).find(([, value]) => value !== undefined)?.[0]
  if (condition !== undefined && !calls.some(({ hasMachine }) => hasMachine))
    return `a fault with a ${condition} can never strike ${route}, which no machine takes part in`
  if (node !== undefined && !calls.some(({ hasNode }) => hasNode))
    return `a fault of a node can never strike ${route}, which names no node`
  return undefined
}
