import { STATUS_CODES } from 'node:http'
import { rootCertificates } from 'node:tls'
import {
  beyondLoopback,
  FetchFailure,
  HttpClient,
  type HttpLimits,
  type HttpThrough,
  type ProxySettings,
} from '../../base/bytes/index.js'
import type { SpecConfig } from '../../ignition/index.js'
import { defined, type Clock } from '../../base/runtime/index.js'

/** Settings for requests of a machine's Ignition. */
export interface HttpSettings {
  /** Milliseconds within which the headers of an answer must arrive. */
  responseHeaders: number
  /** Milliseconds for a fetch with all its attempts; 0 for no limit. */
  total: number
  /** PEM texts of authorities besides those of the system. */
  authorities: readonly string[]
  /** Further limits of the HTTP client. */
  limits?: Partial<HttpLimits>
  proxy: NonNullable<NonNullable<SpecConfig['ignition']>['proxy']>
}

export const DEFAULT_HTTP: HttpSettings = { responseHeaders: 10_000, total: 0, authorities: [], proxy: {} }

export interface HttpAnswer {
  status: number
  body: Uint8Array
}

export interface HttpRequest {
  url: string
  headers: Readonly<Record<string, string>>
}

/** No answer to a request; the message is that of Go's client where it has one. */
export class NoAnswer extends Error {
  override name = 'NoAnswer'
}

export const statusText = (status: number): string => STATUS_CODES[status] ?? ''

export interface HttpSurroundings {
  clock: Clock
  /** Sees the request. */
  downloads: HttpThrough | undefined
  signal: AbortSignal
  /** Bytes of the body. */
  most: number
}

/**
 * Makes one request as Ignition does: redirects are followed without the headers.
 *
 * @throws NoAnswer
 */
export async function httpRequest(
  { url, headers }: HttpRequest,
  { responseHeaders, authorities, proxy, limits = {} }: HttpSettings,
  { clock, downloads, signal, most }: HttpSurroundings,
): Promise<HttpAnswer> {
  const client = new HttpClient({
    clock,
    ...defined({ through: downloads, ca: authorities.length > 0 ? [...rootCertificates, ...authorities] : undefined }),
    proxies: proxiesOf(proxy),
    limits: { ...limits, header: responseHeaders },
  })
  try {
    const answer = await client.get({ url, headers, redirectHeaders: 'none', signal })
    try {
      return { status: answer.status, body: await answer.bytes(most) }
    } finally {
      await answer.close()
    }
  } catch (error) {
    throw error instanceof FetchFailure ? new NoAnswer(describeGoError(error, most)) : error
  }
}

/** Proxy settings. Go's client never uses a proxy for a loopback address. */
export const proxiesOf = ({ httpProxy = '', httpsProxy = '', noProxy = [] }: HttpSettings['proxy']): ProxySettings =>
  beyondLoopback({ http: httpProxy, https: httpsProxy, no: noProxy.join(',') })

/** The message of Go's client for a failure. */
function describeGoError({ code, url, message }: FetchFailure, most: number): string {
  const { hostname, port, protocol } = new URL(url)
  const address = `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
  switch (code) {
    case 'refused':
      return `dial tcp ${address}: connect: connection refused`
    case 'unknown-host':
    case 'lookup-failed':
      return `dial tcp: lookup ${hostname}: no such host`
    case 'header-timeout':
      return 'net/http: timeout awaiting response headers'
    case 'connect-timeout':
      return `dial tcp ${address}: i/o timeout`
    case 'closed-early':
      return 'EOF'
    case 'cut-off':
      return 'unexpected EOF'
    case 'reset':
      return `read tcp ${address}: read: connection reset by peer`
    case 'redirect-loop':
      return 'stopped after 10 redirects'
    case 'redirect-scheme':
      return 'unsupported protocol scheme'
    case 'too-large':
      return `more than ${most} bytes`
    case 'not-tls':
      return 'http: server gave HTTP response to HTTPS client'
    case 'tls-untrusted':
      return 'tls: failed to verify certificate: x509: certificate signed by unknown authority'
    case 'tls-expired':
      return 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid'
    case 'not-http':
    case 'damaged-header':
      return 'net/http: HTTP/1.x transport connection broken: malformed HTTP response'
    default:
      return message
  }
}
