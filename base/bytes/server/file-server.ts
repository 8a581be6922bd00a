import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  errorChain,
  withClockHeld,
  urlSafeToken,
  UserError,
  type Clock,
  type Logger,
  type Random,
} from '../../runtime/index.js'
import { streamSource } from '../byte-source.js'
import type { FileBody, HttpThrough, ServerAnswer } from '../http/http-client.js'
import { callerCheck, callerSentence } from './known-callers.js'
import { answerTo, type RangeAnswer, type Representation } from './answer.js'
import type { ConditionalHeaders } from './http-preconditions.js'

/** Contents that can only be read from their start, once for each request: no ranges. */
export interface StreamedRepresentation {
  /** Opens the contents; `signal` aborts when the client has gone. The body ends early when `bytes` fails. */
  open: (signal: AbortSignal) => Promise<{ size: number; bytes: AsyncIterable<Uint8Array> }>
  /** Called with the failure of an answer whose client is still there. */
  failed: (error: unknown) => void
}

/** The resource at a path: a refusal has its HTTP status and a sentence, undefined is answered with 404. */
export type FoundFile = Representation | StreamedRepresentation | { refused: number; why: string } | undefined

export interface FileServerOptions {
  host: string
  /** 0 picks a free port. */
  port: number
  /** Names by which clients may call besides those of this host. */
  allowedHosts?: readonly string[] | undefined
  /** URL for clients, where that is another than the one that it listens on: that of a proxy. */
  publicUrl?: string | undefined
  /** Looks up a path, which comes without its query. */
  find: (path: string, headers: ConditionalHeaders) => Promise<FoundFile> | FoundFile
  clock: Clock
  random: Random
  logger: Logger
  onRequest?: (request: { method: string; path: string; status: number }) => void
  /** Sees each request before it is answered; `url` is its path with the query. Streamed representations pass unseen. */
  through?: HttpThrough
}

export interface FileServer extends AsyncDisposable {
  readonly port: number
  /** Without a trailing slash. */
  readonly url: string
}

/** Bytes of one download in memory: a few hundred clients cost tens of megabytes. */
const DOWNLOAD_PIECE_BYTES = 64 * 1024

/**
 * Serves byte sources with ranges and conditions.
 *
 * @throws UserError `port-in-use` or `image-server` when it cannot listen
 */
export async function serveFiles(options: FileServerOptions): Promise<FileServer> {
  const { host, port, clock, random, logger, onRequest } = options
  const boundary = `ironstage-${urlSafeToken(random)}`
  const refusalOf = callerCheck(options)
  const server = createServer((request, response) => {
    const [path = '/'] = (request.url ?? '/').split('?')
    const { method = 'GET', headers } = request
    const refusal = refusalOf({ method, headers, base: `http://${headers.host ?? ''}` })
    if (refusal) {
      logger('warn', `${method} ${path} was refused: ${refusal.message}`)
      return sendPlainText(response, 403, `${callerSentence(refusal)}\n`)
    }
    if (onRequest) response.once('finish', () => onRequest({ method, path, status: response.statusCode }))
    respond(request, response, path, options, boundary).catch((error: unknown) => {
      // Clients that leave early are normal, and so are connections that are cut on purpose.
      if (isGone(error)) return void response.destroy()
      if (response.headersSent) response.destroy()
      else sendPlainText(response, 500, 'the file cannot be read\n')
      logger('warn', `serving ${path} failed: ${errorChain(error).join(': ')}`)
    })
  })
  await withClockHeld(clock, 'starting an image server', async () => {
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
      withClockHeld(clock, 'stopping an image server', async () => {
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
  options: FileServerOptions,
  boundary: string,
): Promise<void> {
  const { find, clock, through } = options
  const { method = 'GET', headers, url = path } = request
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD')
    return sendPlainText(response, 405, 'only GET and HEAD are supported\n')
  }
  let isSent = false
  const answered = async (): Promise<ServerAnswer> => {
    using _ = clock.hold('finding an image')
    const found = await find(path, headers)
    if (!found) return textAnswer(404, 'there is no such file\n')
    if ('refused' in found) return textAnswer(found.refused, `${found.why}\n`)
    if (!('open' in found)) return fileAnswer(answerTo({ method, headers }, found, boundary), found, clock)
    await sendStream(found, method, response)
    isSent = true
    return textAnswer(200, '')
  }
  const gone = new AbortController()
  response.once('close', () => gone.abort(Object.assign(new Error('the client has gone'), { code: 'EPIPE' })))
  const asked = { method, url, headers: plainHeaders(headers), signal: gone.signal }
  const answer = await (through ? through(asked, answered) : answered())
  if (isSent) return
  try {
    response.writeHead(answer.status, definedHeaders(answer.headers))
    if (method === 'HEAD' || [204, 304].includes(answer.status)) return void response.end()
    await send(answer.body, response)
  } finally {
    await answer.body.close()
  }
}

const send = (bytes: AsyncIterable<Uint8Array>, response: ServerResponse): Promise<void> =>
  pipeline(Readable.from(bytes, { objectMode: false, highWaterMark: DOWNLOAD_PIECE_BYTES }), response)

function fileAnswer({ status, headers, body }: RangeAnswer, found: Representation, clock: Clock): ServerAnswer {
  const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  return { status, statusText: '', headers: sent, body: makeFileBody(readAnswerBytes(body, found, clock), found.close) }
}

function textAnswer(status: number, text: string): ServerAnswer {
  const headers = { 'content-type': 'text/plain', 'content-length': String(Buffer.byteLength(text)) }
  return { status, statusText: '', headers, body: makeFileBody(Readable.from([Buffer.from(text)])) }
}

function makeFileBody(parts: AsyncIterable<Uint8Array>, close: () => Promise<void> = async () => {}): FileBody {
  const iterator = parts[Symbol.asyncIterator]()
  return {
    next: async () => (await iterator.next()).value as Uint8Array | undefined,
    [Symbol.asyncIterator]: () => iterator,
    close,
  }
}

const plainHeaders = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

const definedHeaders = (headers: ServerAnswer['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined))

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
    else sendPlainText(response, 502, 'the file cannot be fetched\n')
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

async function* readAnswerBytes(
  parts: RangeAnswer['body'],
  { source }: Representation,
  clock: Clock,
): AsyncGenerator<Uint8Array> {
  for (const part of parts)
    if (typeof part === 'string') yield Buffer.from(part)
    else {
      const pieces = streamSource(source, { ...part, piece: DOWNLOAD_PIECE_BYTES })
      for (;;) {
        const { done, value } = await withClockHeld(clock, 'reading an image', () => pieces.next())
        if (done) break
        yield value
      }
    }
}

function sendPlainText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain', 'content-length': Buffer.byteLength(text) }).end(text)
}

const GONE = ['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE', 'ERR_STREAM_DESTROYED']

const isGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && GONE.includes(String(error.code))
