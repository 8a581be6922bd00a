import type { ConnectionOptions } from 'node:tls'
import { defined, type Clock } from '../../runtime/index.js'
import { maskedAddress, splitCredentials } from '../url.js'
import type { SilenceListener } from './answer-body.js'
import { hostAndPort, failurePlaceOf } from './http-connection.js'
import { requestOnce } from './http-exchange.js'
import { FetchFailure } from './fetch-failure.js'
import { DEFAULT_HTTP_LIMITS, type HttpLimits } from './http-limits.js'
import { proxyFor, type ProxySettings } from './proxy.js'
import { readUpTo } from './read-up-to.js'

export interface HttpClientOptions {
  clock: Clock
  /** Proxies; without them every server is asked directly. */
  proxies?: ProxySettings
  /** PEM of the authorities to believe, in place of the usual ones. */
  ca?: string | readonly string[]
  /** Believes any certificate. */
  insecure?: boolean
  limits?: Partial<HttpLimits>
  /** Hears of a server that falls silent in the middle of a body. */
  onSilence?: SilenceListener
  /** Redirects that are followed. */
  redirects?: number
  /** Throws for a URL that must not be asked, also for one that a redirect leads to. */
  allow?: (url: string) => void
  /** Sees each exchange, also that of a redirect. */
  through?: HttpThrough
}

/** A request of a {@link HttpClient} on its way to a server. */
export interface SentRequest {
  readonly method: string
  /** Without credentials. */
  readonly url: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** The answer of a server, or what comes in its place. */
export interface ServerAnswer {
  readonly status: number
  /** The server's own words. */
  readonly statusText: string
  /** Lower-case names; several of one name are joined. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: FileBody
}

/** The body of an answer, part by part. */
export interface FileBody extends AsyncIterable<Uint8Array> {
  /** Undefined at the end. */
  next(): Promise<Uint8Array | undefined>
  /** Drops what has not been read. */
  close(): Promise<void>
}

/** Lets a request be sent, and may change its answer or make it fail. */
export type HttpThrough = (request: SentRequest, send: () => Promise<ServerAnswer>) => Promise<ServerAnswer>

/** Headers of a request that are sent again to the target of a redirect: credentials never reach another host. */
type RedirectHeaders = 'all but credentials' | 'none'

export interface FileRequest {
  /** May hold credentials, which are sent as Basic ones. */
  url: string
  /** Redirects are followed for GET and HEAD alone: what is sent to one server is not sent to another. */
  method?: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  body?: Uint8Array
  /** Lower-case names. */
  headers?: Readonly<Record<string, string>>
  redirectHeaders?: RedirectHeaders
  signal: AbortSignal
}

export interface FileAnswer {
  /** Where redirects ended, without credentials. */
  url: string
  redirected: boolean
  status: number
  statusText: string
  headers: Readonly<Record<string, string | undefined>>
  /** Bytes of the body, where the server says it. */
  length: number | null
  body: AsyncIterable<Uint8Array> & { next(): Promise<Uint8Array | undefined> }
  /** Drops what has not been read, and the connection. */
  close(): Promise<void>
  /** The whole body; a failure of code `too-large` when it has more than `most` bytes. */
  bytes(most: number): Promise<Buffer>
}

const REDIRECTED = new Set([301, 302, 303, 307, 308])
const CREDENTIALS = ['authorization', 'cookie', 'proxy-authorization']

/**
 * Fetches files from servers that may do anything. Every answer has a connection of its own, so that nothing idle is left
 * behind, and every trouble is a {@link FetchFailure}, within the limits.
 */
export class HttpClient {
  readonly #options: HttpClientOptions
  readonly #limits: HttpLimits

  constructor(options: HttpClientOptions) {
    this.#options = options
    this.#limits = { ...DEFAULT_HTTP_LIMITS, ...options.limits }
  }

