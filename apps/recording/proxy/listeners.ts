import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { callerCheck, callerSentence } from '../../../base/bytes/index.js'
import type { Clock } from '../../../base/runtime/index.js'
import { listen, type TlsIdentity } from '../../../base/wire/index.js'

/** No time limit for requests: Ironic decides how long one takes. */
const LISTENER_SETTINGS: ServerOptions = { requestTimeout: 0, keepAliveTimeout: 5000, requireHostHeader: false }

/** A port that speaks HTTP, and TLS too once it has an identity. */
export interface ProxyListener extends AsyncDisposable {
  readonly port: number
  /** From now on connections that begin with TLS are taken. */
  secure(identity: TlsIdentity): void
}

export interface ListenerPlace {
  host: string
  /** 0 picks a free port. */
  port: number
  /** Names by which clients may call besides those of this host. */
  allowedHosts?: readonly string[] | undefined
}

/**
 * Listens; protocols other than HTTP, and tunnels, are refused.
 *
 * @throws UserError `port-in-use` or `address-unusable`
 */
export async function openListener(
  { host, port, allowedHosts }: ListenerPlace,
  passOn: RequestListener,
  clock: Clock,
): Promise<ProxyListener> {
  const refusalOf = callerCheck({ host, allowedHosts })
  const listener: RequestListener = (request, response) => {
    const { method = 'GET', headers, socket } = request
    const base = `${'encrypted' in socket ? 'https' : 'http'}://${headers.host ?? ''}`
    const refusal = refusalOf({ method, headers, base })
    if (!refusal) return passOn(request, response)
    response.writeHead(403, { 'content-type': 'text/plain; charset=utf-8' }).end(`${callerSentence(refusal)}\n`)
    request.resume()
  }
  const plain = strict(createServer(LISTENER_SETTINGS, listener))
  let secured: TlsServer | undefined
  const sockets = new Set<Socket>()
  // The first byte tells TLS from HTTP, so that agents with and without it have one port.
  const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    if (!secured) return void plain.emit('connection', socket)
    socket.once('data', (first: Buffer) => {
      socket.pause()
      socket.unshift(first)
      ;(first[0] === TLS_HANDSHAKE && secured ? secured : plain).emit('connection', socket)
      process.nextTick(() => socket.resume())
    })
  })
  await listen(server, host, port, clock)
  return {
    port: (server.address() as AddressInfo).port,
    secure: ({ certificate, key }) => {
      if (secured) return secured.setSecureContext({ cert: certificate, key })
      secured = strict(createTlsServer({ ...LISTENER_SETTINGS, cert: certificate, key }, listener))
      secured.on('tlsClientError', (_error, socket) => socket.destroy())
    },
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      plain.close(() => {})
      secured?.close(() => {})
      await closed
    },
  }
}

const TLS_HANDSHAKE = 0x16

function strict<S extends Server | TlsServer>(server: S): S {
  const refuse = (_request: unknown, socket: Duplex): void => {
    const body = 'The recorder passes on requests and answers only, no other protocols and no tunnels.\n'
    const head = ['HTTP/1.1 501 Not Implemented', 'Content-Type: text/plain', `Content-Length: ${body.length}`]
    socket.on('error', () => {})
    socket.end([...head, 'Connection: close', '', body].join('\r\n'))
  }
  // Node keeps track of a server's connections, to end those that send no request, from this event on.
  server.emit('listening')
  server.on('upgrade', refuse)
  server.on('connect', refuse)
  return server
}
