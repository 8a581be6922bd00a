import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { isUtf8 } from 'node:buffer'
import type { AddressInfo, Socket } from 'node:net'
import type { ErrorRequestHandler, RequestHandler } from 'express'
import { authority, callerCheck, callerSentence, type CallerRefusal } from '../bytes/index.js'
import {
  defined,
  withClockHeld,
  sharedAbort,
  silent,
  systemClock,
  UserError,
  type Clock,
  type Logger,
} from '../runtime/index.js'
import {
  bodyToSend,
  ConnectionFailed,
  streamToSend,
  type Dispatch,
  type WireRequest,
  type WireResponse,
} from './wire-exchange.js'
import { BodyRoom, bodyReader } from './http-bodies.js'
import { plainRefusal, refuseInWords, sendRefusal, type Refuse } from './http-refusals.js'
import { sendStream } from './http-streams.js'
import { listen } from './listen.js'

/** Identity of a server: a certificate and its private key, both PEM. */
export interface TlsIdentity {
  readonly certificate: string
  readonly key: string
}

export interface TlsOptions extends TlsIdentity {
  /** `TLSv1.2` by default, as in IPA. */
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3'
  /** In OpenSSL's notation. */
  readonly ciphers?: string
}

/** How many bytes a request's body may have by its target, and what a larger one is refused with. */
export type BodyLimits = (target: string) => { readonly largest: number; readonly refusal: string }

export interface HttpServerOptions {
  /** Rejects with {@link ConnectionFailed} to hang up without an answer, as if the port were closed. */
  dispatch: Dispatch
  /** Address to listen on; `127.0.0.1` by default. */
  host?: string
  /** 0 picks a free port. */
  port: number
  /** Names by which clients may call besides those of this host. */
  allowedHosts?: readonly string[] | undefined
  /** URL for clients, where that is another than the one that it listens on: that of a proxy. */
  publicUrl?: string | null | undefined
  /** Whether every call that matters asks for a password or token. */
  asksPassword?: boolean | undefined
  /** Makes the answer to a caller that is refused: a web page of another server. Default: `refuse` with 403. */
  refuseCaller?: ((refusal: CallerRefusal, target: string) => WireResponse) | undefined
  clock: Clock
  logger?: Logger
  /** Largest body in bytes, 64 MiB by default; by what is asked for where calls differ. */
  bodyLimit?: number | BodyLimits
  /** Most bytes that the bodies of all requests under way may have together, 256 MiB by default. */
  allBodiesLimit?: number
  /**
   * Makes the answer to a request that the server refuses itself: the body is too large (413), truncated or not UTF-8 (400), has an
   * unknown encoding (415) or exceeds `allBodiesLimit` (503); the request is not HTTP (400, 431) or too slow (408). Default: plain text.
   */
  refuse?: Refuse
  /** How long headers and the whole of a request may take to arrive, in milliseconds of wall time; Node's limits without. */
  slowest?: { readonly headers: number; readonly request: number }
  /** Speaks TLS from the start; see {@link HttpServer.secure}. */
  tls?: TlsOptions
}

export interface HttpServer extends AsyncDisposable {
  /** `http://127.0.0.1:6385`: no trailing slash; IPv6 in brackets; `https` once it is secure. */
  readonly url: string
  readonly port: number
  /**
   * From now on TLS and nothing else is spoken on this port; who is connected without it is cut off. An agent learns only
   * after it listens whether its Ironic can make use of a certificate.
   *
   * @throws UserError `tls-identity` when the certificate and its key cannot be used
   */
  secure(tls: TlsOptions): void
}

/** Time for requests under way to end once the server closes, in milliseconds of wall time: sockets are real. */
const SERVER_CLOSE_TIMEOUT = 500

/**
 * Listens and hands every request to `dispatch`. Express reads the body and keeps its limit; everything that has a
 * meaning in a protocol (routes, methods, errors, request ids) is the dispatch's.
 *
 * @throws UserError `port-in-use`, `address-unusable` or `tls-identity`
 */
