import { UserError, defined, ownMember } from '../../base/runtime/index.js'
import { ConnectionFailed, type WireRequest, type WireResponse } from '../../base/wire/index.js'
import { authenticate } from './access/authenticate.js'
import { spokenDialectOf, type SpokenDialect } from './dialects/spoken-dialect.js'
import { isAtOrBelow } from './dialects/resource-pattern.js'
import { ANSWER_HEADERS, jsonAnswer } from './protocol/redfish-answers.js'
import { readRedfishBody } from './protocol/body.js'
import { carryOut } from './protocol/carry-out.js'
import { messageRefusal, Refusal } from './protocol/redfish-refusal.js'
import {
  allowHeader,
  offeredMethods,
  type RedfishCall,
  type ResourceMethod,
  type RedfishResource,
} from './protocol/resource.js'
import type { DumpedAnswer } from './dumps/dumped-answer.js'
import { routeDumpedPath } from './dumps/dumped-route.js'
import { routeRedfishPath, standardPath } from './route-path.js'
import type { ServiceParts } from './service-parts.js'

/** A request with what its path leads to. */
interface Routed {
  path: string
  search: string
  resource?: RedfishResource
  params: Record<string, string>
  /** Undefined for a path that leads to none. */
  machine?: ReturnType<ServiceParts['machines']['get']>
  /** The dump that it answers with. */
  dumped?: DumpedAnswer
  /** The BMC that answers. */
  spoken: SpokenDialect
}

/** Probe point around a request, which is a call of a BMC. `next()` resolves with its answer. */
export interface RedfishPoint {
  readonly kind: 'bmc'
  /** Name of the call. */
  readonly call: string
  /** Method of HTTP. */
  readonly method: string
  /** Path with the query, as the client wrote it. */
  readonly target: string
  /** Path with the names and letters that DMTF has for it; absent where the client wrote the same, or leads to no resource. */
  readonly standardPath?: string
  /** Id of the machine; absent for a request that concerns none. */
  readonly machine?: string
  /** The node, which a probe that passes the point on adds. */
  readonly node?: string | undefined
  /** Makes the service answer as if it had carried the call out. */
  readonly lie: () => void
}

/** Call name of a request to an unknown path. */
export const NO_RESOURCE = 'read service'

const RESOURCE_METHODS: Readonly<Record<string, ResourceMethod>> = {
  GET: 'get',
  HEAD: 'get',
  PATCH: 'patch',
  PUT: 'put',
  POST: 'post',
  DELETE: 'delete',
}

/** Answers a request. Every one passes the probe as a call of a BMC, also those that are refused. */
export async function answerRedfishCall(service: ServiceParts, request: WireRequest): Promise<WireResponse> {
  const { probe } = service
  let routed: Routed
  try {
    routed = await routeRedfishCall(service, request)
  } catch (error) {
    // The dump of a BMC that can no longer be read.
    return orRefused(service, spokenDialectOf(service.machines, undefined), () => Promise.reject(error as Error))
  }
  let isLie = false
  const work = () => orRefused(service, routed.spoken, () => answerRouted(service, request, routed, isLie))
  if (!probe.watches('bmc')) return work()
  const { resource, machine, path, params } = routed
  const { method, target } = request
  const reads = resource?.reads ?? NO_RESOURCE
  const call = ownMember(RESOURCE_METHODS, method) === 'get' ? reads : (resource?.changes ?? reads)
  const standard = resource && `/redfish/v1${standardPath({ resource, params })}`
  const point: RedfishPoint = {
    kind: 'bmc',
    call,
    method,
    target,
    ...defined({
      machine: machine ? machine.spec.id : undefined,
      standardPath: standard === path ? undefined : standard,
    }),
    lie: () => (isLie = true),
  }
  const answered = await probe.around<WireResponse>(point, work)
  if (answered.headers['odata-version']) return answered
  return { ...answered, headers: { ...ANSWER_HEADERS, ...answered.headers } }
}

async function routeRedfishCall(service: ServiceParts, { target }: WireRequest): Promise<Routed> {
  const mark = target.indexOf('?')
  const path = mark < 0 ? target : target.slice(0, mark)
  const search = mark < 0 ? '' : target.slice(mark + 1)
  const below = /^\/redfish\/v1(\/.*)?$/.exec(path)
  const found = below ? await routeRedfishPath(service, below[1] ?? '/') : await routeDumpedPath(service, path)
  const spoken = spokenDialectOf(service.machines, found?.machine)
  return { path, search, params: {}, spoken, ...found }
}

