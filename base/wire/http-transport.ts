import { Agent } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import type { ConnectionOptions } from 'node:tls'
import { DEFAULT_HTTP_LIMITS, requestOnce, readUpTo, withoutPasswords, type HttpLimits } from '../bytes/index.js'
import { defined, withClockHeld, onAbort, seconds, sharedAbort, type Clock } from '../runtime/index.js'
import { ConnectionFailed, type OutgoingRequest, type Transport, type WireResponse } from './wire-exchange.js'
import type { TlsIdentity } from './http-server.js'

export interface HttpTransportOptions {
  clock: Clock
  /** Milliseconds of wall time for the connection, for the headers, and between two parts of the body. */
  timeoutMs?: number
  /** Bytes of an answer, beyond which its peer counts as failing; 64 MiB by default. */
  largestAnswer?: number
  /** Limit of concurrent requests to one peer; others wait. Unlimited by default. */
  connections?: number
  /** Verification of the certificates of TLS peers. */
  tls?: ClientTls
}

export interface ClientTls {
  /** Believe any certificate. */
  insecure?: boolean
  /** PEM of further authorities, for requests that name none themselves. */
  ca?: string
  /** {@link ca} is the very certificate of the peer; its host name does not matter. */
  pinned?: boolean
  /** Client certificate and key for peers that ask for them; both PEM. */
  identity?: TlsIdentity
}

/** Number of peers with a certificate of their own whose connections stay open. */
const MAX_REMEMBERED_PEERS = 64
/** An idle connection is closed after this long, before most servers close it. */
const IDLE_CONNECTION_TIMEOUT = seconds(4)

/**
 * Requests over HTTP/1.1 with keep-alive connections. Time limits are in wall time, also with a virtual clock: the wire is
 * real. Every way of getting no answer is a {@link ConnectionFailed}.
 */
export class HttpTransport implements Transport, AsyncDisposable {
  readonly #clock: Clock
  readonly #limits: HttpLimits
  readonly #largest: number
  readonly #tls: ConnectionOptions
  readonly #connections: number
  readonly #plain: Agent
  readonly #closing = sharedAbort()
  /** Connections by TLS, by the authority that they trust; the latest used last. */
  readonly #trusting = new Map<string, TlsAgent>()

  constructor(options: HttpTransportOptions) {
    const { clock, timeoutMs = seconds(60), largestAnswer = 64 * 2 ** 20, tls = {}, connections = Infinity } = options
    this.#clock = clock
    this.#limits = { ...DEFAULT_HTTP_LIMITS, header: timeoutMs, silence: timeoutMs }
    this.#largest = largestAnswer
    this.#tls = connectionOptions(tls)
    this.#connections = connections
    this.#plain = new Agent(this.#pooled())
  }

  send: Transport['send'] = async (request) => {
    const { method, url, signal } = request
    signal?.throwIfAborted()
    return withClockHeld(this.#clock, `${method} ${withoutPasswords(url)}`, async (): Promise<WireResponse> => {
      try {
        return await this.#exchange(request)
      } catch (cause) {
        if (signal?.aborted) throw signal.reason
        throw new ConnectionFailed(`${method} ${withoutPasswords(url)}: ${reason(cause)}`, { cause })
      }
    })
  };

  /** Ends every connection, also those under way. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new ConnectionFailed('the transport is closed'))
    for (const agent of [this.#plain, ...this.#trusting.values()]) agent.destroy()
    return Promise.resolve()
  }

  async #exchange({ method, url, headers, body, ca, signal }: OutgoingRequest): Promise<WireResponse> {
    const to = new URL(url)
    const trusted = ca ?? this.#tls.ca
    const tls = trusted === undefined ? this.#tls : { ...this.#tls, ca: trusted }
    const ended = new AbortController()
    const end = (reason: unknown) => ended.abort(reason)
    using _ = onAbort(this.#closing.signal, end)
    using __ = signal && onAbort(signal, end)
    const agent = to.protocol === 'https:' ? this.#trustingIn(String(trusted ?? ''), tls) : this.#plain
    const answer = await requestOnce({
      url: to,
      method,
      headers,
      agent,
      tls,
      limits: this.#limits,
      clock: this.#clock,
      signal: ended.signal,
      ...defined({ body }),
    })
    const text = await readUpTo(this.#largest, answer.body)
    if (text === null) {
      await answer.body.close()
      throw new Error(`the answer has more than ${this.#largest} bytes`)
    }
    const entries = Object.entries(answer.headers).filter((entry): entry is [string, string] => entry[1] !== undefined)
    return {
      status: answer.status,
      headers: Object.fromEntries(entries),
      ...defined({ body: text.length === 0 ? undefined : text.toString('utf8') }),
    }
  }

  #pooled() {
    return { keepAlive: true, timeout: IDLE_CONNECTION_TIMEOUT, maxSockets: this.#connections }
  }

  #trustingIn(key: string, tls: ConnectionOptions): TlsAgent {
    const agent = this.#trusting.get(key) ?? new TlsAgent({ ...this.#pooled(), ...tls })
    this.#trusting.delete(key)
    this.#trusting.set(key, agent)
    // One that is no longer remembered goes on with its requests; its idle connections end by themselves.
    if (this.#trusting.size > MAX_REMEMBERED_PEERS) this.#trusting.delete(this.#trusting.keys().next().value!)
    return agent
  }
}

const connectionOptions = ({ insecure = false, ca, pinned = false, identity }: ClientTls): ConnectionOptions => ({
  rejectUnauthorized: !insecure,
  ...defined({ ca }),
  ...(pinned ? { allowPartialTrustChain: true, checkServerIdentity: () => undefined } : {}),
  ...(identity ? { cert: identity.certificate, key: identity.key } : {}),
})

/** An AggregateError (both address families failed) has an empty message; its first error has the words. */
function reason(cause: unknown): string {
  if (cause instanceof AggregateError && cause.errors.length > 0) return reason(cause.errors[0])
  return cause instanceof Error && cause.message !== '' ? cause.message : String(cause)
}