export async function serveHttp(options: HttpServerOptions): Promise<HttpServer> {
  const { dispatch, host = '127.0.0.1', clock, logger = silent, bodyLimit = 64 * 1024 * 1024 } = options
  const limitsOf = typeof bodyLimit === 'number' ? () => ({ largest: bodyLimit, refusal: TOO_LARGE }) : bodyLimit
  const { refuse = plainRefusal, slowest = { headers: 60_000, request: 300_000 } } = options
  const callerRefusal = callerCheck({ ...options, host })
  const { refuseCaller = (refusal) => refuse(403, callerSentence(refusal)) } = options
  const settings: ServerOptions = {
    // Ironic does without, as clients of HTTP/1.0 do.
    requireHostHeader: false,
    headersTimeout: slowest.headers,
    requestTimeout: slowest.request,
    connectionsCheckingInterval: Math.min(30_000, slowest.headers),
    // As cheroot, which serves Ironic and its agent. Ours and Node's own clients drop an idle connection long before.
    keepAliveTimeout: 10_000,
  }
  const server = createServer(settings, listener)
  refuseInWords(server, refuse)
  let withBody: RequestListener | undefined
  let loading: Promise<RequestListener> | undefined

  let secured: Server | undefined
  /** Below TLS; neither server knows of those that are still shaking hands. */
  const sockets = new Set<Socket>()
  if (options.tls) secure(options.tls)
  await listen(server, host, options.port, clock)
  const { port } = server.address() as AddressInfo
  const address = authority(host, port)
  let closing: Promise<void> | undefined
  const ending = sharedAbort()
  return {
    get url() {
      return ownUrl()
    },
    port,
    secure,
    [Symbol.asyncDispose]: () => {
      ending.abort()
      return (closing ??= close(server, secured, sockets))
    },
  }

  function ownUrl(): string {
    return `${secured ? 'https' : 'http'}://${address}`
  }

  function secure(tls: TlsOptions): void {
    const next = tlsServer(tls, settings, listener)
    refuseInWords(next, refuse)
    server.closeAllConnections()
    server.removeAllListeners('connection')
    server.on('connection', (socket: Socket) => {
      // As below any TLS server of Node; a client that has refused our certificate would otherwise stay half connected.
      socket.allowHalfOpen = false
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
      next.emit('connection', socket)
    })
    secured = next
  }

  /** Most requests have no body, and nothing that express would have to do. */
  function listener(request: IncomingMessage, response: ServerResponse): void {
    const { method = 'GET', url = '/', headers } = request
    const unknownCaller = callerRefusal({ method, headers, base: baseOf(request, ownUrl()) })
    if (unknownCaller) {
      logger('warn', `${method} ${requestPathOf(request)} was refused: ${unknownCaller.message}`)
      return sendRefusal(response, refuseCaller(unknownCaller, url))
    }
    const { 'content-length': length, 'transfer-encoding': encoding, expect } = headers
    const { largest, refusal } = limitsOf(url)
    if (Number(length) > largest) {
      logger('warn', `${request.method} ${requestPathOf(request)} was refused: 413 ${refusal}`)
      return sendRefusal(response, refuse(413, refusal))
    }
    if (length === undefined && encoding === undefined && expect === undefined) answered(request, response)
    else if (withBody) withBody(request, response)
    else firstWithBody(request, response)
  }

  /** Until Express is loaded no byte of a body is read. */
  function firstWithBody(request: IncomingMessage, response: ServerResponse): void {
    loading ??= withClockHeld(clock, 'loading what reads bodies', bodyReading)
    loading
      .then((read) => {
        withBody = read
        // A client that has gone meanwhile sends no body and needs no answer.
        if (!request.destroyed) read(request, response)
      })
      .catch((error: unknown) => failed(error, response))
  }

  /** Loaded for the first request with a body: it takes longer than all the rest of this room. */
  async function bodyReading(): Promise<RequestListener> {
    const { default: express } = await import('express')
    const app = express()
    app.disable('x-powered-by')
    app.disable('etag')
    const room = new BodyRoom(options.allBodiesLimit ?? 256 * 1024 * 1024)
    app.use(bodyReader(limitsOf, room, (largest) => express.raw({ type: () => true, limit: largest })))
    app.use(refuseBadText)
    app.use(answered)
    app.use(answerBodyError(refuse, logger))
    return app
  }

  function answered(request: IncomingMessage, response: ServerResponse): void {
    answer(request, response).catch((error: unknown) => failed(error, response))
  }

  async function answer(request: IncomingMessage & { body?: unknown }, response: ServerResponse): Promise<void> {
    const reply = await dispatch(received(request, ownUrl()))
    response.statusCode = reply.status
    for (const [name, value] of Object.entries(reply.headers)) response.setHeader(name, value)
    if (closing) response.setHeader('connection', 'close')
    const stream = streamToSend(reply)
    // A body without an end keeps no clock from moving.
    if (stream && request.method !== 'HEAD') return sendStream(response, stream, ending.signal)
    // The client has gone meanwhile: nothing would end the hold.
    if (response.closed) return
    const hold = clock.hold(`answering ${request.method} ${request.url}`)
    response.once('close', () => hold[Symbol.dispose]())
    response.end(bodyToSend(reply))
  }

  function failed(error: unknown, response: ServerResponse): void {
    if (error instanceof ConnectionFailed) return void response.destroy()
    logger('error', 'a request could not be answered', { error })
    if (response.headersSent) response.destroy()
    else response.writeHead(500).end()
  }
}

