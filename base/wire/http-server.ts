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
import { BodyRoom, bodyReader, hasSmallBody, readSmallBody } from './http-bodies.js'
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
  /** True if every call that matters asks for a password or token. */
  asksPassword?: boolean | undefined
  /** Makes the answer to a caller that is refused: a web page of another server. Default: `refuse` with 403. */
  refuseCaller?: ((refusal: CallerRefusal, target: string) => WireResponse) | undefined
  clock: Clock
  logger?: Logger
  /** Largest body in bytes, 64 MiB by default; by what is asked for where calls differ. */
  bodyLimit?: number | BodyLimits
  /** Media type of bodies that are no text: `dispatch` gets their bytes. None by default. */
  binaryType?: string
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
  const server = new ListeningServer(options)
  await server.listen()
  return server
}

class ListeningServer implements HttpServer {
  readonly #options: HttpServerOptions
  readonly #host: string
  readonly #logger: Logger
  readonly #refuse: Refuse
  readonly #refusalOf: ReturnType<typeof callerCheck>
  readonly #limitsOf: BodyLimits
  readonly #settings: ServerOptions
  readonly #server: Server
  #port = 0
  /** Speaks TLS on the connections of {@link #server}. */
  #secured: Server | undefined
  /** Connections below TLS; neither server knows those that are still shaking hands. */
  readonly #sockets = new Set<Socket>()
  /** Reads bodies; loaded for the first request that has one. */
  #bodyListener: RequestListener | undefined
  #loading: Promise<RequestListener> | undefined
  readonly #ending = sharedAbort()
  #closing: Promise<void> | undefined

  constructor(options: HttpServerOptions) {
    const { host = '127.0.0.1', bodyLimit = 64 * 1024 * 1024 } = options
    const { headers, request } = options.slowest ?? { headers: 60_000, request: 300_000 }
    this.#options = options
    this.#host = host
    this.#logger = options.logger ?? silent
    this.#refuse = options.refuse ?? plainRefusal
    this.#refusalOf = callerCheck({ ...options, host })
    this.#limitsOf = typeof bodyLimit === 'number' ? () => ({ largest: bodyLimit, refusal: TOO_LARGE }) : bodyLimit
    this.#settings = {
      // Ironic does without, as clients of HTTP/1.0 do.
      requireHostHeader: false,
      headersTimeout: headers,
      requestTimeout: request,
      connectionsCheckingInterval: Math.min(30_000, headers),
      // As cheroot, which serves Ironic and its agent. Ours and Node's own clients drop an idle connection long before.
      keepAliveTimeout: 10_000,
    }
    this.#server = createServer(this.#settings, this.#received)
    refuseInWords(this.#server, this.#refuse)
    if (options.tls) this.secure(options.tls)
  }

  async listen(): Promise<void> {
    await listen(this.#server, this.#host, this.#options.port, this.#options.clock)
    this.#port = (this.#server.address() as AddressInfo).port
  }

  get port(): number {
    return this.#port
  }

  get url(): string {
    return `${this.#secured ? 'https' : 'http'}://${authority(this.#host, this.#port)}`
  }

  secure(tls: TlsOptions): void {
    const secured = tlsServer(tls, this.#settings, this.#received)
    refuseInWords(secured, this.#refuse)
    this.#server.closeAllConnections()
    this.#server.removeAllListeners('connection')
    this.#server.on('connection', (socket: Socket) => {
      // As below any TLS server of Node; a client that has refused our certificate would otherwise stay half connected.
      socket.allowHalfOpen = false
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
      secured.emit('connection', socket)
    })
    this.#secured = secured
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
    return (this.#closing ??= close(this.#server, this.#secured, this.#sockets))
  }

  /**
   * Answers a request. Most have no body or a small one, and nothing that Express would have to do; it takes a sixth of the
   * processor time of a call.
   */
  readonly #received: RequestListener = (request, response) => {
    const { 'content-length': length, 'transfer-encoding': encoding, expect } = request.headers
    const refusal = this.#callerRefusal(request) ?? this.#sizeRefusal(request)
    if (refusal) return sendRefusal(response, refusal)
    const hasBody = length !== undefined || encoding !== undefined || expect !== undefined
    if (!hasBody) this.#answered(request, response)
    else if (hasSmallBody(request)) this.#receivedWithSmallBody(request, response)
    else if (this.#bodyListener) this.#bodyListener(request, response)
    else this.#receivedWithBody(request, response)
  }

  #callerRefusal(request: IncomingMessage): WireResponse | undefined {
    const { method = 'GET', url = '/', headers } = request
    const refusal = this.#refusalOf({ method, headers, base: baseOf(request, this.url) })
    if (!refusal) return undefined
    this.#logger('warn', `${method} ${requestPathOf(request)} was refused: ${refusal.message}`)
    return this.#options.refuseCaller?.(refusal, url) ?? this.#refuse(403, callerSentence(refusal))
  }

  #sizeRefusal(request: IncomingMessage): WireResponse | undefined {
    const { largest, refusal } = this.#limitsOf(request.url ?? '/')
    if (!(Number(request.headers['content-length']) > largest)) return undefined
    this.#logger('warn', `${request.method} ${requestPathOf(request)} was refused: 413 ${refusal}`)
    return this.#refuse(413, refusal)
  }

