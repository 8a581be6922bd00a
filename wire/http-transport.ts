import type { Agent, request } from 'undici'
import { held, seconds, type Clock } from '../runtime/index.js'
import { ConnectionFailed, type Transport, type WireResponse } from './exchange.js'

export interface HttpTransportOptions {
  clock: Clock
  /** Milliseconds of wall time for the connection, for the headers, and between two parts of the body. */
  timeoutMs?: number
}

/**
 * Requests over HTTP/1.1 with connections kept alive. Time limits are in wall time, whatever the clock: the wire is
 * real. Every way of getting no answer is a {@link ConnectionFailed}.
 */
export class HttpTransport implements Transport, AsyncDisposable {
  readonly #clock: Clock
  readonly #timeout: number
  /** Loaded with the first request: a server that nobody asks to call anyone starts without it. */
  #client: Promise<{ send: typeof request; agent: Agent }> | undefined

  constructor({ clock, timeoutMs = seconds(60) }: HttpTransportOptions) {
    this.#clock = clock
    this.#timeout = timeoutMs
  }

  send: Transport['send'] = async ({ method, url, headers, body, signal }) => {
    signal?.throwIfAborted()
    return held(this.#clock, `${method} ${url}`, async (): Promise<WireResponse> => {
      try {
        const { send, agent } = await (this.#client ??= this.#load())
        const response = await send(url, {
          method: method as 'GET',
          headers,
          body: body ?? null,
          dispatcher: agent,
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
    await (await this.#client)?.agent.destroy()
  }

  async #load(): Promise<{ send: typeof request; agent: Agent }> {
    const { Agent, request } = await import('undici')
    const timeout = this.#timeout
    const agent = new Agent({ headersTimeout: timeout, bodyTimeout: timeout, connect: { timeout } })
    return { send: request, agent }
  }
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
