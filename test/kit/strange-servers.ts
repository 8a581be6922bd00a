import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { FetchFailureCode } from '../../base/bytes/index.js'

/** Serves one connection after the request's header has arrived. `body` is the requested file. */
type Script = (socket: Socket, body: Buffer, at: { url: string; elsewhere: string }) => void

/** A server that is wrong in one way. */
export interface StrangeServer {
  name: string
  script: Script
  /** `whole` when the file must come as it is, else what may go wrong. */
  ends: 'whole' | readonly FetchFailureCode[]
}

const head = (status: string, ...headers: string[]): string => [`HTTP/1.1 ${status}`, ...headers, '', ''].join('\r\n')
const length = (bytes: number): string => `Content-Length: ${bytes}`
const answer = (socket: Socket, start: string, body: Buffer = Buffer.alloc(0)) =>
  void socket.end(Buffer.concat([Buffer.from(start), body]))
const chunk = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
const CHUNKED = 'Transfer-Encoding: chunked'

/** Writes again and again until the other side has gone, with a pause between or as fast as it is taken. */
function forEver(socket: Socket, text: string | Buffer, pause = 0): void {
  if (pause > 0) {
    const timer = setInterval(() => socket.write(text), pause)
    socket.on('close', () => clearInterval(timer))
    return
  }
  // One large write at a time: this process is the reader too.
  const many = Buffer.concat(Array<Buffer>(Math.ceil(65_536 / text.length)).fill(Buffer.from(text)))
  const go = () => {
    if (socket.destroyed) return
    socket.write(many, () => setImmediate(go))
  }
  go()
}

const server = (name: string, ends: StrangeServer['ends'], script: Script): StrangeServer => ({ name, ends, script })

/** Servers that do what HTTP lets them do, oddly. */
const ODD: StrangeServer[] = [
  server('HTTP/1.0, closes after the body', 'whole', (socket, body) =>
    answer(socket, `HTTP/1.0 200 OK\r\n${length(body.length)}\r\n\r\n`, body),
  ),
  server('HTTP/1.0 without a length', 'whole', (socket, body) => answer(socket, 'HTTP/1.0 200 OK\r\n\r\n', body)),
  server('no reason phrase', 'whole', (socket, body) => answer(socket, head('200', length(body.length)), body)),
  server('chunks of one byte', 'whole', (socket, body) => {
    const all = [...body].map((byte) => chunk(Buffer.from([byte])))
    answer(socket, head('200 OK', CHUNKED), Buffer.concat([...all, Buffer.from('0\r\n\r\n')]))
  }),
  server('chunks and trailers', 'whole', (socket, body) =>
    answer(socket, head('200 OK', CHUNKED), Buffer.concat([chunk(body), Buffer.from('0\r\nX-Sum: 1\r\n\r\n')])),
  ),
  server('a few interim answers', 'whole', (socket, body) =>
    answer(socket, head('103 Early Hints').repeat(3) + head('200 OK', length(body.length)), body),
  ),
  server('the header byte by byte', 'whole', (socket, body) => {
    for (const letter of head('200 OK', length(body.length))) socket.write(letter)
    socket.end(body)
  }),
  server('keeps the connection open after the body', 'whole', (socket, body) => {
    socket.write(head('200 OK', length(body.length), 'Connection: keep-alive'))
    socket.write(body)
  }),
  server('resets the connection after the whole body', 'whole', (socket, body) => {
    socket.write(head('200 OK', length(body.length)))
    socket.write(body, () => setTimeout(() => socket.resetAndDestroy(), 50))
  }),
  server('a Content-Encoding that was not asked for', 'whole', (socket, body) =>
    answer(socket, head('200 OK', length(body.length), 'Content-Encoding: x-gzip'), body),
  ),
  server('redirects once, relative', 'whole', (socket, body) => {
    const first = !socket.asked?.includes('/moved')
    if (first) answer(socket, head('302 Found', 'Location: moved', length(0)))
    else answer(socket, head('200 OK', length(body.length)), body)
  }),
  server('a redirect with a body that never ends', 'whole', (socket, body) => {
    if (socket.asked?.includes('/moved')) return answer(socket, head('200 OK', length(body.length)), body)
    socket.write(head('302 Found', 'Location: /moved'))
    forEver(socket, Buffer.alloc(4096, 'x'))
  }),
]

