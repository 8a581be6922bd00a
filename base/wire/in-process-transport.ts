import { defined, unlessAborted } from '../runtime/index.js'
import { ConnectionFailed, streamToSend, type Dispatch, type Transport, type WireResponse } from './wire-exchange.js'
import { Mounts } from './mounts.js'

/**
 * Carries requests to dispatches of this process, by authority or URL prefix (`http://10.0.0.5:9999`,
 * `http://127.0.0.1:6385/agents/a1`), without a socket. What passes is the same text as over HTTP: nothing but strings
 * crosses, so caller and peer never share an object. URLs that nothing is registered for go to `beyond`, or
 * fail as a refused connection would.
 */
export class InProcessTransport implements Transport {
  readonly #mounts = new Mounts()
  readonly #beyond: Transport | undefined

  constructor(beyond?: Transport) {
    this.#beyond = beyond
  }

  register(urlPrefix: string, dispatch: Dispatch): Disposable {
    return this.#mounts.add(urlPrefix, dispatch)
  }

  send: Transport['send'] = async (request) => {
    const { signal } = request
    signal?.throwIfAborted()
    const url = new URL(request.url)
    const found = this.#mounts.find(url.origin + url.pathname)
    if (!found) {
      if (this.#beyond) return this.#beyond.send(request)
      throw new ConnectionFailed(`connecting to ${url.host}: nothing listens there`)
    }
    const answer = found.dispatch({
      method: request.method,
      target: (found.rest || '/') + url.search,
      headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value])),
      ...defined({ body: request.body }),
      base: found.prefix,
    })
    const read = answer.then((response) => wholeBody(response, signal))
    // The caller stops waiting; the peer goes on, as one does whose client hung up.
    return unlessAborted(read, signal)
  }
}

/** A body that is sent in parts and has a known length, read as a client reads it; one without an end is left alone. */
async function wholeBody(response: WireResponse, signal: AbortSignal | undefined): Promise<WireResponse> {
  const open = streamToSend(response)
  if (!open || response.headers['content-length'] === undefined) return response
  let body = ''
  for await (const part of open(signal ?? new AbortController().signal))
    body += typeof part === 'string' ? part : Buffer.from(part).toString()
  return { ...response, body }
}
