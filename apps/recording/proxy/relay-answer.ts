import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import { errorChain } from '../../../base/runtime/index.js'
import type { BodyExcerpt } from './body-excerpt.js'
import { passedHeaders } from './headers.js'
import type { RelayRequest } from './relay.js'
import { LinkRewriter, rewrittenLocation } from './rewrite-links.js'

interface AnswerEnds {
  /** Called when the answer is whole, before its last bytes are sent. */
  ended: () => void
  failed: (failure: string) => void
}

/** Passes one answer back, as it comes, with its links rewritten. */
export class AnswerRelay {
  readonly #exchange: RelayRequest
  readonly #message: IncomingMessage
  readonly #body: BodyExcerpt
  readonly #ends: AnswerEnds
  readonly #status: number
  readonly #rewriter: LinkRewriter | undefined
  /** Sent after the exchange was recorded. */
  #last: Buffer | undefined

  /** @param body takes what is recorded of the body */
  constructor(exchange: RelayRequest, message: IncomingMessage, body: BodyExcerpt, ends: AnswerEnds) {
    this.#exchange = exchange
    this.#message = message
    this.#body = body
    this.#ends = ends
    this.#status = message.statusCode ?? 502
    const { request, links } = exchange
    const hasBody = request.method !== 'HEAD' && this.#status !== 204 && this.#status !== 304
    const isJson = /[/+]json\b/i.test(message.headers['content-type'] ?? '')
    const isPlain = /^(identity)?$/i.test(message.headers['content-encoding'] ?? '')
    this.#rewriter = links && hasBody && isJson && isPlain ? new LinkRewriter(links) : undefined
  }

  begin(): void {
    const message = this.#message
    if (!this.#rewriter) this.#guarded(() => this.#passHead())
    message.on('data', (chunk: Buffer) => {
      this.#body.push(chunk)
      this.#guarded(() => this.#passChunk(chunk))
    })
    this.#exchange.response.on('drain', () => message.resume())
    message.once('end', () => this.#guarded(() => this.#passEnd()))
    const broken = (): void => {
      if (!message.complete) this.#ends.failed('the connection was closed in the middle of the answer')
    }
    message.on('error', broken)
    message.on('close', broken)
  }

  #guarded(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#ends.failed(`the answer could not be passed back: ${errorChain(error).join(': ')}`)
    }
  }

  #passHead(): void {
    this.#writeHead()
    // Node sends headers that are alone as UTF-8, and others as the bytes that they were.
    const isAscii = this.#message.rawHeaders.every((text) => !/[\x80-\xff]/.test(text))
    if (isAscii) this.#exchange.response.flushHeaders()
  }

  /** @param ownLength length of a body whose links were rewritten, if it is known */
  #writeHead(ownLength?: number): void {
    const { request, response, links } = this.#exchange
    const { rawHeaders, headers, statusMessage } = this.#message
    for (const [name, values] of passedHeaders(rawHeaders)) {
      const key = name.toLowerCase()
      if (this.#rewriter && key === 'content-length') continue
      const own = links && key === 'location' ? values.map((value) => rewrittenLocation(value, links)) : values
      response.setHeader(name, own.length === 1 ? own[0]! : own)
    }
    if (ownLength !== undefined) response.setHeader('Content-Length', ownLength)
    const { trailer } = headers
    if (trailer !== undefined && request.httpVersionMinor > 0) response.setHeader('Trailer', trailer)
    response.sendDate = false
    response.writeHead(this.#status, statusMessage)
  }

  #passChunk(chunk: Buffer): void {
    const { response } = this.#exchange
    const rewriter = this.#rewriter
    const length = this.#message.headers['content-length']
    // Most documents come in one piece, and keep a length.
    const isWhole = length !== undefined && this.#body.bytes >= Number(length)
    if (rewriter && !response.headersSent) {
      const all = isWhole ? Buffer.concat([rewriter.push(chunk), rewriter.end()]) : undefined
      this.#writeHead(all?.length)
      if (all) {
        this.#last = all
        return
      }
      response.flushHeaders()
    } else if (isWhole && !rewriter) {
      this.#last = chunk
      return
    }
    if (!response.write(rewriter ? rewriter.push(chunk) : chunk)) this.#message.pause()
  }

  #passEnd(): void {
    const { response } = this.#exchange
    this.#ends.ended()
    if (!response.headersSent) this.#writeHead(0)
    addTrailers(response, this.#message)
    if (this.#rewriter && !this.#last) this.#last = this.#rewriter.end()
    response.end(this.#last)
  }
}

export function addTrailers(to: ClientRequest | ServerResponse, from: IncomingMessage): void {
  const { rawTrailers: raw } = from
  const pairs = raw.flatMap((name, at): [string, string][] => (at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : []))
  if (pairs.length > 0) to.addTrailers(pairs)
}
