import {
  Probe,
  seconds,
  sharedAbort,
  silent,
  UserError,
  uuid,
  type Clock,
  type Logger,
  type Random,
} from '../runtime/index.js'
import {
  ConnectionFailed,
  HttpTransport,
  probed,
  type Dispatch,
  type Transport,
  type WireRequest,
  type WireResponse,
} from '../wire/index.js'
import { authenticate } from './access/authenticate.js'
import type { Credentials, RedfishAccounts } from './access/credentials.js'
import { Sessions } from './access/sessions.js'
import { bodyOf } from './protocol/body.js'
import { etagOf, HEADERS, JSON_TYPE, jsonAnswer, resourceAnswer, withEtag } from './protocol/answers.js'
import type { Document } from './protocol/document.js'
import { queried } from './protocol/query.js'
import { errorBody, refused, Refusal } from './protocol/refusal.js'
import { allowed, type Call, type MachineCall, type Method, type Outcome, type Resource } from './protocol/resource.js'
import { Routes } from './protocol/routes.js'
import { EventHub } from './events/event-hub.js'
import { Tasks } from './tasks/tasks.js'
import { RESOURCES } from './resources/index.js'
import type { ServedMachines, ServiceParts } from './service-parts.js'

export interface RedfishOptions {
  /** The machines whose BMCs are served: all on one listener, or a single one. */
  machines: ServedMachines
  accounts: RedfishAccounts
  clock: Clock
  random: Random
  /** Every call passes here as a call of a BMC. */
  probe?: Probe
  logger?: Logger
  /** UUID of the service; random without. */
  uuid?: string
  /** Most open sessions; by default 16 for each machine. */
  sessionLimit?: number
  /** Milliseconds of lab time that an update of firmware takes; 2 seconds by default. */
  updateTime?: number
  /** Carries events to those who have subscribed; over HTTP by default. */
  transport?: Transport
  /** Whether a PATCH, PUT or DELETE needs an If-Match header, as with some vendors; answered with 428 without. */
  requireIfMatch?: boolean
}

/** BMCs that are served by Redfish. */
export interface RedfishService extends AsyncDisposable {
  readonly dispatch: Dispatch
}

const ROUTES = new Routes(RESOURCES)

/**
 * A Redfish service in front of machines, each of which is a system, a manager and a chassis of the same id. The state is
 * the machines' own.
 *
 * @example
 * const service = createRedfishService({ machines, accounts, clock, random, probe })
 * await using server = await serveHttp({ dispatch: service.dispatch, port: 8000, clock })
 */
export function createRedfishService(options: RedfishOptions): RedfishService {
  const { machines, accounts, clock, random, probe = new Probe(), logger = silent } = options
  const most = () => options.sessionLimit ?? 16 * Math.max(1, machines.list().length)
  const over = sharedAbort()
  const closing = over.signal
  const own = options.transport ? undefined : new HttpTransport({ clock, timeoutMs: seconds(10), connections: 4 })
  const transport = probed(options.transport ?? own!, probe, { from: 'bmc', to: 'subscriber' })
  const events = new EventHub({ machines, transport, clock, random, logger, closing })
  const attached = events.attach(probe)
  const service: ServiceParts = {
    ...{ machines, accounts, clock, random, probe, logger, events },
    sessions: new Sessions({ clock, random, most }),
    tasks: new Tasks({ clock, random, closing }),
    updateTime: options.updateTime ?? seconds(2),
    uuid: options.uuid ?? uuid(random),
    requiresIfMatch: options.requireIfMatch ?? false,
    visible: (caller) => machines.list().filter((machine) => sees(accounts, machine, caller)),
    sees: (machine, caller) => sees(accounts, machine, caller),
  }
  return {
    dispatch: (request) => answered(service, request),
    [Symbol.asyncDispose]: async () => {
      attached[Symbol.dispose]()
      over.abort()
      await own?.[Symbol.asyncDispose]()
    },
  }
}

