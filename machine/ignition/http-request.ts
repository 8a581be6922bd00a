import { STATUS_CODES } from 'node:http'
import { rootCertificates } from 'node:tls'
import { held, type Clock } from '../../runtime/index.js'
import { proxyFor, type ProxySettings } from './proxy.js'

/** How a machine's Ignition makes its requests. */
export interface HttpSettings {
  /** Milliseconds until the headers of an answer must be there. */
  responseHeaders: number
  /** Milliseconds for a fetch with all its attempts; 0 for no end. */
  total: number
  /** PEM texts, besides what the system trusts. */
  authorities: readonly string[]
  proxy: ProxySettings
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

/** No answer; the sentence is the one that Go's client has for it, where there is one. */
export class NoAnswer extends Error {
  override name = 'NoAnswer'
}

const MOST_REDIRECTS = 10
const REDIRECTED = new Set([301, 302, 303, 307, 308])

export const statusText = (status: number): string => STATUS_CODES[status] ?? ''

/**
 * One request over the network, redirects followed without the headers, as Ignition makes it.
 *
 * @throws NoAnswer
 */
export async function httpRequest(
  { url, headers }: HttpRequest,
  settings: HttpSettings,
  { clock, signal, most }: { clock: Clock; signal: AbortSignal; most: number },
): Promise<HttpAnswer> {
  const { Agent, ProxyAgent, request } = await import('undici')
  return held(clock, `fetching ${new URL(url).host}`, async () => {
    let at = url
    for (let redirects = 0; ; redirects++) {
      const proxy = proxyFor(at, settings.proxy)
      const tls = settings.authorities.length > 0 ? { ca: [...rootCertificates, ...settings.authorities] } : {}
      const times = { headersTimeout: settings.responseHeaders }
      const dispatcher = proxy
        ? // Only what is encrypted goes through a tunnel, as Go's client does it.
          new ProxyAgent({ uri: proxy, requestTls: tls, proxyTunnel: at.startsWith('https:'), ...times })
        : new Agent({ connect: { timeout: 30_000, ...tls }, ...times })
      try {
        const answer = await request(at, { dispatcher, signal, headers: redirects === 0 ? headers : {} })
        const { location } = answer.headers
        if (REDIRECTED.has(answer.statusCode) && typeof location === 'string') {
          await answer.body.dump()
          if (redirects === MOST_REDIRECTS) throw new NoAnswer('stopped after 10 redirects')
          at = new URL(location, at).href
          continue
        }
        const parts: Uint8Array[] = []
        let size = 0
        for await (const part of answer.body) {
          parts.push(part as Uint8Array)
          if ((size += (part as Uint8Array).length) > most) throw new NoAnswer(`more than ${most} bytes`)
        }
        return { status: answer.statusCode, body: Buffer.concat(parts) }
      } catch (error) {
        signal.throwIfAborted()
        throw error instanceof NoAnswer ? error : new NoAnswer(why(error, at))
      } finally {
        await dispatcher.destroy()
      }
    }
  })
}

function why(error: unknown, at: string): string {
  const cause = error instanceof AggregateError ? (error.errors[0] as unknown) : error
  const { code = '', message = String(cause) } = (cause ?? {}) as { code?: string; message?: string }
  const { host, port, protocol } = new URL(at)
  const address = port === '' ? `${host}:${protocol === 'https:' ? 443 : 80}` : host
  switch (code) {
    case 'ECONNREFUSED':
      return `dial tcp ${address}: connect: connection refused`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${new URL(at).hostname}: no such host`
    case 'UND_ERR_HEADERS_TIMEOUT':
      return 'net/http: timeout awaiting response headers'
    case 'UND_ERR_CONNECT_TIMEOUT':
      return `dial tcp ${address}: i/o timeout`
    case 'UND_ERR_SOCKET':
    case 'ECONNRESET':
      return 'EOF'
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return 'tls: failed to verify certificate: x509: certificate signed by unknown authority'
    default:
      return message
  }
}
