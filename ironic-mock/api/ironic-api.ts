import { errorChain, uuid, type Clock, type Logger, type Probe, type Random } from '../../runtime/index.js'
import {
  formatMicroversion,
  ironicErrorBody,
  ironicErrors,
  IronicError,
  isLaterRoute,
  negotiate,
  probedDispatch,
  rangeHeaders,
  VERSION_HEADER,
  type Dispatch,
  type Microversion,
  type Operation,
  type OperationId,
  type WireRequest,
  type WireResponse,
} from '../../wire/index.js'
import type { Conductor } from '../conductor/conductor.js'
import type { Store } from '../store/store.js'
import { readArguments } from './arguments.js'
import { readBody } from './body.js'
import type { Backend, Call, Reply } from './call.js'
import { handlers } from './handlers/index.js'
import { Links } from './links.js'
import { Router } from './router.js'
import { checkDocument } from './schema.js'

export interface IronicApiOptions {
  conductor: Conductor
  store: Store
  clock: Clock
  random: Random
  probe: Probe
  logger: Logger
  /** What links start with, instead of how the client reached us (`[api]public_endpoint`); no trailing slash. */
  publicEndpoint?: string
  /** `[deploy]fast_track`: agents may look up nodes with which nothing is going on. */
  fastTrack?: boolean
}

const router = new Router()
/** The three calls that only a ramdisk makes. */
const RAMDISK_CALL = /^\/(v1\/)?(lookup|heartbeat|continue_inspection)\b/

/**
 * Ironic's API over a conductor and its store. Every answer carries request ids; those of controllers also the version
 * they speak, those of the router (unknown path, wrong method, ident that cannot be one) not: as upstream.
 */
export function createIronicApi(options: IronicApiOptions): Dispatch {
  const { conductor, store, clock, random, probe, logger, publicEndpoint, fastTrack = false } = options
  const startedAt = new Date(clock.now()).toISOString().replace('Z', '000')
  const backend: Backend = { conductor, store, clock, logger, fastTrack, startedAt }

  return probedDispatch(
    async (request) => {
      if (request.method === 'OPTIONS') return { status: 200, headers: {} }
      const requestId = `req-${uuid(random)}`
      const response = await answer(request, backend, publicEndpoint)
      return {
        ...response,
        headers: { ...response.headers, 'x-openstack-request-id': requestId, 'openstack-request-id': requestId },
      }
    },
    probe,
    ({ target }) => ({ from: RAMDISK_CALL.test(target) ? 'agent' : 'client', to: 'ironic' }),
  )
}

async function answer(request: WireRequest, backend: Backend, endpoint: string | undefined): Promise<WireResponse> {
  let version: Microversion | undefined
  try {
    const links = new Links((endpoint ?? request.base).replace(/\/+$/, ''))
    version = negotiate(request.headers)
    const { operation, params, query } = route(request)
    if (operation.since > version) throw hidden(operation)
    const body = readBody(operation, request.body)
    const args = readArguments(operation, params, query, body)
    const document = checkedDocument(operation, body)
    const handle = handlers[operation.id as OperationId] as (
      call: Call<never>,
      backend: Backend,
    ) => Promise<Reply> | Reply
    const reply = await handle({ args: args as never, document, version, links }, backend)
    return success(operation, reply, version, request.method === 'HEAD')
  } catch (error) {
    return failure(error, version, request, backend)
  }
}

function route({ method, target }: WireRequest): {
  operation: Operation
  params: Readonly<Record<string, string>>
  query: URLSearchParams
} {
  const [path = '', search = ''] = split(target)
  const segments = path.split('/').filter((segment) => segment !== '')
  // A client without the version in its endpoint (BMO in CR mode) asks for /nodes and means /v1/nodes.
  if (segments.length > 0 && segments[0] !== 'v1') segments.unshift('v1')
  const decoded = segments.map(decode)
  const versioned = `/${decoded.join('/')}`
  if (isLaterRoute(versioned)) throw ironicErrors.noSuchRoute(`${versioned} is not served by ironstage yet`)
  // HEAD is for the root documents only; elsewhere it is a method that is not there.
  const asked = method === 'HEAD' && decoded.length <= 1 ? 'GET' : method
  const found = router.find(asked, decoded)
  if (!found) throw ironicErrors.noSuchRoute()
  const operation = found.operations.get(asked)
  if (!operation) throw ironicErrors.methodNotAllowed([...found.operations.keys()])
  return { operation, params: found.params, query: new URLSearchParams(search) }
}

function split(target: string): [string, string] {
  const at = target.indexOf('?')
  return at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)]
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

const hidden = ({ hidden: how }: Operation): IronicError =>
  how === 'route' ? ironicErrors.noSuchRoute() : ironicErrors.resourceNotFound()

function checkedDocument(operation: Operation, body: unknown): unknown {
  if (!operation.body || !('document' in operation.body)) return undefined
  const { document, label } = operation.body
  // No body at all is an empty object, of which everything required is missing.
  const value = body === undefined ? {} : body
  checkDocument(document, label, value)
  return value
}

const JSON_TYPE = { 'content-type': 'application/json' }

function success(operation: Operation, reply: Reply, version: Microversion, head: boolean): WireResponse {
  const headers: Record<string, string> = { ...versionHeaders(version) }
  if (reply.location !== undefined) headers.location = reply.location
  if (reply.body === undefined) return { status: operation.status, headers }
  Object.assign(headers, JSON_TYPE)
  return { status: operation.status, headers, ...(head ? {} : { body: JSON.stringify(reply.body) }) }
}

const versionHeaders = (version: Microversion): Record<string, string> => ({
  ...rangeHeaders(),
  [VERSION_HEADER]: formatMicroversion(version),
})

function failure(
  thrown: unknown,
  version: Microversion | undefined,
  request: WireRequest,
  { logger }: Backend,
): WireResponse {
  let error = thrown
  if (!(error instanceof IronicError)) {
    logger('error', 'a call of the API ended in a defect', {
      method: request.method,
      target: request.target,
      error: thrown,
    })
    error = ironicErrors.serverFault(errorChain(thrown).join(': '))
  }
  const ironic = error as IronicError
  const versions = ironic.shape === 'wsme' && version !== undefined ? versionHeaders(version) : {}
  return {
    status: ironic.status,
    headers: { ...versions, ...ironic.headers, ...JSON_TYPE },
    ...(request.method === 'HEAD' ? {} : { body: ironicErrorBody(ironic) }),
  }
}
