import { Agent, request as send } from 'undici'
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
  readonly #agent: Agent

  constructor({ clock, timeoutMs = seconds(60) }: HttpTransportOptions) {
    this.#clock = clock
    this.#agent = new Agent({ headersTimeout: timeoutMs, bodyTimeout: timeoutMs, connect: { timeout: timeoutMs } })
  }

  send: Transport['send'] = async ({ method, url, headers, body, signal }) => {
    signal?.throwIfAborted()
    return held(this.#clock, `${method} ${url}`, async (): Promise<WireResponse> => {
      try {
        const response = await send(url, {
          method: method as 'GET',
          headers,
          body: body ?? null,
          dispatcher: this.#agent,
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
  };

  /** Ends every connection, also those under way. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#agent.destroy()
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
