import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestHandler } from 'express'
import type { BodyLimits } from './http-server.js'

/** Bytes of a body that is taken even beside many large ones: agents' heartbeats have to get through. */
const ALWAYS_ADMITTED_BYTES = 256 * 1024

/**
 * Room for the bodies of all requests under way. Each body has a limit of its own, but a hundred large ones that are sent
 * at once would fill the memory.
 */
export class BodyRoom {
  readonly #limit: number
  #taken = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /**
   * Takes room for a body as it arrives, until its request is answered. When there is none left it gives back what it has
   * taken and calls `full`.
   */
  admit(request: IncomingMessage, response: ServerResponse, largest: number, full: () => void): void {
    let own = 0
    const give = (): void => {
      request.off('data', arrived)
      this.#taken -= own
      own = 0
    }
    const take = (bytes: number): void => {
      own += bytes
      this.#taken += bytes
      if (this.#taken <= this.#limit || own <= ALWAYS_ADMITTED_BYTES) return
      give()
      full()
    }
    const arrived = (chunk: Buffer): void => take(chunk.length)
    response.once('close', give)
    // A compressed body may grow to the most that the call takes.
    if (request.headers['content-encoding'] === undefined) request.on('data', arrived)
    else take(largest)
  }
}

/** Bodies up to so many bytes are read without Express, if they are what nearly all are: plain, and of a length that is known. */
const SMALL_BODY_BYTES = 64 * 1024

export function hasSmallBody({ headers }: IncomingMessage): boolean {
  if (headers['transfer-encoding'] !== undefined || headers.expect !== undefined) return false
  return headers['content-encoding'] === undefined && Number(headers['content-length']) <= SMALL_BODY_BYTES
}

/** Calls `whole` once the body is there; never for a client that goes away before, which needs no answer. */
export function readSmallBody(request: IncomingMessage, whole: (body: Buffer) => void): void {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.once('end', () => whole(parts.length === 1 ? parts[0]! : Buffer.concat(parts)))
}

const NO_BODY_MEMORY = 'Too many large request bodies are being received at once: send this one again in a few seconds.'

/** Reads a body up to the limit of its call, by a reader that takes so many bytes. */
export function bodyReader(
  limitsOf: BodyLimits,
  room: BodyRoom,
  reading: (largest: number) => RequestHandler,
): RequestHandler {
  const readers = new Map<number, RequestHandler>()
  return (request, response, next) => {
    const { largest, refusal } = limitsOf(request.url)
    let full = false
    room.admit(request, response, largest, () => {
      full = true
      next({ status: 503, message: NO_BODY_MEMORY })
      // Ends the reader, which would keep what it has and go on; the rest is read away.
      request.emit('aborted')
      request.resume()
    })
    if (full) return
    const reader = readers.get(largest) ?? reading(largest)
    readers.set(largest, reader)
    void reader(request, response, (error?: unknown) => {
      if (!full)
        next((error as { status?: number } | undefined)?.status === 413 ? { status: 413, message: refusal } : error)
    })
  }
}
