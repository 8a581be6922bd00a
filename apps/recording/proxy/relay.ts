import { type ClientRequest, type IncomingMessage, request as plainRequest, type ServerResponse } from 'node:http'
import { request as tlsRequest } from 'node:https'
import type { ConnectionOptions } from 'node:tls'
import { defined, errorChain } from '../../../base/runtime/index.js'
import { passedHeaders } from './headers.js'
import { BodyExcerpt } from './body-excerpt.js'
import { LinkRewriter, rewrittenLocation, type LinkBases } from './rewrite-links.js'

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
    const { request, response, links, limit } = this.#exchange
    const body = new BodyExcerpt(limit)
    this.#answer = { message, body }
    // The answer may arrive before the whole request; the rest of the request is read and discarded.
    request.resume()
    const status = message.statusCode ?? 502
    const length = message.headers['content-length']
    const hasBody = request.method !== 'HEAD' && status !== 204 && status !== 304
    const isJson = /[/+]json\b/i.test(message.headers['content-type'] ?? '')
    const isPlain = /^(identity)?$/i.test(message.headers['content-encoding'] ?? '')
    const rewriter = links && hasBody && isJson && isPlain ? new LinkRewriter(links) : undefined

    const writeHead = (ownLength?: number): void => {
      for (const [name, values] of passedHeaders(message.rawHeaders)) {
        const key = name.toLowerCase()
        if (rewriter && key === 'content-length') continue
        const own = links && key === 'location' ? values.map((value) => rewrittenLocation(value, links)) : values
        response.setHeader(name, own.length === 1 ? own[0]! : own)
      }
      if (ownLength !== undefined) response.setHeader('Content-Length', ownLength)
      const { trailer } = message.headers
      if (trailer !== undefined && request.httpVersionMinor > 0) response.setHeader('Trailer', trailer)
      response.sendDate = false
      response.writeHead(status, message.statusMessage)
    }
    const guarded = (work: () => void): void => {
      try {
        work()
      } catch (error) {
        this.#fail(`the answer could not be passed back: ${errorChain(error).join(': ')}`)
      }
    }
    /** Sent after the exchange was recorded. */
    let last: Buffer | undefined
    // Node sends headers that are alone as UTF-8, and others as the bytes that they were.
    const isAscii = message.rawHeaders.every((text) => !/[\x80-\xff]/.test(text))
    if (!rewriter)
      guarded(() => {
        writeHead()
        if (isAscii) response.flushHeaders()
      })
    message.on('data', (chunk: Buffer) => {
      body.push(chunk)
      guarded(() => {
        // Most documents come in one piece, and keep a length.
        const isWhole = length !== undefined && body.bytes >= Number(length)
        if (rewriter && !response.headersSent) {
          const all = isWhole ? Buffer.concat([rewriter.push(chunk), rewriter.end()]) : undefined
          writeHead(all?.length)
          if (all) return void (last = all)
          response.flushHeaders()
        } else if (isWhole && !rewriter) return void (last = chunk)
        if (!response.write(rewriter ? rewriter.push(chunk) : chunk)) message.pause()
      })
    })
    response.on('drain', () => message.resume())
    message.once('end', () =>
      guarded(() => {
        this.#recorded()
        if (!response.headersSent) writeHead(0)
        addTrailers(response, message)
        if (rewriter && !last) last = rewriter.end()
        response.end(last)
      }),
    )
    const broken = (): void => {
      if (!message.complete) this.#fail('the connection was closed in the middle of the answer')
    }
    message.on('error', broken)
    message.on('close', broken)
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

function addTrailers(to: ClientRequest | ServerResponse, from: IncomingMessage): void {
  const { rawTrailers: raw } = from
  const pairs = raw.flatMap((name, at): [string, string][] => (at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : []))
  if (pairs.length > 0) to.addTrailers(pairs)
}
