import { defined, isSameSecret, type Clock, type Logger } from '../../runtime/index.js'
import {
  serveHttp,
  type Dispatch,
  type HttpServer,
  type TlsOptions,
  type WireRequest,
  type WireResponse,
} from '../../wire/index.js'
import type { ObjectStore } from '../object-store.js'
import { KubeRefusal } from '../kube-refusal.js'
import { SYSTEM_NAMESPACES } from '../namespaces.js'
import { noSuchResource, kubeRefusal } from '../refusals.js'
import { broughtDefinitions } from '../crds/brought-definitions.js'
import { AdmissionWebhooks } from '../webhooks/ask-webhooks.js'
import { jsonAnswer, statusAnswer } from './kube-answers.js'
import { MAX_KUBE_BODY_BYTES } from './bodies.js'
import { PROTOBUF_TYPE } from './protobuf/decode-object.js'
import { discoverApi, OPENAPI_PROTOBUF } from './discovery.js'
import { resourceAt, segmentsOf } from './kube-paths.js'
import { reviewedAnswer } from './reviewed-answer.js'
import { proxiedPage, type ServicePages } from './service-proxy.js'

export interface KubeServerOptions {
  store: ObjectStore
  /** `127.0.0.1` by default. */
  host?: string
  /** 0 picks a free port. */
  port: number
  /** Names by which clients may call besides those of this host. */
  allowedHosts?: readonly string[] | undefined
  /** Bearer token that clients have to send; none by default. */
  token?: string
  /** Pages of services that clients read through the API; none by default. */
  pages?: ServicePages
  tls?: TlsOptions
  clock: Clock
  logger?: Logger
}

/**
 * Serves a Kubernetes API over HTTP, for kubectl and other clients.
 *
 * @throws UserError `port-in-use`, `address-unusable` or `tls-identity`
 */
export function serveKube({ store, token, pages, clock, ...options }: KubeServerOptions): Promise<HttpServer> {
  bringObjects(store)
  return serveHttp({
    ...options,
    clock,
    asksPassword: token !== undefined,
    dispatch: kubeDispatch(store, { clock, ...defined({ token, pages }) }),
    bodyLimit: () => ({
      largest: MAX_KUBE_BODY_BYTES,
      refusal: `Request entity too large: limit is ${MAX_KUBE_BODY_BYTES}`,
    }),
    binaryType: PROTOBUF_TYPE,
    allBodiesLimit: 16 * MAX_KUBE_BODY_BYTES,
    refuse: (status, why) => statusAnswer(kubeRefusal(status, REASONS[status] ?? 'BadRequest', why).status),
  })
}

const DEFINITION = 'CustomResourceDefinition'

/** Objects that every API has that is served: namespaces, and the definitions of kinds that ironstage brings. */
function bringObjects(store: ObjectStore): void {
  for (const name of SYSTEM_NAMESPACES)
    if (!store.find('Namespace', { name })) store.create('Namespace', { metadata: { name } })
  for (const definition of broughtDefinitions()) {
    const { name } = definition['metadata'] as { name: string }
    const found = store.find(DEFINITION, { name })
    if (!found) store.create(DEFINITION, definition)
    // A state folder of another version has other ones, which no client has written.
    else if (!found.metadata.managedFields) store.change(DEFINITION, { name }, () => definition)
  }
}

const REASONS: Readonly<Record<number, KubeRefusal['status']['reason']>> = {
  403: 'Forbidden',
  405: 'MethodNotAllowed',
  408: 'Timeout',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  503: 'TooManyRequests',
}

/**
 * A path that there is not: a group of Kubernetes itself answers with a `Status`, the rest of an API server in plain text
 * (apiserver pkg/server/mux/pathrecorder.go).
 *
 * @throws KubeRefusal 404
 */
function unknownPath([root, group = '']: readonly string[], { kinds }: ObjectStore): WireResponse {
  const isOwn =
    root === 'api' || kinds.all().some((entry) => root === 'apis' && !entry.isCustom && entry.group === group)
  if (isOwn) throw noSuchResource()
  return { status: 404, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: '404 page not found\n' }
}

/** Answers requests to the API; every refusal is a `Status`. */
export function kubeDispatch(
  store: ObjectStore,
  { token, pages = {}, clock }: Pick<KubeServerOptions, 'token' | 'pages' | 'clock'>,
): Dispatch {
  const webhooks = new AdmissionWebhooks(store, clock)
  const wanted = token === undefined ? undefined : `Bearer ${token}`
  const answer = (request: WireRequest): WireResponse | Promise<WireResponse> => {
    if (wanted !== undefined && !isSameSecret(request.headers['authorization'] ?? '', wanted))
      throw kubeRefusal(401, 'Unauthorized', 'Unauthorized')
    const segments = segmentsOf(request.target)
    if (!segments) throw kubeRefusal(400, 'BadRequest', 'the path is not percent-encoded UTF-8')
    const page = proxiedPage(segments, request, pages)
    if (page) return page
    const at = resourceAt(segments, store.kinds)
    if (at) {
      const query = new URLSearchParams(/\?(.*)$/s.exec(request.target)?.[1] ?? '')
      return reviewedAnswer({ request, at, query, store, now: () => clock.now() }, webhooks)
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      if (discoverApi(segments, store.kinds))
        throw kubeRefusal(405, 'MethodNotAllowed', `${request.method} is not allowed here`, {})
      return unknownPath(segments, store)
    }
    if (segments.length === 1 && ['healthz', 'livez', 'readyz'].includes(segments[0]!))
      return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: 'ok' }
    const found = discoverApi(segments, store.kinds)
    if (!found) return unknownPath(segments, store)
    if (segments[1] === 'v2' && request.headers['accept']?.includes(OPENAPI_PROTOBUF.accepted))
      return { status: 200, headers: { 'content-type': OPENAPI_PROTOBUF.type }, body: OPENAPI_PROTOBUF.body }
    return jsonAnswer(200, found)
  }
  return async (request) => {
    try {
      return await answer(request)
    } catch (error) {
      if (error instanceof KubeRefusal) return statusAnswer(error.status)
      throw error
    }
  }
}