  #receivedWithSmallBody(request: IncomingMessage & { body?: unknown }, response: ServerResponse): void {
    readSmallBody(request, (body) => {
      request.body = body
      if (isBadText(request, this.#options.binaryType))
        sendRefusal(response, refusalOfBody(request, BAD_TEXT, this.#refuse, this.#logger))
      else this.#answered(request, response)
    })
  }

  /** Until Express is loaded no byte of a body is read. */
  #receivedWithBody(request: IncomingMessage, response: ServerResponse): void {
    this.#loading ??= withClockHeld(this.#options.clock, 'loading what reads bodies', () => this.#loadBodyListener())
    this.#loading
      .then((read) => {
        this.#bodyListener = read
        // A client that is gone by now sends no body and needs no answer.
        if (!request.destroyed) read(request, response)
      })
      .catch((error: unknown) => this.#failed(error, response))
  }

  /** Express takes longer to load than all the rest of this room. */
  async #loadBodyListener(): Promise<RequestListener> {
    const { default: express } = await import('express')
    const app = express()
    app.disable('x-powered-by')
    app.disable('etag')
    const room = new BodyRoom(this.#options.allBodiesLimit ?? 256 * 1024 * 1024)
    app.use(bodyReader(this.#limitsOf, room, (largest) => express.raw({ type: () => true, limit: largest })))
    app.use(refuseBadText(this.#options.binaryType))
    app.use((request, response) => this.#answered(request, response))
    app.use(answerBodyError(this.#refuse, this.#logger))
    return app
  }

  #answered(request: IncomingMessage, response: ServerResponse): void {
    this.#answer(request, response).catch((error: unknown) => this.#failed(error, response))
  }

  async #answer(request: IncomingMessage & { body?: unknown }, response: ServerResponse): Promise<void> {
    const { dispatch, clock } = this.#options
    const reply = await dispatch(received(request, this.url, this.#options.binaryType))
    response.statusCode = reply.status
    for (const [name, value] of Object.entries(reply.headers)) response.setHeader(name, value)
    if (this.#closing) response.setHeader('connection', 'close')
    const stream = streamToSend(reply)
    // A body without an end keeps no clock from moving.
    if (stream && request.method !== 'HEAD') return sendStream(response, stream, this.#ending.signal)
    // The client is gone by now: nothing would end the hold.
    if (response.closed) return
    const hold = clock.hold(`answering ${request.method} ${request.url}`)
    response.once('close', () => hold[Symbol.dispose]())
    response.end(bodyToSend(reply))
  }

  #failed(error: unknown, response: ServerResponse): void {
    if (error instanceof ConnectionFailed) return void response.destroy()
    this.#logger('error', 'a request could not be answered', { error })
    if (response.headersSent) response.destroy()
    else response.writeHead(500).end()
  }
}

/** The body parser's sentence, here also for a body whose size shows only while it arrives. */
const TOO_LARGE = 'request entity too large'

const requestPathOf = ({ url = '' }: IncomingMessage): string => url.replace(/\?.*$/s, '')

function received(
  request: IncomingMessage & { body?: unknown },
  ownUrl: string,
  binaryType: string | undefined,
): WireRequest {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value
  const bytes = Buffer.isBuffer(request.body) && request.body.length > 0 ? request.body : undefined
  const isBinary = isOfType(request, binaryType)
  const { remoteAddress: peer } = request.socket
  return {
    method: request.method!,
    target: request.url!,
    headers,
    ...defined({
      body: isBinary ? undefined : bytes?.toString('utf8'),
      bytes: isBinary ? bytes : undefined,
    }),
    base: baseOf(request, ownUrl),
    peer,
  }
}

/** How a client reached the server. */
const baseOf = ({ headers: { host } }: IncomingMessage, ownUrl: string): string =>
  host ? `${ownUrl.slice(0, ownUrl.indexOf(':'))}://${host}` : ownUrl

const isOfType = ({ headers }: IncomingMessage, type: string | undefined): boolean =>
  type !== undefined && headers['content-type']?.replace(/;.*$/s, '').trim().toLowerCase() === type

/** Bodies are JSON, which is UTF-8: other bytes would be decoded to something that the client did not send. */
const isBadText = (request: IncomingMessage & { body?: unknown }, binaryType: string | undefined): boolean =>
  Buffer.isBuffer(request.body) && !isOfType(request, binaryType) && !isUtf8(request.body)

const BAD_TEXT = { status: 400, message: 'The request body is not UTF-8 text.' }

const refuseBadText =
  (binaryType: string | undefined): RequestHandler =>
  (request, _response, next) =>
    next(isBadText(request, binaryType) ? BAD_TEXT : undefined)

/** Express passes on here what the body parser could not take. */
const answerBodyError =
  (refuse: Refuse, logger: Logger): ErrorRequestHandler =>
  (error: BodyError, request, response, _next) =>
    sendRefusal(response, refusalOfBody(request, error, refuse, logger))

interface BodyError {
  readonly status?: number
  readonly message?: string
}

function refusalOfBody(request: IncomingMessage, error: BodyError, refuse: Refuse, logger: Logger): WireResponse {
  const { status = 400, message } = error
  logger('warn', `${request.method} ${requestPathOf(request)} was refused: ${status} ${message ?? ''}`)
  return refuse(status, message ?? 'The request could not be read.')
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
