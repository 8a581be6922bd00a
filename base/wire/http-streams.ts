import type { ServerResponse } from 'node:http'
import { onAbort, sharedAbort, systemClock } from '../runtime/index.js'
import type { OpenStream } from './wire-exchange.js'

/** Milliseconds of wall time that a client may read nothing of a waiting answer: sockets are real. */
const STALLED_CLIENT_TIMEOUT = 30_000

/**
 * Sends parts as they come, and asks for the next only when the client has taken the last: a slow client costs one part.
 * One that takes nothing for half a minute is cut off.
 */
export async function sendStream(
  response: ServerResponse,
  open: OpenStream,
  ending: AbortSignal,
  longestStall = STALLED_CLIENT_TIMEOUT,
): Promise<void> {
  const over = sharedAbort()
  const end = (): void => over.abort()
  response.once('close', end)
  using _ = onAbort(ending, end)
  response.flushHeaders()
  for await (const part of open(over.signal, true)) {
    if (over.signal.aborted) break
    if (!response.write(part) && !(await isTaken(response, over.signal, longestStall))) return void response.destroy()
  }
  response.end()
}

/** Made once: a client that reads much would cause an exception with a stack for each part. */
const DRAINED = new Error('the client has taken the part')

async function isTaken(response: ServerResponse, signal: AbortSignal, longest: number): Promise<boolean> {
  const waiting = new AbortController()
  let isDrained = false
  const drained = (): void => {
    isDrained = true
    waiting.abort(DRAINED)
  }
  response.once('drain', drained)
  using _ = onAbort(signal, () => waiting.abort())
  await systemClock()
    .sleep(longest, { signal: waiting.signal, weak: true })
    .catch(() => {})
  response.off('drain', drained)
  return isDrained
}
