import { held, seconds, type Clock } from '../../runtime/index.js'
import { maskedUrl } from './masked-url.js'

export interface ImageHttpOptions {
  clock: Clock
  /** As in the environment of curl; without, nothing is asked by way of a proxy. */
  proxies?: { http?: string; https?: string; no?: string }
  /** PEM of the authorities to believe, in place of the usual ones. */
  ca?: string
  /** How long a server may be silent, in milliseconds of wall time; 60 s unless told otherwise. */
  silence?: number
  /** Throws for a URL that must not be asked, also one that a redirect leads to; all may be unless told otherwise. */
  allow?: (url: string) => void
}

export interface ImageAnswer {
  status: number
  headers: Readonly<Record<string, string | undefined>>
  body: AsyncIterable<Uint8Array>
  /** Drops what has not been read. */
  close(): Promise<void>
}

/** What came in place of an answer, or in the middle of one; asking again may help. */
export class Unreachable extends Error {
  override name = 'Unreachable'
}

const REDIRECTS = 10
const REDIRECTION = new Set([301, 302, 303, 307, 308])

/** Asks image servers. Every answer has a connection of its own, so that nothing idle is left behind. */
export class ImageHttp {
  readonly #options: ImageHttpOptions

  constructor(options: ImageHttpOptions) {
    this.#options = options
  }

  /** @throws Unreachable; the signal's reason; what `allow` throws */
  async get(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<ImageAnswer> {
    const { allow } = this.#options
    if (!allow) return this.#ask(url, headers, signal, REDIRECTS)
    for (let at = url, redirects = 0; ; redirects++) {
      allow(at)
      const answer = await this.#ask(at, headers, signal, 0)
      const to = REDIRECTION.has(answer.status) ? answer.headers['location'] : undefined
      if (to === undefined) return answer
      await answer.close()
      if (redirects === REDIRECTS || !URL.canParse(to, at)) throw new Unreachable('the server redirects to nowhere')
      at = new URL(to, at).href
    }
  }

  async #ask(
    url: string,
    headers: Record<string, string>,
    signal: AbortSignal,
    maxRedirections: number,
  ): Promise<ImageAnswer> {
    signal.throwIfAborted()
    const { clock } = this.#options
    return held(clock, `asking for ${maskedUrl(url)}`, async () => {
      const agent = await this.#agent()
      try {
        const { interceptors, request } = await import('undici')
        const dispatcher = agent.compose(interceptors.redirect({ maxRedirections }))
        // A body that is compressed on the way would have another length and digest than the image.
        const sent = { accept: '*/*', 'accept-encoding': 'identity', ...headers }
        const { statusCode, headers: said, body } = await request(url, { dispatcher, signal, headers: sent })
        const single = Object.entries(said).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value])
        return {
          status: statusCode,
          headers: Object.fromEntries(single) as ImageAnswer['headers'],
          body: this.#parts(body, signal),
          close: () => agent.destroy(),
        }
      } catch (error) {
        await agent.destroy()
        signal.throwIfAborted()
        throw new Unreachable(sentence(error), { cause: error })
      }
    })
  }

  async *#parts(body: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    const { clock } = this.#options
    const parts = body[Symbol.asyncIterator]()
    for (;;) {
      let part: IteratorResult<Uint8Array, unknown>
      try {
        part = await held(clock, 'reading from an image server', () => parts.next())
      } catch (error) {
        signal.throwIfAborted()
        throw new Unreachable(sentence(error), { cause: error })
      }
      if (part.done) return
      yield part.value
    }
  }

  async #agent() {
    // Loaded when first needed: most processes never fetch an image.
    const { EnvHttpProxyAgent } = await import('undici')
    const { proxies = {}, ca, silence = seconds(60) } = this.#options
    const tls = ca === undefined ? {} : { ca }
    return new EnvHttpProxyAgent({
      // An empty text keeps it from reading the environment itself.
      ...{ httpProxy: proxies.http ?? '', httpsProxy: proxies.https ?? '', noProxy: proxies.no ?? '' },
      // As curl does: proxies often allow no tunnel to the port of HTTP.
      proxyTunnel: false,
      ...{ connect: { ...tls, timeout: silence }, requestTls: tls },
      ...{ headersTimeout: silence, bodyTimeout: silence },
    })
  }
}

const SENTENCES: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the server reset the connection',
  ENOTFOUND: 'there is no host of that name',
  EAI_AGAIN: 'the name of the host could not be looked up',
  ENETUNREACH: 'the network is unreachable',
  EHOSTUNREACH: 'the host is unreachable',
  UND_ERR_BODY_TIMEOUT: 'the server fell silent in the middle of it',
  UND_ERR_HEADERS_TIMEOUT: 'the server does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'the server cannot be connected to in time',
  UND_ERR_SOCKET: 'the server closed the connection too early',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the server sent another number of bytes than it had said',
}

/** The library's own words where they are not known: those of TLS name what is wrong with a certificate. */
function sentence(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return SENTENCES[code] ?? (error instanceof Error ? error.message : String(error))
}
