import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WireResponse } from './wire-exchange.js'

/** The answer to a request that never becomes one: what it is refused with, and why. */
export type Refuse = (status: number, why: string) => WireResponse

export const plainRefusal: Refuse = (status, why) => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: `${why}\n`,
})

/** Errors of Node's parser and its time limits, with the status that Node would send without a body. */
const STATUSES: Readonly<Record<string, readonly [status: number, why: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The request line and its headers are too large.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The extensions of a chunk are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request has not arrived in time.'],
}

/** Answers requests that Node would refuse without a text: those that are not HTTP, too slow, or ask for a tunnel. */
export function refuseInWords(server: Server, refuse: Refuse): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) return void socket.destroy()
    const [status, why] = STATUSES[error.code ?? ''] ?? [400, 'The request is not valid HTTP.']
    hangUp(socket, refuse(status, why))
  })
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    // The client may be gone before the answer.
    socket.on('error', () => {})
    hangUp(socket, refuse(405, 'CONNECT is not allowed here.'))
  })
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) =>
    sendRefusal(response, refuse(417, 'Only Expect: 100-continue can be met.')),
  )
}

/** Answers at once. What still comes is read away: a client that is cut off while it sends would not see the answer. */
export function sendRefusal(response: ServerResponse, { status, headers, body = '' }: WireResponse): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
  response.end(body)
  response.req.resume()
}

/** Half an answer is on its way: a second one would be read as its rest. Node names no other way to know. */
const isAnswering = (socket: Duplex): boolean =>
  (socket as Duplex & { _httpMessage?: ServerResponse })._httpMessage?.headersSent === true

function hangUp(socket: Duplex, { status, headers, body = '' }: WireResponse): void {
  const lines = Object.entries({ ...headers, 'content-length': String(Buffer.byteLength(body)), connection: 'close' })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n${head}\r\n${body}`, () => socket.destroy())
}