  /** @throws FetchFailure; the signal's reason; what `allow` throws */
  async get(request: FileRequest): Promise<FileAnswer> {
    const { redirects = 10, allow } = this.#options
    const { url: first, authorization } = splitCredentials(checkedUrl(request.url))
    const own = authorization === null ? {} : { authorization }
    let headers: RequestHeaders = { accept: '*/*', 'accept-encoding': 'identity', ...own, ...request.headers }
    for (let at = first, followed = 0; ; followed++) {
      allow?.(at.href)
      const answer = await this.#ask(request, at, headers)
      const to = followable(request) && REDIRECTED.has(answer.status) ? answer.headers['location'] : undefined
      if (to === undefined) return fileAnswer(answer, at, followed > 0)
      await answer.body.close()
      const next = redirected(at, to, followed === redirects)
      if (request.redirectHeaders === 'none') headers = own
      if (!sameServer(at, next)) headers = withoutCredentials(headers)
      at = next
    }
  }

  async #ask({ method = 'GET', body, signal }: FileRequest, url: URL, headers: RequestHeaders): Promise<ServerAnswer> {
    const { clock, proxies = {}, ca, insecure, through, onSilence } = this.#options
    const tls: ConnectionOptions = insecure
      ? { rejectUnauthorized: false }
      : ca === undefined
        ? {}
        : { ca: typeof ca === 'string' ? ca : [...ca] }
    const proxy = checkedProxy(proxyFor(url.href, proxies), url)
    const sent = body === undefined ? {} : { body }
    const heard = defined({ onSilence })
    const send = () =>
      requestOnce({ url, method, headers, ...sent, tls, proxy, limits: this.#limits, ...heard, clock, signal })
    return through ? through({ method, url: url.href, headers, signal }, send) : send()
  }
}

const followable = ({ method = 'GET' }: FileRequest): boolean => method === 'GET' || method === 'HEAD'

type RequestHeaders = Readonly<Record<string, string>>

function checkedUrl(url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed && isHttp(parsed)) return parsed
  const detail = parsed?.protocol
  throw new FetchFailure('bad-url', { url, at: '', host: '' }, { detail })
}

const isHttp = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:'

/** @throws FetchFailure for what is no URL of a proxy for http, as `socks5://...` */
function checkedProxy(proxy: string | undefined, url: URL): string | undefined {
  if (proxy === undefined || (URL.canParse(proxy) && isHttp(new URL(proxy)))) return proxy
  throw new FetchFailure('bad-proxy', failurePlaceOf(url), { detail: maskedAddress(proxy) })
}

/** @throws FetchFailure */
function redirected(from: URL, location: string, tooMany: boolean): URL {
  const place = failurePlaceOf(from)
  if (tooMany) throw new FetchFailure('redirect-loop', place)
  if (!URL.canParse(location, from.href)) throw new FetchFailure('redirect-nowhere', place)
  const to = new URL(location, from)
  if (!isHttp(to)) throw new FetchFailure('redirect-scheme', place, { detail: to.protocol })
  // A redirect must not choose the credentials for another host.
  to.username = to.password = ''
  return to
}

/** True if credentials may follow a redirect: the rule of reqwest, coreos-installer's client, and never from https to http. */
const sameServer = (one: URL, other: URL): boolean =>
  one.hostname === other.hostname &&
  hostAndPort(one) === hostAndPort(other) &&
  (one.protocol === other.protocol || other.protocol === 'https:')

const withoutCredentials = (headers: RequestHeaders): RequestHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !CREDENTIALS.includes(name.toLowerCase())))

function fileAnswer({ status, statusText, headers, body }: ServerAnswer, url: URL, redirected: boolean): FileAnswer {
  const length = headers['content-length']
  return {
    url: url.href,
    redirected,
    status,
    statusText,
    headers,
    body,
    length: length === undefined ? null : Number(length),
    close: () => body.close(),
    bytes: async (most) => {
      const bytes = await readUpTo(most, body)
      if (bytes) return bytes
      throw new FetchFailure('too-large', failurePlaceOf(url), { detail: `the limit is ${most} bytes` })
    },
  }
}
