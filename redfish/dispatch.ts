import { UserError, defined, ownMember } from '../runtime/index.js'
import { ConnectionFailed, type WireRequest, type WireResponse } from '../wire/index.js'
import { authenticate } from './access/authenticate.js'
import { HEADERS, jsonAnswer } from './protocol/answers.js'
import { bodyOf } from './protocol/body.js'
import { carryOut } from './protocol/carry-out.js'
import { errorBody, refused, Refusal } from './protocol/refusal.js'
import { allowed, type Call, type Method, type Resource } from './protocol/resource.js'
import type { ServiceParts } from './service-parts.js'

/** A request with what its path leads to. */
interface Routed {
  path: string
  search: string
  resource?: Resource
  params: Record<string, string>
  /** Undefined for a path that leads to none. */
  machine?: ReturnType<ServiceParts['machines']['get']>
}

/** Probe point around a request, which is a call of a BMC. `next()` resolves with its answer. */
export interface RedfishPoint {
  readonly kind: 'bmc'
  /** Name of the call. */
  readonly call: string
  /** Method of HTTP. */
  readonly method: string
  /** Path with the query. */
  readonly target: string
  /** Id of the machine; absent for a request that concerns none. */
  readonly machine?: string
  /** The node, which a probe that passes the point on adds. */
  readonly node?: string | undefined
  /** Makes the service answer as if it had carried the call out. */
  readonly lie: () => void
}

/** Call name of a request to an unknown path. */
export const NO_RESOURCE = 'read service'

const METHODS: Readonly<Record<string, Method>> = {
  GET: 'get',
  HEAD: 'get',
  PATCH: 'patch',
  PUT: 'put',
  POST: 'post',
  DELETE: 'delete',
}

/** Answers a request. Every one passes the probe as a call of a BMC, also those that are refused. */
export async function answer(service: ServiceParts, request: WireRequest): Promise<WireResponse> {
  const { probe } = service
  const routed = route(service, request)
  let isLie = false
  const work = () => orRefused(service, () => answerRouted(service, request, routed, isLie))
  if (!probe.watches('bmc')) return work()
  const { resource, machine } = routed
  const { method, target } = request
  const reads = resource?.reads ?? NO_RESOURCE
  const call = ownMember(METHODS, method) === 'get' ? reads : (resource?.changes ?? reads)
  const point: RedfishPoint = {
    kind: 'bmc',
    call,
    method,
    target,
    ...defined({ machine: machine ? machine.spec.id : undefined }),
    lie: () => (isLie = true),
  }
  const answered = await probe.around<WireResponse>(point, work)
  if (answered.headers['odata-version']) return answered
  return { ...answered, headers: { ...HEADERS, ...answered.headers } }
}

function route({ routes, machines }: ServiceParts, { target }: WireRequest): Routed {
  const mark = target.indexOf('?')
  const path = mark < 0 ? target : target.slice(0, mark)
  const search = mark < 0 ? '' : target.slice(mark + 1)
  const below = /^\/redfish\/v1(\/.*)?$/.exec(path)
  const found = below ? routes.find(below[1] ?? '/') : undefined
  if (!found) return { path, search, params: {} }
  const { resource, params } = found
  const machine = resource.kind === 'machine' ? machines.get(params['machine']!) : undefined
  return { path, search, resource, params, ...defined({ machine }) }
}

async function orRefused(service: ServiceParts, work: () => Promise<WireResponse>): Promise<WireResponse> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ConnectionFailed) throw error
    if (error instanceof Refusal) return jsonAnswer(error.status, errorBody(error.messages), error.headers)
    // The machine's own refusals, as of a setting that it lacks.
    if (error instanceof UserError)
      return jsonAnswer(400, errorBody(refused(400, 'GeneralError', [], { resolution: error.message }).messages))
    service.logger('error', 'a Redfish request failed', { error })
    return jsonAnswer(500, errorBody(refused(500, 'InternalError').messages))
  }
}

async function answerRouted(
  service: ServiceParts,
  request: WireRequest,
  routed: Routed,
  isLie: boolean,
): Promise<WireResponse> {
  const { path, search, resource, params, machine } = routed
  if (/^\/redfish\/?$/.test(path)) return jsonAnswer(200, { v1: '/redfish/v1/' })
  const { 'odata-version': version } = request.headers
  if (version !== undefined && version !== '4.0')
    throw refused(412, 'HeaderInvalid', ['OData-Version'], { resolution: 'Use version 4.0.' })
  const isOpen = resource?.kind === 'service' && (resource.open === true || isSignIn(resource, request))
  // The root is read at every start of a client; only what a query puts into it depends on who asks.
  const caller = !isOpen ? authenticate(service, request, machine) : search === '' ? undefined : known(service, request)
  if (!resource || (resource.kind === 'machine' && !machine)) throw refused(404, 'ResourceMissingAtURI', [path])
  const method = ownMember(METHODS, request.method)
  const isAllowed = method && (resource[method] ?? (method === 'get' ? resource.raw : undefined))
  if (!isAllowed)
    throw refused(405, 'OperationNotAllowed', [], {
      resolution: `Use ${allowed(resource)}.`,
      headers: { allow: allowed(resource) },
    })
  const query = new URLSearchParams(search)
  if (method !== 'get' && [...query.keys()].some((name) => name.startsWith('$')))
    throw refused(400, 'QueryNotSupportedOnOperation')
  const body = method === 'get' || method === 'delete' ? {} : bodyOf(request, method === 'post')
  const call: Call = { service, request, params, body, query, caller, isLie }
  return carryOut(resource, method, machine ? { ...call, machine } : call, path)
}

/** The caller of an open resource, which shows more to one with credentials and is there without them. */
function known(service: ServiceParts, request: WireRequest): Call['caller'] {
  try {
    return authenticate(service, request, undefined)
  } catch {
    return undefined
  }
}

/** A POST of a session has its credentials in the body. */
const isSignIn = (resource: Resource, { method }: WireRequest): boolean =>
  method === 'POST' && resource.path.startsWith('/SessionService/Sessions')