const BROKEN: StrangeServer[] = [
  server('closes at once', ['closed-early', 'reset'], (socket) => socket.end()),
  server('resets at once', ['reset', 'closed-early'], (socket) => void socket.resetAndDestroy()),
  server('never answers', ['header-timeout'], () => {}),
  server('half of a status line, then nothing', ['header-timeout'], (socket) => void socket.write('HTTP/1.1 20')),
  server('half of a header, then closes', ['closed-early', 'damaged-header'], (socket) =>
    answer(socket, 'HTTP/1.1 200 OK\r\nContent-Le'),
  ),
  server('a header without end', ['header-too-large', 'reset'], (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    forEver(socket, `X-More: ${'x'.repeat(1000)}\r\n`)
  }),
  server('one header that does not end', ['header-too-large', 'reset'], (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nX-Long: ')
    forEver(socket, 'x'.repeat(4096))
  }),
  server('a status line without end', ['header-too-large', 'reset'], (socket) => {
    socket.write('HTTP/1.1 200 ')
    forEver(socket, 'OK '.repeat(1000))
  }),
  server('a header that drips', ['header-timeout'], (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    forEver(socket, 'X-A: b\r\n', 50)
  }),
  server('interim answers without end', ['too-many-interim', 'header-timeout'], (socket) =>
    forEver(socket, head('102 Processing')),
  ),
  server('switches protocols', ['upgrade'], (socket) =>
    answer(socket, head('101 Switching Protocols', 'Upgrade: h2c', 'Connection: Upgrade')),
  ),
  server('HTTP/0.9', ['not-http'], (socket, body) => answer(socket, '', Buffer.concat([Buffer.from('<html>'), body]))),
  server('speaks SSH', ['not-http'], (socket) => answer(socket, 'SSH-2.0-OpenSSH_9.9\r\n')),
  server('speaks HTTP/2', ['not-http'], (socket) =>
    answer(socket, '', Buffer.from('00001204000000000000030000008000', 'hex')),
  ),
  server('a status that is no number', ['damaged-header', 'not-http'], (socket) => answer(socket, head('two hundred'))),
  server('a NUL in a header', ['damaged-header'], (socket, body) =>
    answer(socket, head('200 OK', 'X-Bad: a\0b', length(body.length)), body),
  ),
  server('two lengths', ['damaged-header'], (socket, body) =>
    answer(socket, head('200 OK', length(body.length), length(body.length + 1)), body),
  ),
  server('a length that is no number', ['damaged-header'], (socket, body) =>
    answer(socket, head('200 OK', 'Content-Length: many'), body),
  ),
  server('a negative length', ['damaged-header'], (socket, body) =>
    answer(socket, head('200 OK', 'Content-Length: -1'), body),
  ),
  server('a length and chunks', ['damaged-header'], (socket, body) =>
    answer(socket, head('200 OK', length(body.length), CHUNKED), chunk(body)),
  ),
  server('closes in the middle of the body', ['cut-off'], (socket, body) =>
    answer(socket, head('200 OK', length(body.length)), body.subarray(0, body.length >> 1)),
  ),
  server('resets in the middle of the body', ['reset', 'cut-off'], (socket, body) => {
    socket.write(head('200 OK', length(body.length)))
    socket.write(body.subarray(0, body.length >> 1), () => setTimeout(() => socket.resetAndDestroy(), 50))
  }),
  server('says a larger length than there is', ['cut-off'], (socket, body) =>
    answer(socket, head('200 OK', length(body.length + 1000)), body),
  ),
  server('sends more than it said', ['excess'], (socket, body) =>
    answer(
      socket,
      head('200 OK', length(body.length), 'Connection: close'),
      Buffer.concat([body, Buffer.from('more')]),
    ),
  ),
  server('falls silent in the middle', ['silent'], (socket, body) => {
    socket.write(head('200 OK', length(body.length)))
    socket.write(body.subarray(0, body.length >> 1))
  }),
  server('falls silent before the body', ['silent'], (socket, body) => {
    socket.write(head('200 OK', length(body.length)))
  }),
  server('drips', ['too-slow', 'silent'], (socket) => {
    socket.write(head('200 OK', length(100_000)))
    forEver(socket, 'x', 50)
  }),
  server('a body without length or end', ['too-large'], (socket) => {
    socket.write(head('200 OK'))
    forEver(socket, Buffer.alloc(65_536, 'x'))
  }),
  server('chunks without end', ['too-large'], (socket) => {
    socket.write(head('200 OK', CHUNKED))
    forEver(socket, chunk(Buffer.alloc(65_536, 'x')))
  }),
  server('a chunk size that is none', ['damaged-chunk'], (socket) =>
    answer(socket, head('200 OK', CHUNKED), Buffer.from('zz\r\nabc\r\n0\r\n\r\n')),
  ),
  server('a chunk that is longer than it says', ['damaged-chunk'], (socket) =>
    answer(socket, head('200 OK', CHUNKED), Buffer.from('2\r\nabcdef\r\n0\r\n\r\n')),
  ),
  server('a chunk size that overflows', ['damaged-chunk'], (socket) =>
    answer(socket, head('200 OK', CHUNKED), Buffer.from('fffffffffffffffffffff\r\nabc')),
  ),
  server('a chunk extension without end', ['damaged-chunk'], (socket) => {
    socket.write(`${head('200 OK', CHUNKED)}5;`)
    forEver(socket, 'x'.repeat(4096))
  }),
  server('no last chunk', ['cut-off'], (socket, body) => answer(socket, head('200 OK', CHUNKED), chunk(body))),
  server(
    'trailers without end',
    ['header-too-large', 'damaged-chunk', 'silent', 'too-slow', 'reset'],
    (socket, body) => {
      socket.write(Buffer.concat([Buffer.from(head('200 OK', CHUNKED)), chunk(body), Buffer.from('0\r\n')]))
      forEver(socket, `X-More: ${'x'.repeat(1000)}\r\n`)
    },
  ),
  server('redirects to itself', ['redirect-loop'], (socket, _, { url }) =>
    answer(socket, head('301 Moved Permanently', `Location: ${url}`, length(0))),
  ),
  server('redirects to a file', ['redirect-scheme'], (socket) =>
    answer(socket, head('302 Found', 'Location: file:///etc/passwd', length(0))),
  ),
  server('redirects to another scheme', ['redirect-scheme'], (socket) =>
    answer(socket, head('307 Temporary Redirect', 'Location: gopher://x/1', length(0))),
  ),
  server('redirects to no URL', ['redirect-nowhere'], (socket) =>
    answer(socket, head('302 Found', 'Location: http://[', length(0))),
  ),
  server('redirects to where nothing listens', ['refused'], (socket, _, { elsewhere }) =>
    answer(socket, head('302 Found', `Location: ${elsewhere}`, length(0))),
  ),
]

