import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type ErrorRequestHandler, type Request, type Response } from 'express'
import { held, silent, systemClock, UserError, type Clock, type Logger } from '../runtime/index.js'
import type { Dispatch, WireRequest } from './exchange.js'

export interface HttpServerOptions {
  dispatch: Dispatch
  /** Address to listen on; `127.0.0.1` unless told otherwise. */
  host?: string
  /** 0 picks a free port. */
  port: number
  clock: Clock
  logger?: Logger
  /** Largest body in bytes; Ironic takes up to 64 MiB, for a provision request with its configdrive. */
  bodyLimit?: number
}

export interface HttpServer extends AsyncDisposable {
  /** `http://127.0.0.1:6385`: no trailing slash; IPv6 in brackets. */
  readonly url: string
  readonly port: number
}

/** How long requests under way may take to end once the server closes, in milliseconds of wall time: sockets are real. */
const CLOSING_GRACE = 500

/**
 * Listens and hands every request to `dispatch`. Express does the socket, the body and its limit; everything that has a
 * meaning in a protocol (routes, methods, errors, request ids) is the dispatch's.
 *
 * @throws UserError `port-in-use` or `address-unusable`
 */
export async function serveHttp(options: HttpServerOptions): Promise<HttpServer> {
  const { dispatch, host = '127.0.0.1', clock, logger = silent, bodyLimit = 64 * 1024 * 1024 } = options
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.use(express.raw({ type: () => true, limit: bodyLimit }))
  const server = createServer(app)
  app.use((request, response) => void answer(request, response).catch((error: unknown) => failed(error, response)))
  app.use(unreadable)

  await listen(server, host, options.port, clock)
  const { port } = server.address() as AddressInfo
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  let closing: Promise<void> | undefined
  return { url, port, [Symbol.asyncDispose]: () => (closing ??= close(server)) }

  async function answer(request: Request, response: Response): Promise<void> {
    const reply = await dispatch(received(request, url))
    response.status(reply.status)
    for (const [name, value] of Object.entries(reply.headers)) response.setHeader(name, value)
    if (closing) response.setHeader('connection', 'close')
    const hold = clock.hold(`answering ${request.method} ${request.originalUrl}`)
    response.once('close', () => hold[Symbol.dispose]())
    response.end(reply.body)
  }

  function failed(error: unknown, response: Response): void {
    logger('error', 'a request could not be answered', { error })
    if (response.headersSent) response.destroy()
    else response.status(500).end()
  }
}

function received(request: Request, ownUrl: string): WireRequest {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value
  const body: unknown = request.body
  return {
    method: request.method,
    target: request.originalUrl,
    headers,
    ...(Buffer.isBuffer(body) && body.length > 0 ? { body: body.toString('utf8') } : {}),
    base: headers.host ? `http://${headers.host}` : ownUrl,
  }
}

/** Express passes on here what the body parser could not take: too large (413), aborted, an unknown encoding (415). */
const unreadable: ErrorRequestHandler = (error: { status?: number; message?: string }, _request, response, _next) => {
  response
    .status(error.status ?? 400)
    .setHeader('content-type', 'text/plain; charset=utf-8')
    .end(`${error.message ?? 'The request could not be read.'}\n`)
}

async function listen(server: Server, host: string, port: number, clock: Clock): Promise<void> {
  try {
    await held(clock, `listening on ${host}:${port}`, () => {
      return new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen({ host, port }, () => {
          server.off('error', reject)
          resolve()
        })
      })
    })
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    if (code === 'EADDRINUSE')
      throw new UserError('port-in-use', `Port ${port} on ${host} is already in use.`, {
        remedy: 'Stop the program that listens there, choose another port, or let port 0 pick a free one.',
        cause,
      })
    throw new UserError('address-unusable', `Cannot listen on ${host}, port ${port}: ${code ?? String(cause)}.`, {
      remedy: 'Choose an address of this host (127.0.0.1 for this host only) and a port you are allowed to use.',
      cause,
    })
  }
}

/** Idle connections end at once; requests under way get a moment; nothing keeps the process alive after that. */
async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const over = new AbortController()
  const grace = systemClock().sleep(CLOSING_GRACE, { signal: over.signal })
  await Promise.race([closed, grace])
  over.abort()
  await grace.catch(() => {})
  server.closeAllConnections()
  await closed
}