/** Whether credentials open a machine, without leaving them there as its account. */
function sees(accounts: RedfishAccounts, machine: Parameters<RedfishAccounts['of']>[0], caller: Credentials): boolean {
  const account = accounts.of(machine)
  return account === undefined || (account.username === caller.username && account.password === caller.password)
}

async function answered(service: ServiceParts, request: WireRequest): Promise<WireResponse> {
  try {
    return await carriedOut(service, request)
  } catch (error) {
    if (error instanceof ConnectionFailed) throw error
    if (error instanceof Refusal) return jsonAnswer(error.status, errorBody(error.messages), error.headers)
    if (error instanceof UserError)
      return jsonAnswer(400, errorBody(refused(400, 'GeneralError', [], { resolution: error.message }).messages))
    service.logger('error', 'a Redfish request failed', { error })
    return jsonAnswer(500, errorBody(refused(500, 'InternalError').messages))
  }
}

const METHODS: Readonly<Record<string, Method>> = {
  ...{ GET: 'get', HEAD: 'get', PATCH: 'patch', PUT: 'put', POST: 'post', DELETE: 'delete' },
}

async function carriedOut(service: ServiceParts, request: WireRequest): Promise<WireResponse> {
  const [path, search] = splitTarget(request.target)
  if (path === '/redfish') return jsonAnswer(200, { v1: '/redfish/v1/' })
  const { 'odata-version': version } = request.headers
  if (version !== undefined && version !== '4.0')
    throw refused(412, 'HeaderInvalid', ['OData-Version'], { resolution: 'Use version 4.0.' })
  const below = /^\/redfish\/v1(\/.*)?$/.exec(path)?.[1] ?? (path === '/redfish/v1' ? '/' : undefined)
  const found = below === undefined ? undefined : ROUTES.find(below)
  const isOpen =
    found?.resource.kind === 'service' && (found.resource.open === true || isSignIn(found.resource, request))
  const machine = found?.resource.kind === 'machine' ? service.machines.get(found.params['machine']!) : undefined
  const caller = isOpen ? undefined : authenticate(service, request, machine)
  if (!found || (found.resource.kind === 'machine' && !machine)) throw refused(404, 'ResourceMissingAtURI', [path])
  const { resource, params } = found
  const method = METHODS[request.method]
  const carries = method && (resource[method] ?? (method === 'get' ? resource.raw : undefined))
  if (!carries)
    throw refused(405, 'OperationNotAllowed', [], {
      resolution: `Use ${allowed(resource)}.`,
      headers: { allow: allowed(resource) },
    })
  const query = new URLSearchParams(search)
  if (method !== 'get' && [...query.keys()].some((name) => name.startsWith('$')))
    throw refused(400, 'QueryNotSupportedOnOperation')
  const body = method === 'get' || method === 'delete' ? {} : bodyOf(request, method === 'post')
  const call: Call = { service, request, params, body, query, caller }
  const ofMachine = machine ? { ...call, machine } : call
  return throughProbe(service, request, resource, method, machine?.spec.id, () =>
    run(resource, method, ofMachine, path),
  )
}

/** A POST of a session has its credentials in the body. */
const isSignIn = (resource: Resource, { method }: WireRequest): boolean =>
  method === 'POST' && resource.path.startsWith('/SessionService/Sessions')

/** A fault may leave a change out; the answer then is what it would have been. */
async function throughProbe(
  { probe }: ServiceParts,
  { method: verb, target }: WireRequest,
  resource: Resource,
  method: Method,
  machine: string | undefined,
  work: () => Promise<WireResponse>,
): Promise<WireResponse> {
  if (!probe.watches('bmc')) return work()
  const call = method === 'get' ? resource.reads : (resource.changes ?? resource.reads)
  const point = { kind: 'bmc', call, method: verb, target, ...(machine === undefined ? {} : { machine }) }
  const answer = (await probe.around<WireResponse | undefined>(point, work)) ?? { status: 204, headers: {} }
  return answer.headers['odata-version'] ? answer : { ...answer, headers: { ...HEADERS, ...answer.headers } }
}

