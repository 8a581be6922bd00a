import { decodeEscapes } from '../../base/bytes/index.js'
import { closest, distance } from 'fastest-levenshtein'
import { AGENT_OPERATIONS, formatMicroversion, IRONIC_OPERATIONS, type Microversion } from '../../base/wire/index.js'
import { beginsWith, routeOf, type NearMiss } from '../../control/index.js'

interface KnownCall {
  method: string
  path: string
  since?: Microversion
}

/** A call that led nowhere. */
export interface MissedCall {
  to: string
  method: string
  target: string
  status: number
  /** The microversion of the request, as `1.81`. */
  version: string | undefined
}

const CALLS: Readonly<Record<string, readonly KnownCall[]>> = {
  ironic: IRONIC_OPERATIONS.filter((operation) => !('refused' in operation)),
  agent: Object.values(AGENT_OPERATIONS).map(({ method, paths }) => ({ method, path: paths[0] })),
}

/**
 * Finds what a call of no effect was meant to be.
 *
 * @param names of the nodes that there are
 * @returns null for a call that found what it named
 */
export function nearMiss({ to, method, target, status, version }: MissedCall, names: () => string[]): NearMiss | null {
  if (status !== 404 && status !== 405 && status !== 406) return null
  const calls = CALLS[to]
  if (!calls) return null
  const path = target.replace(/\?.*$/s, '')
  const parts = routeOf(path).parts.map(decodeEscapes)
  const here = calls.filter(({ path }) => fitsRoute(parts, routeOf(path).parts))
  const same = here.find((call) => call.method === method)
  if (same) {
    if (status === 406 || isTooOld(same, version)) return olderClient(same, version)
    return missingNode(parts, names())
  }
  if (here.length > 0) {
    const [first] = here
    const methods = here.map((call) => call.method)
    return { nearest: callNameOf(first!), why: `the method is ${method} and not ${methods.join(' or ')}` }
  }
  const nearest = [...calls].sort((a, b) => gap(parts, method, a) - gap(parts, method, b))[0]!
  return { nearest: callNameOf(nearest), why: whyNot(parts, nearest) }
}

const callNameOf = ({ method, path }: KnownCall): string => `${method} ${path}`

const fitsRoute = (parts: readonly string[], route: readonly string[]): boolean =>
  parts.length === route.length && beginsWith(parts, route) && beginsWith(route, parts)

const isTooOld = ({ since }: KnownCall, version: string | undefined): boolean =>
  since !== undefined && minorOf(formatMicroversion(since)) > minorOf(version ?? '1.1')

const minorOf = (version: string): number => Number(version.split('.')[1] ?? Infinity)

const olderClient = (call: KnownCall, version: string | undefined): NearMiss => ({
  nearest: callNameOf(call),
  why:
    call.since !== undefined && isTooOld(call, version)
      ? `the call came with version ${formatMicroversion(call.since)}, and the request is of ${version ?? 'none, which is 1.1'}`
      : `the request is of version ${version ?? '1.1'}`,
})

/** The node whose name comes nearest to the one in the path. */
function missingNode(parts: readonly string[], names: readonly string[]): NearMiss | null {
  const at = parts.indexOf('nodes')
  const wanted = parts[at + 1]
  if (at < 0 || wanted === undefined) return null
  return names.length === 0
    ? { nearest: 'POST /v1/nodes', why: 'there are no nodes' }
    : { nearest: `node ${closest(wanted, names)}`, why: `there is no node ${wanted}` }
}

/** How far a path is from a call's, in edits of its parts. */
function gap(parts: readonly string[], method: string, call: KnownCall): number {
  const route = routeOf(call.path).parts
  let sum = call.method === method ? 0 : 0.5
  for (let index = 0; index < Math.max(parts.length, route.length); index++) {
    const part = parts[index]
    const wanted = route[index]
    if (part === undefined || wanted === undefined) sum += 3
    else if (!wanted.startsWith('{')) sum += Math.min(3, distance(part, wanted))
  }
  return sum
}

function whyNot(parts: readonly string[], call: KnownCall): string {
  const route = routeOf(call.path).parts
  for (let index = 0; index < Math.max(parts.length, route.length); index++) {
    const part = parts[index]
    const wanted = route[index]
    if (part === undefined) return `the path ends before ${wanted}`
    if (wanted === undefined) return `the path continues with ${part}`
    if (!wanted.startsWith('{') && part !== wanted) return `the path has ${part} and not ${wanted}`
  }
  return `there is no such path`
}
