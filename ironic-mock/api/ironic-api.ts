import { isUtf8 } from 'node:buffer'
import {
  defined,
  errorChain,
  isDiskFull,
  randomUuid,
  waitInQueue,
  type Clock,
  type Logger,
  type Random,
} from '../../base/runtime/index.js'
import {
  answerOfBytes,
  formatMicroversion,
  ironicErrorBody,
  ironicErrors,
  IronicError,
  MAX_MICROVERSION,
  negotiate,
  rangeHeaders,
  SINCE,
  VERSION_HEADER,
  type Dispatch,
  type JsonSchema,
  type Microversion,
  type IronicOperation,
  type OperationId,
  type WireRequest,
  type WireResponse,
} from '../../base/wire/index.js'
import { SERVICE_DEFAULTS, type ServiceSettings } from '../config/service-options.js'
import type { Conductor } from '../conductor/core/conductor.js'
import type { StoreView } from '../store/open-store.js'
import { databaseUnavailable, type DatabaseTrouble, type Store } from '../store/store.js'
import { readArguments, readBody, type Arguments } from './read-arguments.js'
import type { Backend, IronicApiCall, Reply } from './call.js'
import { checkRoutedIdent } from './nodes/find-node.js'
import { handlers } from './handlers/index.js'
import { JsonText } from './json-text.js'
import { Links } from './api-links.js'
import { Release } from './api-release.js'
import { checkDocument } from './api-schema.js'
import { nodeSchemas } from './nodes/node-schemas.js'

export interface IronicApiOptions {
  conductor: Conductor
  store: Store & StoreView
  clock: Clock
  random: Random
  /** For the request ids of calls that only read, so that they leave {@link random} as it is. Default: {@link random}. */
  randomOfReads?: Random
  logger: Logger
  /** Limits of requests and answers, and the beginning of links. */
  service?: ServiceSettings
  /** Newest microversion of the simulated release. */
  newest?: Microversion
  /** Answers in place of the API when a client may not use it. */
  guard?: Guard
  /** `[deploy]fast_track`: agents may look up nodes outside any operation. */
  fastTrack?: boolean
}

/** Answers a request that the API must not see; undefined lets it pass. */
export type Guard = (request: WireRequest) => Promise<WireResponse | undefined>

/** Answer to a malformed HTTP request, which no handler has read, in the shape of the other errors. */
export const ironicRefusal =
  (random: Random) =>
  (status: number, why: string): WireResponse => ({
    status,
    headers: { ...JSON_CONTENT, ...requestIds(random) },
    body: ironicErrorBody(new IronicError(status, why, 'pecan')),
  })

/**
 * Ironic's API over a conductor and its store. Every answer carries request ids. Answers of controllers also carry the
 * versions; those of the router (unknown path, wrong method, impossible ident) do not, as upstream.
 */
export function createIronicApi(options: IronicApiOptions): Dispatch {
  const { conductor, store, clock, random, randomOfReads = random, logger, guard, fastTrack = false } = options
  const { service = SERVICE_DEFAULTS, newest = MAX_MICROVERSION } = options
  const release = Release.of(newest)
  const backend: Backend = {
    conductor,
    store,
    clock,
    logger,
    fastTrack,
    nodeSchemas: nodeSchemas(service.networkDataSchema),
    newest,
  }

  return async (request) => {
    if (request.method === 'OPTIONS') return { status: 200, headers: {} }
    const guarded = await guard?.(request)
    const ids = READS.has(request.method) ? randomOfReads : random
    if (guarded) return { ...guarded, headers: { ...guarded.headers, ...requestIds(ids) } }
    const response = await answerIronicCall(request, { backend, service, release })
    // The work that a call begins is under way when its caller hears of it.
    if (!READS.has(request.method)) await waitInQueue(clock)
    Object.assign(response.headers, requestIds(ids))
    return response
  }
}

const READS = new Set(['GET', 'HEAD'])

function requestIds(random: Random): Record<string, string> {
  const id = `req-${randomUuid(random)}`
  return { 'x-openstack-request-id': id, 'openstack-request-id': id }
}

interface ServedApi {
  readonly backend: Backend
  readonly service: ServiceSettings
  readonly release: Release
}

