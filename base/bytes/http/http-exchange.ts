import { request as plainRequest, type Agent, type ClientRequest, type IncomingMessage } from 'node:http'
import { request as tlsRequest } from 'node:https'
import type { Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { defined, withClockHeld, systemClock, withinLimit, type Clock } from '../../runtime/index.js'
import { splitCredentials } from '../url.js'
import { AnswerBody, type SilenceListener } from './answer-body.js'
import { hostAndPort, openConnection, failurePlaceOf } from './http-connection.js'
import { codeOf, toFetchFailure, FetchFailure, type FailurePlace, type FetchFailureCode } from './fetch-failure.js'
import type { HttpLimits } from './http-limits.js'

export interface HttpExchange {
  /** http or https; without credentials. */
  url: URL
  method: string
  headers: Readonly<Record<string, string>>
  body?: string | Uint8Array
  /** Keeps connections for later requests; without it this exchange has one of its own. No proxies then. */
  agent?: Agent
  tls: ConnectionOptions
  /** URL of a proxy. */
  proxy?: string | undefined
  limits: HttpLimits
  onSilence?: SilenceListener
  clock: Clock
  signal: AbortSignal
}

export interface ExchangeAnswer {
  status: number
  /** The server's own words. */
  statusText: string
  /** Lower-case names; several of one name are joined. */
  headers: Readonly<Record<string, string | undefined>>
  body: AnswerBody
}

/** Interim answers (1xx) that one request may get. */
const MAX_INTERIM_ANSWERS = 20

/**
 * One request and the head of its answer. Every error of the connection ends here, whenever it comes: none reaches the
 * process.
 *
 * @throws FetchFailure; the signal's reason
 */
export async function requestOnce(what: HttpExchange): Promise<ExchangeAnswer> {
  const { url, limits, clock, signal, agent, proxy } = what
  signal.throwIfAborted()
  const place: FailurePlace = {
    ...failurePlaceOf(url),
    ...defined({ proxy: proxy === undefined ? undefined : hostAndPort(new URL(proxy)) }),
  }
  return withClockHeld(clock, `${what.method} ${place.at}`, async () => {
    const limit = (ms: number, code: FetchFailureCode) => ({
      ms,
      clock: systemClock(),
      signal,
      late: () => new FetchFailure(code, place, { detail: `after ${ms / 1000} s` }),
    })
    const socket = agent
      ? undefined
      : await withinLimit(limit(limits.connect, 'connect-timeout'), (either) =>
          openConnection({ ...what, proxy, place, signal: either }),
        )
    return withinLimit(limit(limits.header, 'header-timeout'), (either) => answerTo(what, socket, place, either))
  })
}

function answerTo(
  what: HttpExchange,
  socket: Socket | undefined,
  place: FailurePlace,
  signal: AbortSignal,
): Promise<ExchangeAnswer> {
  return new Promise((resolve, reject) => {
    let request: ClientRequest
    const aborted = () => fail(signal.reason)
    const fail = (error: unknown) => {
      signal.removeEventListener('abort', aborted)
      request?.destroy()
      socket?.destroy()
      reject(signal.aborted ? (signal.reason as Error) : toFetchFailure(early(error, request, place), 'header', place))
    }
    const failUnlessClosedWhileIdle = (error: unknown) => {
      if (signal.aborted || !wasClosedWhileIdle(request, error)) return fail(error)
      signal.removeEventListener('abort', aborted)
      request.off('error', failUnlessClosedWhileIdle).on('error', () => {})
      answerTo(what, socket, place, signal).then(resolve, reject)
    }
    try {
      signal.throwIfAborted()
      request = makeRequest(what, socket)
    } catch (error) {
      return fail(error)
    }
    signal.addEventListener('abort', aborted, { once: true })
    let interim = 0
    request.on('error', failUnlessClosedWhileIdle)
    request.on('information', () => {
      if (++interim === MAX_INTERIM_ANSWERS) afterParsing(() => fail(new FetchFailure('too-many-interim', place)))
    })
    request.once('upgrade', () => afterParsing(() => fail(new FetchFailure('upgrade', place))))
    request.once('response', (response) => {
      signal.removeEventListener('abort', aborted)
      request.off('error', failUnlessClosedWhileIdle)
      resolve(answerOf(what, request, response, place))
    })
    request.end(what.body)
  })
}

function makeRequest({ url, method, headers, agent, tls, limits, proxy }: HttpExchange, socket: Socket | undefined) {
  const options = {
    method,
    maxHeaderSize: limits.headerBytes,
    headers: { host: url.host, ...headers } as Record<string, string>,
    path: `${url.pathname}${url.search}`,
  }
  if (!socket) {
    const { hostname, protocol } = url
    const to = { host: hostname.replace(/^\[|\]$/g, ''), port: url.port || (protocol === 'https:' ? 443 : 80) }
    const own = { ...to, ...options, ...defined({ agent }) }
    return protocol === 'https:' ? tlsRequest({ ...tls, ...own }) : plainRequest(own)
  }
  if (proxy !== undefined && url.protocol !== 'https:') {
    const { authorization } = splitCredentials(proxy)
    options.path = url.href
    if (authorization !== null) options.headers['proxy-authorization'] = authorization
  }
  return plainRequest({ ...options, createConnection: () => socket })
}

function answerOf(
  { limits, onSilence, clock, signal }: HttpExchange,
  request: ClientRequest,
  response: IncomingMessage,
  place: FailurePlace,
): ExchangeAnswer {
  const body = new AnswerBody({ request, response, place, limits, clock, signal, ...defined({ onSilence }) })
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(response.headers))
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value
  return { status: response.statusCode ?? 0, statusText: response.statusMessage ?? '', headers, body }
}

/**
 * True if a request that changes nothing met a kept connection that its server closed at the same moment. It is sent
 * again, as Go's client does it (net/http, `shouldRetryRequest`): a connection that was not kept fails for good.
 */
const wasClosedWhileIdle = (request: ClientRequest, error: unknown): boolean =>
  request.reusedSocket && ['GET', 'HEAD'].includes(request.method) && ['ECONNRESET', 'EPIPE'].includes(codeOf(error))

/** Node's client calls a connection that closes before an answer a reset one. */
function early(error: unknown, request: ClientRequest | undefined, place: FailurePlace): unknown {
  const hungUp = error instanceof Error && error.message === 'socket hang up'
  return hungUp && request ? new FetchFailure('closed-early', place, { cause: error }) : error
}

/** Node gives a parser to the next connection when its own is destroyed; one in the middle of its work spoils that. */
const afterParsing = (then: () => void): void => process.nextTick(then)