/** Answers that are HTTP, but not the file. */
const WRONG: StrangeServer[] = [
  '204 No Content',
  '205 Reset Content',
  '304 Not Modified',
  '300 Multiple Choices',
  '403 Forbidden',
  '404 Not Found',
  '410 Gone',
  '429 Too Many Requests',
  '500 Internal Server Error',
  '503 Service Unavailable',
  '599 Odd',
  '999 Odder',
].map((status) =>
  server(`answers ${status}`, ['status'], (socket) =>
    answer(socket, head(status, ...(/^(204|304)/.test(status) ? [] : [length(0)]))),
  ),
)

WRONG.push(
  server('206 that was not asked for', ['status'], (socket, body) =>
    answer(
      socket,
      head('206 Partial Content', length(10), `Content-Range: bytes 5-14/${body.length}`),
      body.subarray(5, 15),
    ),
  ),
  server('416 without a range', ['status'], (socket) => answer(socket, head('416 Range Not Satisfiable', length(0)))),
)

export const STRANGE_SERVERS: readonly StrangeServer[] = [...ODD, ...BROKEN, ...WRONG]

declare module 'node:net' {
  interface Socket {
    /** The request's header. */
    asked?: string
  }
}

/** Starts one of them on the loopback interface. */
export async function strangeServer({ script }: StrangeServer, body: Buffer) {
  const sockets = new Set<Socket>()
  const own = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    let asked = ''
    socket.on('data', (bytes) => {
      if (asked.includes('\r\n\r\n')) return
      asked += bytes.toString('latin1')
      if (!asked.includes('\r\n\r\n')) return
      socket.asked = asked
      // An image is asked for its signature first, and has none.
      if (asked.includes('.sig HTTP')) return answer(socket, head('404 Not Found', length(0)))
      script(socket, body, { url, elsewhere: 'http://127.0.0.1:1/' })
    })
  })
  own.listen(0, '127.0.0.1')
  await once(own, 'listening')
  const url = `http://127.0.0.1:${(own.address() as AddressInfo).port}/file`
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      own.close()
      await once(own, 'close')
    },
  }
}

/** A file as an image server has it. */
export const STRANGE_BODY: Buffer = gzipSync(Buffer.from('a file of a strange server '.repeat(2000)))