async function run(resource: Resource, method: Method, call: Call | MachineCall, path: string): Promise<WireResponse> {
  const { request, service } = call
  if (method === 'get') return read(resource, call, path)
  const { 'if-match': expected } = request.headers
  if (method !== 'post') {
    if (expected === undefined && service.requiresIfMatch && resource.get) throw refused(428, 'PreconditionRequired')
    if (expected !== undefined) await checkMatch(resource, call, expected)
  }
  const change = resource[method] as (call: Call) => Outcome | void | Promise<Outcome | void>
  const { status, document, headers } = (await change(call)) ?? {}
  if (document) return jsonAnswer(status ?? 200, withEtag(document), headers)
  if (status !== undefined || method === 'post' || method === 'delete' || !resource.get)
    return { status: status ?? 204, headers: { ...HEADERS, ...headers } }
  const changed = await documentOf(resource, call)
  return changed ? resourceAnswer(resource, changed) : { status: 204, headers: HEADERS }
}

async function read(resource: Resource, call: Call | MachineCall, path: string): Promise<WireResponse> {
  if (resource.raw) return (resource.raw as (call: Call) => WireResponse)(call)
  const document = await documentOf(resource, call)
  if (!document) throw refused(404, 'ResourceMissingAtURI', [path])
  const { query, request } = call
  const wanted = query.size === 0 ? document : await queried(document, query, (other) => fetched(call, other))
  const plain = resourceAnswer(resource, wanted)
  const status = (resource.statusOf as ((call: Call) => number) | undefined)?.(call) ?? 200
  if (status !== 200) return { ...plain, status, headers: { ...plain.headers, 'retry-after': '1' } }
  const answer = plain
  const { 'if-none-match': known } = request.headers
  const isKnown =
    known !== undefined && (known === '*' || known.split(/\s*,\s*/).includes(answer.headers['etag'] ?? ''))
  return isKnown ? { status: 304, headers: { ...answer.headers, 'content-type': JSON_TYPE } } : answer
}

/** Another resource for the same caller; undefined for what the caller may not see. */
async function fetched(call: Call, path: string): Promise<Document | undefined> {
  const { service, caller } = call
  const found = ROUTES.find(path.replace(/^\/redfish\/v1/, ''))
  if (!found?.resource.get || !caller) return undefined
  const { resource, params } = found
  const asked = { ...call, params, query: new URLSearchParams() }
  if (resource.kind === 'service') return withEtag((await documentOf(resource, asked)) ?? {})
  const machine = service.machines.get(params['machine']!)
  if (!machine || !sees(service.accounts, machine, caller)) return undefined
  const document = await documentOf(resource, { ...asked, machine })
  return document && withEtag(document)
}

const documentOf = async (resource: Resource, call: Call | MachineCall): Promise<Document | undefined> =>
  (resource.get as ((call: Call) => Document | undefined | Promise<Document | undefined>) | undefined)?.(call)

async function checkMatch(resource: Resource, call: Call | MachineCall, expected: string): Promise<void> {
  const document = await documentOf(resource, call)
  if (!document) return
  const etag = etagOf(document)
  const listed = expected.split(/\s*,\s*/).map((each) => each.replace(/^W\//, ''))
  if (!listed.includes('*') && !listed.includes(etag))
    throw refused(412, 'PreconditionFailed', [], { resolution: 'Read the resource again.' })
}

function splitTarget(target: string): [path: string, search: string] {
  const mark = target.indexOf('?')
  const path = mark < 0 ? target : target.slice(0, mark)
  return [path === '/redfish/' ? '/redfish' : path, mark < 0 ? '' : target.slice(mark + 1)]
}
