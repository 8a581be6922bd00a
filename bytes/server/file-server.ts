import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { errorChain, held, urlSafeToken, UserError, type Clock, type Logger, type Random } from '../../runtime/index.js'
import { streamOf } from '../byte-source.js'
import { answerTo, type Answer, type Representation } from './answer.js'
import type { Headers } from './preconditions.js'

/** Contents that can only be read from their start, once for each request: no ranges. */
export interface StreamedRepresentation {
  /** Opens the contents; `signal` aborts when the client has gone. The body ends early when `bytes` fails. */
  open: (signal: AbortSignal) => Promise<{ size: number; bytes: AsyncIterable<Uint8Array> }>
  /** Called with the failure of an answer whose client is still there. */
  failed: (error: unknown) => void
}

/** The resource at a path: a refusal has its HTTP status and a sentence, undefined is answered with 404. */
export type Found = Representation | StreamedRepresentation | { refused: number; why: string } | undefined

export interface FileServerOptions {
  host: string
  /** 0 picks a free port. */
  port: number
  /** Looks up a path, which comes without its query. */
  find: (path: string, headers: Headers) => Promise<Found> | Found
  clock: Clock
  random: Random
  logger: Logger
  onRequest?: (request: { method: string; path: string; status: number }) => void
}

export interface FileServer extends AsyncDisposable {
  readonly port: number
  /** Without a trailing slash. */
  readonly url: string
}

/** Bytes of one download in memory: a few hundred clients cost tens of megabytes. */
const PIECE = 64 * 1024

/**
 * Serves byte sources with ranges and conditions.
 *
 * @throws UserError `port-in-use` or `image-server` when it cannot listen
 */
export async function serveFiles(options: FileServerOptions): Promise<FileServer> {
  const { host, port, clock, random, logger, onRequest } = options
  const boundary = `ironstage-${urlSafeToken(random)}`
  const server = createServer((request, response) => {
    const [path = '/'] = (request.url ?? '/').split('?')
    const { method = 'GET' } = request
    if (onRequest) response.once('finish', () => onRequest({ method, path, status: response.statusCode }))
    respond(request, response, path, options, boundary).catch((error: unknown) => {
      if (!response.headersSent) plain(response, 500, 'the file cannot be read\n')
      else response.destroy()
      // Clients that leave early are normal; only failures of this side are logged.
      if (!isGone(error)) logger('warn', `serving ${path} failed: ${errorChain(error).join(': ')}`)
    })
  })
  await held(clock, 'starting an image server', async () => {
    server.listen(port, host)
    await once(server, 'listening').catch((cause: unknown) => {
      const taken = cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE'
      throw new UserError(taken ? 'port-in-use' : 'image-server', `images cannot be served at ${host}:${port}`, {
        cause,
        remedy: 'choose another address or port; 0 picks a free one',
      })
    })
  })
  const at = server.address() as AddressInfo
  return {
    port: at.port,
    url: `http://${at.family === 'IPv6' ? `[${at.address}]` : at.address}:${at.port}`,
    [Symbol.asyncDispose]: () =>
      held(clock, 'stopping an image server', async () => {
        const closed = once(server, 'close')
        server.close()
        server.closeAllConnections()
        await closed
      }),
  }
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  { find, clock }: FileServerOptions,
  boundary: string,
): Promise<void> {
  const { method = 'GET', headers } = request
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD')
    return plain(response, 405, 'only GET and HEAD are supported\n')
  }
  const hold = clock.hold('serving an image')
  try {
    const found = await find(path, headers)
    if (!found) return plain(response, 404, 'there is no such file\n')
    if ('refused' in found) return plain(response, found.refused, `${found.why}\n`)
    if ('open' in found) return await sendStream(found, method, response)
    try {
      const answer = answerTo({ method, headers }, found, boundary)
      response.writeHead(answer.status, answer.headers)
      if (method === 'HEAD' || answer.body.length === 0) return void response.end()
      await send(bytesOf(answer, found), response)
    } finally {
      await found.close?.()
    }
  } finally {
    hold[Symbol.dispose]()
  }
}

const send = (bytes: AsyncIterable<Uint8Array>, response: ServerResponse): Promise<void> =>
  pipeline(Readable.from(bytes, { objectMode: false, highWaterMark: PIECE }), response)

async function sendStream({ open, failed }: StreamedRepresentation, method: string, response: ServerResponse) {
  const gone = new AbortController()
  response.on('close', () => gone.abort(new Error('the client has closed the connection')))
  const report = (error: unknown): never => {
    if (!gone.signal.aborted) failed(error)
    throw error
  }
  try {
    const { size, bytes } = await open(gone.signal).catch(report)
    response.writeHead(200, { 'content-length': size, 'content-type': 'application/octet-stream' })
    if (method === 'HEAD') return void response.end()
    response.flushHeaders()
    await send(reporting(bytes, report), response)
  } catch {
    // The connection ends before the announced length, so the client knows that the body is incomplete.
    if (response.headersSent) response.destroy()
    else plain(response, 502, 'the file cannot be fetched\n')
  }
}

/** `bytes`; a failure goes to `report` before the response is closed, when the client is still there. */
async function* reporting(bytes: AsyncIterable<Uint8Array>, report: (error: unknown) => never) {
  try {
    yield* bytes
  } catch (error) {
    report(error)
  }
}

async function* bytesOf({ body }: Answer, { source }: Representation): AsyncGenerator<Uint8Array> {
  for (const part of body)
    if (typeof part === 'string') yield Buffer.from(part)
    else yield* streamOf(source, { ...part, piece: PIECE })
}

function plain(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain', 'content-length': Buffer.byteLength(text) }).end(text)
}

const GONE = ['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE', 'ERR_STREAM_DESTROYED']

const isGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && GONE.includes(String(error.code))
