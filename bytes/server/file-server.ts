import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { errorChain, held, urlSafeToken, UserError, type Clock, type Logger, type Random } from '../../runtime/index.js'
import { streamOf } from '../byte-source.js'
import { answerTo, type Answer, type Representation } from './answer.js'
import type { Headers } from './preconditions.js'

/** What is at a path; a refusal is answered with its status and sentence. */
export type Found = Representation | { refused: 406; why: string } | undefined

export interface FileServerOptions {
  host: string
  /** 0 picks a free one. */
  port: number
  /** Looks a path up, without its query; undefined for what there is not. */
  find: (path: string, headers: Headers) => Promise<Found> | Found
  clock: Clock
  random: Random
  logger: Logger
  onRequest?: (request: { method: string; path: string; status: number }) => void
}

export interface FileServer extends AsyncDisposable {
  readonly port: number
  /** Without a slash at its end. */
  readonly url: string
}

/** So much of one download is in memory: a few hundred readers cost tens of megabytes. */
const PIECE = 64 * 1024

/**
 * Serves byte sources with ranges and conditions.
 *
 * @throws UserError `port-in-use` or `image-server` where it cannot listen
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
      // Readers come and go; only what is wrong here is worth a line.
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
    return plain(response, 405, 'only GET and HEAD are for images\n')
  }
  const hold = clock.hold('serving an image')
  try {
    const found = await find(path, headers)
    if (!found) return plain(response, 404, 'there is no such file\n')
    if ('refused' in found) return plain(response, found.refused, `${found.why}\n`)
    const answer = answerTo({ method, headers }, found, boundary)
    response.writeHead(answer.status, answer.headers)
    if (method === 'HEAD' || answer.body.length === 0) return void response.end()
    await pipeline(Readable.from(bytesOf(answer, found), { objectMode: false, highWaterMark: PIECE }), response)
  } finally {
    hold[Symbol.dispose]()
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
