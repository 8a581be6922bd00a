import { request as httpRequest } from 'node:http'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import { defined } from '../../runtime/index.js'
import { splitCredentials } from '../url.js'
import { toFetchFailure, FetchFailure, type FailurePlace, type ExchangePhase } from './fetch-failure.js'

export interface ConnectionRequest {
  url: URL
  /** URL of a proxy. Only what is encrypted goes through a tunnel: proxies often allow none to the port of HTTP. */
  proxy: string | undefined
  tls: ConnectionOptions
  place: FailurePlace
  /** Aborted with the reason when the connection is no longer wanted, or takes too long. */
  signal: AbortSignal
}

/** @throws FetchFailure; the signal's reason */
export async function openConnection(request: ConnectionRequest): Promise<Socket> {
  const { url, proxy, tls, place, signal } = request
  if (proxy === undefined) return connected(url, tls, place, signal)
  const behind = splitCredentials(proxy)
  const proxyPlace = { ...failurePlaceOf(behind.url), url: place.url }
  const toProxy = await connected(behind.url, {}, proxyPlace, signal)
  if (url.protocol !== 'https:') return toProxy
  const tunnel = await openTunnel(toProxy, url, behind.authorization, place, signal)
  return encrypted(() => connectTls({ socket: tunnel, host: bareHost(url), ...serverName(url), ...tls }), place, signal)
}

/** `host:port`, also where the URL leaves the port out. */
export const hostAndPort = ({ hostname, port, protocol }: URL): string =>
  `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`

/** Where a URL leads, for messages. */
export const failurePlaceOf = (url: URL): FailurePlace => ({ url: url.href, at: hostAndPort(url), host: url.hostname })

const bareHost = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

/** An address is no name (RFC 6066). */
const serverName = (url: URL): ConnectionOptions => (isIP(bareHost(url)) ? {} : { servername: bareHost(url) })

function connected(url: URL, tls: ConnectionOptions, place: FailurePlace, signal: AbortSignal): Promise<Socket> {
  const to = { host: bareHost(url), port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80) }
  if (url.protocol !== 'https:') return ready(() => connectTcp(to), 'connect', place, signal)
  return encrypted(() => connectTls({ ...to, ...serverName(url), ...tls }), place, signal)
}

const encrypted = (open: () => Socket, place: FailurePlace, signal: AbortSignal): Promise<Socket> =>
  ready(open, 'secureConnect', place, signal)

function ready(
  open: () => Socket,
  event: 'connect' | 'secureConnect',
  place: FailurePlace,
  signal: AbortSignal,
): Promise<Socket> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    let phase: ExchangePhase = 'connecting'
    const socket = open()
    const aborted = () => fail(signal.reason as Error)
    const closed = () => fail(toFetchFailure(new Error('closed'), phase, place))
    const fail = (error: unknown) => {
      release()
      socket.destroy()
      reject(signal.aborted ? (signal.reason as Error) : toFetchFailure(error, phase, place))
    }
    const release = () => {
      signal.removeEventListener('abort', aborted)
      socket.off('close', closed)
    }
    signal.addEventListener('abort', aborted, { once: true })
    // Stays: an error that comes later is found where the connection is used, and must not end the process.
    socket.on('error', fail)
    socket.once('close', closed)
    socket.once('connect', () => (phase = 'tls'))
    socket.once(event, () => {
      release()
      resolve(socket)
    })
  })
}

function openTunnel(
  socket: Socket,
  url: URL,
  authorization: string | null,
  place: FailurePlace,
  signal: AbortSignal,
): Promise<Socket> {
  const path = hostAndPort(url)
  const headers = { host: path, ...defined({ 'proxy-authorization': authorization ?? undefined }) }
  return new Promise((resolve, reject) => {
    const request = httpRequest({ method: 'CONNECT', path, headers, createConnection: () => socket })
    const fail = (failure: FetchFailure) => {
      signal.removeEventListener('abort', aborted)
      socket.destroy()
      reject(signal.aborted ? (signal.reason as Error) : failure)
    }
    const aborted = () => fail(new FetchFailure('proxy-refused', place, { detail: 'stopped' }))
    signal.addEventListener('abort', aborted, { once: true })
    request.on('error', (cause) => {
      const detail = toFetchFailure(cause, 'header', place).message
      fail(new FetchFailure('proxy-refused', place, { detail, cause }))
    })
    request.once('response', ({ statusCode }) => fail(refusedTunnel(statusCode, place)))
    request.once('connect', ({ statusCode }, tunnel: Socket) => {
      if (statusCode !== 200) return fail(refusedTunnel(statusCode, place))
      signal.removeEventListener('abort', aborted)
      resolve(tunnel)
    })
    request.end()
  })
}

function refusedTunnel(status: number | undefined, place: FailurePlace): FetchFailure {
  return new FetchFailure(status === 407 ? 'proxy-authorization' : 'proxy-refused', place, {
    detail: `HTTP status ${status}`,
  })
}
