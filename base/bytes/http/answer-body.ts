import type { ClientRequest, IncomingMessage } from 'node:http'
import { withClockHeld, onAbort, systemClock, type Clock } from '../../runtime/index.js'
import { codeOf, toFetchFailure, FetchFailure, type FailurePlace } from './fetch-failure.js'
import type { HttpLimits } from './http-limits.js'

/** Hears of a server that sends nothing in the middle of a body. */
export interface SilenceListener {
  /** Milliseconds of silence after which it hears. */
  after: number
  /** @param url of the request; its query may hold secrets */
  tell: (url: string) => void
}

/** So much is taken from the connection before it is wanted. */
const AHEAD = 256 * 1024

export interface AnswerBodyParts {
  request: ClientRequest
  response: IncomingMessage
  place: FailurePlace
  limits: HttpLimits
  onSilence?: SilenceListener
  clock: Clock
  signal: AbortSignal
}

/**
 * The body of an answer, part by part. A reader may be as slow as it likes: only the time in which it waits for the
 * server counts.
 */
export class AnswerBody implements AsyncIterable<Uint8Array> {
  readonly #parts: AnswerBodyParts
  readonly #wall = systemClock()
  readonly #queue: Uint8Array[] = []
  #queued = 0
  #ended = false
  #failure: FetchFailure | undefined
  #wake: (() => void) | undefined
  /** Start of the period over which the server's pace is measured. */
  #pace = { waited: 0, bytes: 0 }

  constructor(parts: AnswerBodyParts) {
    this.#parts = parts
    const { request, response, place } = parts
    const settle = () => this.#wake?.()
    const fail = (failure: FetchFailure) => {
      this.#failure ??= failure
      settle()
    }
    const cut = (cause?: unknown) => {
      const detail = 'transfer-encoding' in response.headers ? 'before the last chunk' : undefined
      fail(new FetchFailure('cut-off', place, { cause, detail }))
    }
    request.on('error', (error) => {
      // Bytes behind a whole body do not belong to it; more bytes than announced are an error of the server.
      if (!response.complete || codeOf(error) === 'HPE_CLOSED_CONNECTION') fail(toFetchFailure(error, 'body', place))
    })
    response.on('error', (error) => (response.complete ? undefined : cut(error)))
    response.on('data', (bytes: Uint8Array) => {
      this.#queue.push(bytes)
      this.#queued += bytes.length
      if (this.#queued >= AHEAD) response.pause()
      settle()
    })
    response.once('end', () => {
      this.#ended = true
      settle()
    })
    response.once('close', () => (this.#ended ? settle() : cut()))
  }

  /** @throws FetchFailure; the signal's reason */
  async next(): Promise<Uint8Array | undefined> {
    const { clock, place, response } = this.#parts
    if (this.#queue.length === 0 && !this.#failure && !this.#ended)
      await withClockHeld(clock, `reading from ${place.at}`, () => this.#more())
    const bytes = this.#queue.shift()
    if (bytes) {
      this.#queued -= bytes.length
      this.#pace.bytes += bytes.length
      if (this.#queued === 0) response.resume()
      return bytes
    }
    if (this.#failure) throw this.#failure
    return undefined
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (let bytes = await this.next(); bytes; bytes = await this.next()) yield bytes
  }

  /** Drops what has not been read, and the connection with it. */
  async close(): Promise<void> {
    const { request, response, clock, place } = this.#parts
    this.#queue.length = this.#queued = 0
    this.#failure ??= new FetchFailure('other', place, { detail: 'closed here' })
    if (this.#ended && response.complete && request.reusedSocket) return
    await withClockHeld(clock, `closing the connection to ${place.at}`, async () => {
      const closed = new Promise<void>((resolve) =>
        request.closed ? resolve() : request.once('close', () => resolve()),
      )
      request.destroy()
      await closed
    })
  }

  #tellSilence(signal: AbortSignal): void {
    const { onSilence, place } = this.#parts
    if (!onSilence) return
    void this.#wall.sleep(onSilence.after, { signal }).then(
      () => onSilence.tell(place.url),
      () => {},
    )
  }

  /** Waits until there is a part, the end or a failure. */
  async #more(): Promise<void> {
    const { limits, place, signal } = this.#parts
    const { bytes, within } = limits.slowest
    const since = this.#wall.elapsed()
    const enough = new AbortController()
    const event = new Promise<void>((resolve) => (this.#wake = resolve))
    using _ = onAbort(signal, () => this.#wake?.())
    const timeout = Math.min(limits.silence, Math.max(1, within - this.#pace.waited))
    const late = this.#wall.sleep(timeout, { signal: enough.signal }).then(
      () => true,
      () => false,
    )
    this.#tellSilence(enough.signal)
    const expired = await Promise.race([event.then(() => false), late])
    enough.abort(ANSWER_DONE)
    this.#wake = undefined
    signal.throwIfAborted()
    this.#pace.waited += this.#wall.elapsed() - since
    if (expired && timeout === limits.silence)
      this.#failure ??= new FetchFailure('silent', place, { detail: `for ${limits.silence / 1000} s` })
    if (this.#pace.waited < within) return expired && !this.#failure ? await this.#more() : undefined
    if (this.#pace.bytes < bytes)
      this.#failure ??= new FetchFailure('too-slow', place, {
        detail: `${this.#pace.bytes} bytes in ${Math.round(within / 1000)} s`,
      })
    this.#pace = { waited: 0, bytes: 0 }
    if (expired && !this.#failure) return await this.#more()
  }
}

/** One reason for all, so that no exception with a stack is made for the usual case. */
const ANSWER_DONE = new Error('done')
