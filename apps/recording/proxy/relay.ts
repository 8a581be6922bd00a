import { type ClientRequest, type IncomingMessage, request as plainRequest, type ServerResponse } from 'node:http'
import { request as tlsRequest } from 'node:https'
import type { ConnectionOptions } from 'node:tls'
import { defined, errorChain } from '../../../base/runtime/index.js'
import { passedHeaders } from './headers.js'
import { BodyExcerpt } from './body-excerpt.js'
import { addTrailers, AnswerRelay } from './relay-answer.js'
import type { LinkBases } from './rewrite-links.js'

/** Where requests are passed on to. */
export interface RelayTarget {
  /** Without a slash at its end. */
  readonly url: string
  readonly tls: ConnectionOptions
}

export interface RelayRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly to: RelayTarget
  /** Path and query, below the URL of {@link to}. */
  readonly target: string
  /** Largest part of a body that is kept, in bytes. */
  readonly limit: number
  /** Links to rewrite in the answer. */
  readonly links?: LinkBases | undefined
  /** The whole body to send instead of the request's own. */
  readonly replacement?: { readonly own: Buffer; readonly sent: Buffer } | undefined
  /** Aborted to cut the exchange off. */
  readonly signal: AbortSignal
}

/** An exchange as it was seen from between its parties. */
export interface Relayed {
  readonly request: BodyExcerpt
  /** Undefined where no answer began. */
  readonly answer?: {
    readonly status: number
    readonly headers: IncomingMessage['headers']
    readonly body: BodyExcerpt
  }
  readonly failure?: string
}

/**
 * Passes one request on and its answer back, as they come: a slow, cut or reset answer is one on the other side too. The
 * last bytes of an answer are sent once `record` has returned, so that an answer which a client has is in the recording.
 */
export function relay(exchange: RelayRequest, record: (relayed: Relayed) => void): void {
  new Relay(exchange, record).begin()
}

class Relay {
  readonly #exchange: RelayRequest
  readonly #record: (relayed: Relayed) => void
  readonly #requestBody: BodyExcerpt
  #answer: { message: IncomingMessage; body: BodyExcerpt } | undefined
  #upstream: ClientRequest | undefined
  #isRecorded = false

  constructor(exchange: RelayRequest, record: (relayed: Relayed) => void) {
    this.#exchange = exchange
    this.#record = record
    this.#requestBody = new BodyExcerpt(exchange.limit)
  }

  begin(): void {
    const { request, response, signal } = this.#exchange
    const stopped = () => this.#fail('the recorder was stopped')
    signal.addEventListener('abort', stopped, { once: true })
    response.once('close', () => {
      signal.removeEventListener('abort', stopped)
      if (!response.writableFinished) this.#fail('the one who asked closed the connection before the answer was whole')
      this.#upstream?.destroy()
    })
    response.on('error', () => {})
    request.on('error', () => this.#fail('the one who asked closed the connection in the middle of the request'))
    try {
      this.#send()
    } catch (error) {
      this.#fail(`the request could not be passed on: ${errorChain(error).join(': ')}`)
    }
  }

  #send(): void {
    const { request, to, target, replacement } = this.#exchange
    const url = new URL(to.url)
    const options = {
      method: request.method!,
      path: url.pathname.replace(/\/$/, '') + target,
      agent: false,
      setHost: false,
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port || (url.protocol === 'https:' ? 443 : 80),
    }
    const upstream = url.protocol === 'https:' ? tlsRequest({ ...to.tls, ...options }) : plainRequest(options)
    this.#upstream = upstream
    upstream.setHeader('Host', url.host)
    for (const [name, values] of passedHeaders(request.rawHeaders, ['host', 'accept-encoding']))
      upstream.setHeader(name, values.length === 1 ? values[0]! : values)
    // A compressed document could be neither recorded nor have its links rewritten.
    upstream.setHeader('Accept-Encoding', 'identity')
    upstream.setHeader('Connection', 'close')
    upstream.on('error', (error) => this.#noAnswer(error))
    upstream.on('upgrade', (_message, socket) => {
      socket.destroy()
      this.#fail('the answer changes the protocol, which the recorder does not follow')
    })
    upstream.once('response', (message) => this.#answered(message))
    if (replacement) {
      this.#requestBody.push(replacement.own)
      upstream.setHeader('Content-Length', replacement.sent.length)
      upstream.end(replacement.sent)
      return
    }
    if (request.headers['transfer-encoding'] !== undefined) upstream.setHeader('Transfer-Encoding', 'chunked')
    request.on('data', (chunk: Buffer) => {
      this.#requestBody.push(chunk)
      if (!upstream.write(chunk) && !upstream.destroyed) request.pause()
    })
    upstream.on('drain', () => request.resume())
    request.once('end', () => {
      addTrailers(upstream, request)
      upstream.end()
    })
  }

  #noAnswer(error: Error): void {
    if (!this.#answer) this.#fail(`there was no answer: ${errorChain(error).join(': ')}`)
  }

  #answered(message: IncomingMessage): void {
    const body = new BodyExcerpt(this.#exchange.limit)
    this.#answer = { message, body }
    // The answer may arrive before the whole request; the rest of the request is read and discarded.
    this.#exchange.request.resume()
    new AnswerRelay(this.#exchange, message, body, {
      ended: () => this.#recorded(),
      failed: (failure) => this.#fail(failure),
    }).begin()
  }

  /** Records what there was, and cuts both sides off. */
  #fail(failure: string): void {
    this.#recorded(failure)
    const { response, request } = this.#exchange
    this.#upstream?.destroy()
    if (response.writableFinished) return
    // A reset, so that nothing which ends with its connection looks whole.
    if (request.socket.destroyed) return
    if (response.headersSent) request.socket.destroy()
    else request.socket.resetAndDestroy()
  }

  #recorded(failure?: string): void {
    if (this.#isRecorded) return
    this.#isRecorded = true
    const answer = this.#answer
    this.#record({
      request: this.#requestBody,
      ...defined({
        answer: answer
          ? { status: answer.message.statusCode ?? 0, headers: answer.message.headers, body: answer.body }
          : undefined,
        failure,
      }),
    })
  }
}