/** An answer to which headers can be added. */
type ApiAnswer = WireResponse & { readonly headers: Record<string, string> }

async function answerIronicCall(request: WireRequest, served: ServedApi): Promise<ApiAnswer> {
  const { backend, service, release } = served
  let version: Microversion | undefined
  try {
    const links = new Links((service.publicEndpoint ?? request.base).replace(/\/+$/, ''))
    version = negotiate(request.headers, release.newest)
    const { operation, params, query, jsonSuffix } = routeIronicCall(request, release, version)
    const late = operation.hidden === undefined || operation.hidden === 'resource'
    if (operation.since > version && !late) throw hidden(operation)
    const body = readBody(operation, request.body, service)
    const args = readArguments(operation, params, query, body)
    release.checkArguments(operation, args)
    limitPage(operation, args, service.maxLimit)
    if (operation.querySchema) checkQuery(operation.querySchema, args, params)
    const document = checkedDocument(operation, params.document ?? body, served)
    // Upstream reads the arguments before it refuses the version.
    if (operation.since > version) throw hidden(operation)
    const handle = handlers[operation.id as OperationId] as (
      call: IronicApiCall<never, never>,
      backend: Backend,
    ) => Promise<Reply> | Reply
    // A client that goes from one process to another never sees the past.
    if (backend.store.others) await backend.store.others.catchUp()
    const reply = await handle(
      { args: args as never, document: document as never, version, links, jsonSuffix },
      backend,
    )
    return success(operation, reply, versionHeaders(version, release), request.method === 'HEAD')
  } catch (error) {
    return answerFailure(error, version === undefined ? {} : versionHeaders(version, release), request, backend)
  }
}

/** Checks the query; field names in the path are checked later. */
function checkQuery(
  schema: JsonSchema,
  { fields, ...args }: Arguments,
  params: Readonly<Record<string, string>>,
): void {
  const named = fields === undefined || Object.hasOwn(params, 'fields')
  checkDocument(schema, undefined, named ? args : { fields, ...args })
}

/** Limits every list to the operator's maximum. */
function limitPage(operation: IronicOperation, args: Arguments, most: number): void {
  if (!operation.query || !('limit' in operation.query)) return
  args.limit = typeof args.limit === 'number' ? Math.min(args.limit, most) : most
}

function routeIronicCall(
  { method, target, headers }: WireRequest,
  { router }: Release,
  version: Microversion,
): {
  operation: IronicOperation
  params: Readonly<Record<string, string>>
  query: URLSearchParams
  jsonSuffix: boolean
} {
  const [whole = '', search = ''] = splitTarget(target)
  const path = headers[VERSION_HEADER] && version < SINCE.jsonSuffix ? whole.replace(/\.json\/*$/, '') : whole
  const segments = path.split('/').filter((segment) => segment !== '')
  // BareMetal Operator in CR mode has no version in its endpoint: it sends /nodes for /v1/nodes.
  if (segments.length > 0 && segments[0] !== 'v1') segments.unshift('v1')
  const decoded = segments.map(decodeSegment)
  // HEAD exists for the root documents only.
  const asked = method === 'HEAD' && decoded.length <= 1 ? 'GET' : method
  checkRoutedIdent(decoded)
  const found = router.find(asked, decoded)
  if (!found) throw ironicErrors.noSuchRoute()
  // Invalid UTF-8 in a path matches no name; in a query it would be decoded to another value, so it is refused.
  if (!isUtf8Query(search)) throw new IronicError(400, '', 'pecan')
  const operation = found.operations.get(asked)
  if (!operation) throw wrongMethod([...found.operations.values()], version)
  return { operation, params: found.params, query: new URLSearchParams(search), jsonSuffix: path !== whole }
}

/** Error for a method that a path does not have; 404 when the version has no call of that path. */
function wrongMethod(served: readonly IronicOperation[], version: Microversion): IronicError {
  const routed = served.filter(
    ({ hidden: how }) => how === 'route' || (typeof how === 'object' && how.shape === 'pecan'),
  )
  const all = served.every(({ since }) => since > version) && routed.length === served.length
  const writing = routed.find(({ method }) => method !== 'GET') ?? routed[0]
  return all && writing ? hidden(writing) : ironicErrors.methodNotAllowed(served.map(({ method }) => method))
}

/** True if the query is UTF-8; percent signs without two digits are plain text. */
function isUtf8Query(search: string): boolean {
  for (const [bytes] of search.matchAll(/(?:%[0-9a-f]{2})+/gi))
    if (!isUtf8(Buffer.from(bytes.replaceAll('%', ''), 'hex'))) return false
  return true
}

function splitTarget(target: string): [string, string] {
  const at = target.indexOf('?')
  return at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)]
}