async function orRefused(
  service: ServiceParts,
  spoken: SpokenDialect,
  work: () => Promise<WireResponse>,
): Promise<WireResponse> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ConnectionFailed) throw error
    if (error instanceof Refusal) return refusalAnswer(spoken, error)
    // The machine's own refusals, as of a setting that it lacks.
    if (error instanceof UserError)
      return refusalAnswer(spoken, messageRefusal(400, 'GeneralError', [], { resolution: error.message }))
    service.logger('error', 'a Redfish request failed', { error })
    return refusalAnswer(spoken, messageRefusal(500, 'InternalError'))
  }
}

/** A refusal as the BMC says it: JSON, or the page of its web server. */
function refusalAnswer(spoken: SpokenDialect, { status, messages, headers }: Refusal): WireResponse {
  if (!spoken.dialect.errors.pages.includes(status)) return jsonAnswer(status, spoken.error(messages), headers)
  return {
    status,
    headers: { ...headers, 'content-type': 'application/xhtml+xml' },
    body: `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>${status}</title></head><body></body></html>`,
  }
}

async function answerRouted(
  service: ServiceParts,
  request: WireRequest,
  routed: Routed,
  isLie: boolean,
): Promise<WireResponse> {
  const { path, search, resource, params, machine, spoken, dumped } = routed
  if (/^\/redfish\/?$/.test(path)) return jsonAnswer(200, { v1: '/redfish/v1/' })
  const { 'odata-version': version } = request.headers
  if (version !== undefined && version !== '4.0')
    throw messageRefusal(412, 'HeaderInvalid', ['OData-Version'], { resolution: 'Use version 4.0.' })
  const isOpen = resource?.kind === 'service' && (resource.open === true || isSignIn(resource, request))
  // The root is read at every start of a client; only what a query puts into it depends on who asks.
  const caller = !isOpen
    ? authenticate(service, request, machine)
    : search === ''
      ? undefined
      : findCaller(service, request)
  const methods =
    resource && (resource.kind === 'service' || machine) ? offeredMethods(resource, { params, spoken }) : []
  if (!resource || methods.length === 0) throw messageRefusal(404, 'ResourceMissingAtURI', [path])
  const method = ownMember(RESOURCE_METHODS, request.method)
  const allow = allowHeader(methods)
  if (!method || !methods.includes(method))
    throw messageRefusal(405, 'OperationNotAllowed', [], { resolution: `Use ${allow}.`, headers: { allow } })
  refuseResource(routed, request.method)
  const query = new URLSearchParams(search)
  if (method !== 'get' && [...query.keys()].some((name) => name.startsWith('$')))
    throw messageRefusal(400, 'QueryNotSupportedOnOperation')
  const body = method === 'get' || method === 'delete' ? {} : spoken.body(readRedfishBody(request, method === 'post'))
  const call: RedfishCall = {
    service,
    request,
    params,
    body,
    query,
    caller,
    spoken,
    allow,
    isLie,
    ...defined({ dumped }),
  }
  return carryOut(resource, method, machine ? { ...call, machine } : call, path)
}

/** @throws Refusal of a resource that the BMC refuses to every client now */
function refuseResource({ resource, params, machine, spoken }: Routed, method: string): void {
  const { refused } = spoken.dialect.resources
  if (refused.length === 0 || !resource) return
  const asked = standardPath({ resource, params })
  const found = refused.find(
    (each) =>
      isAtOrBelow(asked, each.at) &&
      (each.methods === null || each.methods.includes(method === 'HEAD' ? 'GET' : method)) &&
      (each.while === 'always' || machine?.power() === 'off'),
  )
  if (!found) return
  const { status, messageId, message } = found
  const [refusal] = messageRefusal(status, 'GeneralError').messages
  throw new Refusal(status, [{ ...refusal!, MessageId: messageId, Message: message }])
}

/** The caller of an open resource, which shows more to one with credentials and is there without them. */
function findCaller(service: ServiceParts, request: WireRequest): RedfishCall['caller'] {
  try {
    return authenticate(service, request, undefined)
  } catch {
    return undefined
  }
}

/** A POST of a session has its credentials in the body. */
const isSignIn = (resource: RedfishResource, { method }: WireRequest): boolean =>
  method === 'POST' && resource.path.startsWith('/SessionService/Sessions')