/** The body parser's sentence, here also for a body whose size shows only while it arrives. */
const TOO_LARGE = 'request entity too large'

const requestPathOf = ({ url = '' }: IncomingMessage): string => url.replace(/\?.*$/s, '')

function received(request: IncomingMessage & { body?: unknown }, ownUrl: string): WireRequest {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value
  const { body } = request
  const { remoteAddress: peer } = request.socket
  return {
    method: request.method!,
    target: request.url!,
    headers,
    ...defined({ body: Buffer.isBuffer(body) && body.length > 0 ? body.toString('utf8') : undefined }),
    base: baseOf(request, ownUrl),
    peer,
  }
}

/** How a client reached the server. */
const baseOf = ({ headers: { host } }: IncomingMessage, ownUrl: string): string =>
  host ? `${ownUrl.slice(0, ownUrl.indexOf(':'))}://${host}` : ownUrl

/** Bodies are JSON, which is UTF-8: other bytes would be decoded to something that the client did not send. */
const refuseBadText: RequestHandler = (request, _response, next) => {
  const body: unknown = request.body
  next(
    Buffer.isBuffer(body) && !isUtf8(body)
      ? { status: 400, message: 'The request body is not UTF-8 text.' }
      : undefined,
  )
}

/** Express passes on here what the body parser could not take. */
const answerBodyError =
  (refuse: Refuse, logger: Logger): ErrorRequestHandler =>
  (error: { status?: number; message?: string }, request, response, _next) => {
    const { status, headers, body } = refuse(error.status ?? 400, error.message ?? 'The request could not be read.')
    logger('warn', `${request.method} ${request.path} was refused: ${status} ${error.message ?? ''}`)
    response.status(status)
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    response.end(body)
  }

/** Takes over the connections of a server that listens; it has no port of its own. */
function tlsServer(
  { certificate, key, minVersion = 'TLSv1.2', ciphers }: TlsOptions,
  settings: ServerOptions,
  listener: RequestListener,
): Server {
  try {
    const server = createTlsServer(
      { ...settings, cert: certificate, key, minVersion, ...defined({ ciphers: ciphers || undefined }) },
      listener,
    )
    // A client that hangs up over our certificate is the client's matter.
    server.on('tlsClientError', (_error, socket) => socket.destroy())
    // Node keeps track of a server's connections, to find idle ones, from this event on.
    server.emit('listening')
    return server
  } catch (cause) {
    throw new UserError('tls-identity', `Cannot speak TLS: ${(cause as Error).message}.`, {
      remedy: 'Give a certificate and the private key that belongs to it, both in PEM.',
      cause,
    })
  }
}

/** Idle connections end at once; requests under way get a moment; nothing keeps the process alive after that. */
async function close(server: Server, secured: Server | undefined, sockets: ReadonlySet<Socket>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  // The server never listened: nothing to wait for, but this stops its timer for idle connections.
  secured?.close(() => {})
  secured?.closeIdleConnections()
  const over = new AbortController()
  const grace = systemClock().sleep(SERVER_CLOSE_TIMEOUT, { signal: over.signal })
  await Promise.race([closed, grace])
  over.abort()
  await grace.catch(() => {})
  server.closeAllConnections()
  for (const socket of sockets) socket.destroy()
  await closed
}