/** Decodes a segment, but for slashes: upstream's server does not treat an encoded slash as part of a name. */
function decodeSegment(segment: string): string {
  try {
    return segment.split(/%2f/i).map(decodeURIComponent).join('%2F')
  } catch {
    return segment
  }
}

function hidden({ hidden: how }: IronicOperation): IronicError {
  if (how === 'route') return ironicErrors.noSuchRoute()
  if (how === undefined || how === 'resource') return ironicErrors.resourceNotFound()
  return new IronicError(how.status, how.message, how.shape)
}

function checkedDocument(operation: IronicOperation, body: unknown, { backend, release }: ServedApi): unknown {
  if (!operation.body || !('document' in operation.body)) return undefined
  const { document, label } = operation.body
  // A missing body counts as an empty object, which lacks everything required.
  const value = body === undefined ? {} : body
  const schema = operation.id === 'nodes.create' ? backend.nodeSchemas.created : document
  release.checkDocument(operation, schema, label, value)
  return value
}

const JSON_CONTENT = { 'content-type': 'application/json' }

function success(
  operation: IronicOperation,
  reply: Reply,
  versions: Readonly<Record<string, string>>,
  head: boolean,
): ApiAnswer {
  const { status = operation.status, location, body } = reply
  const headers: Record<string, string> = { ...versions }
  if (location !== undefined) headers.location = location
  if (body === undefined) return { status, headers }
  Object.assign(headers, JSON_CONTENT)
  if (head) return { status, headers }
  if (body instanceof JsonText) return answerOfBytes(status, headers, () => body.bytes())
  return { status, headers, body: JSON.stringify(body) }
}

const versionHeaders = (version: Microversion, { newest }: Release): Record<string, string> => ({
  ...rangeHeaders(newest),
  [VERSION_HEADER]: formatMicroversion(version),
})

const DISK_FULL =
  'The disk of the state folder is full: this change was not made. Make room there and send the request again; what was answered before is kept.'

const DATABASE_TROUBLES: Readonly<Record<DatabaseTrouble, string>> = {
  away: 'The database cannot be reached: this call was not carried out. Send it again.',
  unconfirmed: 'The database has not confirmed this change: it may have been made. Look before you send it again.',
  full: 'The disk of the database is full: this call was not carried out. Make room there, and send it again.',
  'read-only': 'The database takes no changes at present: this call was not carried out. Send it again.',
  busy: 'Other calls keep changing the same records: this call was not carried out. Send it again.',
}

function answerFailure(
  thrown: unknown,
  ownVersions: Readonly<Record<string, string>>,
  request: WireRequest,
  { logger }: Backend,
): ApiAnswer {
  let error = thrown
  const unavailable = databaseUnavailable(thrown)
  if (unavailable) {
    const headers = { 'retry-after': String(unavailable.retryAfter) }
    error = new IronicError(503, DATABASE_TROUBLES[unavailable.trouble], 'wsme', headers)
  } else if (isDiskFull(error)) {
    logger('error', 'the disk of the state folder is full: nothing new can be kept', {
      error: errorChain(thrown).join(': '),
    })
    error = new IronicError(507, DISK_FULL)
  } else if (!(error instanceof IronicError)) {
    logger('error', 'internal error in an API call', {
      method: request.method,
      target: request.target,
      error: thrown,
    })
    error = ironicErrors.serverFault(errorChain(thrown).join(': '))
  }
  const ironic = error as IronicError
  const versions = ironic.shape === 'wsme' ? ownVersions : {}
  return {
    status: ironic.status,
    headers: { ...versions, ...ironic.headers, ...JSON_CONTENT },
    ...defined({ body: request.method === 'HEAD' ? undefined : ironicErrorBody(ironic) }),
  }
}
