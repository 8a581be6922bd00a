import type { Agent, request } from 'undici'
import { held, seconds, type Clock } from '../runtime/index.js'
import { ConnectionFailed, type Transport, type WireResponse } from './exchange.js'
import type { TlsIdentity } from './http-server.js'

export interface HttpTransportOptions {
  clock: Clock
  /** Milliseconds of wall time for the connection, for the headers, and between two parts of the body. */
  timeoutMs?: number
  /** So many at once to one peer, the others wait; as many as there are requests unless told otherwise. */
  connections?: number
  /** How far peers are believed that come by TLS. */
  tls?: ClientTls
}

export interface ClientTls {
  /** Believe any certificate. */
  insecure?: boolean
  /** PEM of further authorities, for requests that name none themselves. */
  ca?: string
  /** {@link ca} is the very certificate of the peer, by whatever name it is reached. */
  pinned?: boolean
  /** Who we are, for peers that ask; both PEM. */
  identity?: TlsIdentity
}

/** So many peers with a certificate of their own have their connections kept. */
const REMEMBERED_PEERS = 64

/**
 * Requests over HTTP/1.1 with connections kept alive. Time limits are in wall time, whatever the clock: the wire is
 * real. Every way of getting no answer is a {@link ConnectionFailed}.
 */
export class HttpTransport implements Transport, AsyncDisposable {
  readonly #clock: Clock
  readonly #timeout: number
  readonly #tls: ClientTls
  readonly #connections: number | null
  /** Loaded with the first request: a server that nobody asks to call anyone starts without it. */
  #client: Promise<Client> | undefined
  /** Connections to peers with a certificate of their own, by that; the latest used last. */
  readonly #trusting = new Map<string, Agent>()

  constructor({ clock, timeoutMs = seconds(60), tls = {}, connections }: HttpTransportOptions) {
    this.#clock = clock
    this.#timeout = timeoutMs
    this.#tls = tls
    this.#connections = connections ?? null
  }

  send: Transport['send'] = async ({ method, url, headers, body, ca, signal }) => {
    signal?.throwIfAborted()
    return held(this.#clock, `${method} ${url}`, async (): Promise<WireResponse> => {
      try {
        const client = await (this.#client ??= this.#load())
        const response = await client.send(url, {
          method: method as 'GET',
          headers,
          body: body ?? null,
          dispatcher: ca === undefined ? client.agent : this.#trustingIn(ca, client),
          ...(signal ? { signal } : {}),
        })
        const text = await response.body.text()
        return {
          status: response.statusCode,
          headers: flat(response.headers),
          ...(text === '' ? {} : { body: text }),
        }
      } catch (cause) {
        if (signal?.aborted) throw signal.reason
        throw new ConnectionFailed(`${method} ${url}: ${reason(cause)}`, { cause })
      }
    })
  }

  /** Ends every connection, also those under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    const client = await this.#client
    await Promise.all([client?.agent.destroy(), ...[...this.#trusting.values()].map((agent) => agent.destroy())])
  }

  async #load(): Promise<Client> {
    const { Agent, request } = await import('undici')
    const [timeout, connections] = [this.#timeout, this.#connections]
    const { insecure = false, ca, pinned = false, identity } = this.#tls
    const make = (trusted: string | undefined): Agent =>
      new Agent({
        headersTimeout: timeout,
        bodyTimeout: timeout,
        connections,
        connect: {
          timeout,
          rejectUnauthorized: !insecure,
          ...(trusted === undefined ? {} : { ca: trusted }),
          ...(pinned ? { allowPartialTrustChain: true, checkServerIdentity: () => undefined } : {}),
          ...(identity ? { cert: identity.certificate, key: identity.key } : {}),
        },
      })
    return { send: request, make, agent: make(ca) }
  }

  #trustingIn(ca: string, { make }: Client): Agent {
    const agent = this.#trusting.get(ca) ?? make(ca)
    this.#trusting.delete(ca)
    this.#trusting.set(ca, agent)
    for (const [other, unused] of this.#trusting) {
      if (this.#trusting.size <= REMEMBERED_PEERS) break
      this.#trusting.delete(other)
      // Requests under way end first.
      void unused.close()
    }
    return agent
  }
}

interface Client {
  readonly send: typeof request
  readonly make: (ca: string | undefined) => Agent
  readonly agent: Agent
}

function flat(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const out: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) out[name] = Array.isArray(value) ? value.join(', ') : value
  return out
}

/** An AggregateError (both address families failed) has an empty message; its first error has the words. */
function reason(cause: unknown): string {
  if (cause instanceof AggregateError && cause.errors.length > 0) return reason(cause.errors[0])
  return cause instanceof Error && cause.message !== '' ? cause.message : String(cause)
}
