import type { IpmiPoint } from '../../bmc/ipmi/index.js'
import { redfishCallsAt, standardRedfishPath, type RedfishPoint } from '../../bmc/redfish/index.js'
import type { LabPoint, PointOf } from '../points.js'
import { beginsWith, isRedfishRoute, isSamePath, routeOf } from '../../control/index.js'

export const programOf = (point: LabPoint): string | undefined =>
  point.kind === 'command' || point.kind === 'ssh' ? point.argv[0]!.split('/').at(-1) : undefined

/** The machine that a point names. */
export const machineIn = (point: LabPoint): string | undefined => ('machine' in point ? point.machine : undefined)

/** The node that a point names, by uuid or name. */
export const nodeIn = (point: LabPoint): string | undefined =>
  ('node' in point ? point.node : undefined) ?? nodeInPath(point)

interface KnowsMachines {
  /** Machine behind a node, once there is one. */
  machineOf(node: string): string | undefined
  /** Address of the BMC of a machine, or of a node whose machine is still to come. */
  bmcAddress(of: { machine: string | undefined; node: string | undefined }): string | undefined
}

/** The machine of a call of a BMC, which names its node where this lab's Ironic makes it; undefined before there is one. */
export const machineAt = (point: LabPoint, context: KnowsMachines): string | undefined =>
  point.kind === 'bmc' && point.node !== undefined ? context.machineOf(point.node) : machineIn(point)

/** The BMC of a call: by its address, which several machines and nodes may share. */
export function bmcAt(point: PointOf<'bmc'>, context: KnowsMachines): string {
  const machine = machineAt(point, context)
  const { node } = point
  return context.bmcAddress({ machine, node }) ?? machine ?? String(node)
}

/** True if a call of a BMC came over Redfish, and is answered by HTTP. */
export const isOverHttp = (point: LabPoint): point is RedfishPoint =>
  point.kind === 'bmc' && point.method !== undefined && !isOverIpmi(point)

/** True if a call of a BMC came over IPMI, and is answered by a completion code. */
export const isOverIpmi = (point: LabPoint): point is IpmiPoint => point.kind === 'bmc' && point.method === 'IPMI'

/** True if a call of a BMC is answered by HTTP: one that came over Redfish, and one that this lab's Ironic makes so. */
export const isAnsweredByHttp = (point: LabPoint): point is PointOf<'bmc'> =>
  isOverHttp(point) || (point.kind === 'bmc' && 'protocol' in point && point.protocol === 'redfish')

/** True if a call of a BMC is answered by a completion code, or is made so by this lab's Ironic. */
export const isAnsweredByIpmi = (point: LabPoint): boolean =>
  isOverIpmi(point) || (point.kind === 'bmc' && 'protocol' in point && point.protocol === 'ipmi')

/** Milliseconds after which the caller at a point waits for the answer no longer; undefined where it always waits. */
export const answerTimeoutAt = (point: LabPoint): number | undefined =>
  point.kind === 'bmc' && 'answerTimeout' in point ? point.answerTimeout : undefined

/** True if an exchange is one of a route, as in `PUT /v1/nodes/:id/states/provision`. */
export function matchesRoute(route: string, point: LabPoint): boolean {
  if (point.kind === 'bmc') return isRedfishRoute(route) && matchesRedfishRoute(route, point)
  if (point.kind !== 'exchange') return false
  const { method, parts } = routeOf(route)
  if (method !== undefined && method !== point.method) return false
  return beginsWith(partsOfTarget(point.target), parts)
}

const partsOfTarget = (target: string): readonly string[] => routeOf(target.replace(/\?.*$/s, '')).parts

/**
 * This lab's Ironic changes one resource a call, and reads several in one: a read of any of them is that call, as of the
 * BIOS and secure boot.
 */
function matchesRedfishRoute(route: string, point: PointOf<'bmc'>): boolean {
  const { method, parts } = routeOf(route)
  const standard = standardRedfishPath(parts)
  const isAt = (target: readonly string[]) =>
    isSamePath(target, parts) || (standard !== undefined && isSamePath(target, standard))
  const isSame = (asked: string, target: string) =>
    (method === undefined || method === asked) && isAt(partsOfTarget(target))
  if (isOverHttp(point)) {
    // A route names paths as DMTF has them, or as the BMC has them.
    const { target, standardPath } = point
    return isSame(point.method, target) || (standardPath !== undefined && isSame(point.method, standardPath))
  }
  if (!('protocol' in point) || point.protocol !== 'redfish' || point.request === undefined) return false
  const { request } = point
  // Slots are the system's and the manager's; which of the two this lab's Ironic asks, it does not tell.
  const paths = request.path.includes('/VirtualMedia/')
    ? [request.path, request.path.replace('/Systems/', '/Managers/')]
    : [request.path]
  if (request.method !== 'GET') return paths.some((path) => isSame(request.method, path))
  return (method === undefined || method === 'GET') && redfishCallsAt('GET', parts).includes(point.call)
}

/** The node that a request to Ironic names, by uuid or name. */
function nodeInPath(point: LabPoint): string | undefined {
  if (point.kind !== 'exchange' || point.to !== 'ironic') return undefined
  const ident = /^\/v1\/(?:nodes|heartbeat)\/([^/?]+)/.exec(point.target)?.[1]
  try {
    return ident === undefined ? undefined : decodeURIComponent(ident)
  } catch {
    return undefined
  }
}
