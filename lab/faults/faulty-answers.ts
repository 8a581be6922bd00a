import { defined, type Clock } from '../../base/runtime/index.js'
import { answerOfStream, ConnectionFailed, streamToSend, type WireResponse } from '../../base/wire/index.js'

type Side = 'client' | 'server'

export const withBody = (answer: WireResponse, body: unknown): WireResponse =>
  body === undefined ? answer : { ...answer, body: typeof body === 'string' ? body : JSON.stringify(body) }

export const CUT_OFF = 'the connection was closed in the middle of the body (a fault of this lab)'

/** An answer whose connection closes in the middle of the body. */
export function cutOff(answer: WireResponse, side: Side): WireResponse {
  const { status, headers, body } = answer
  if (body === undefined || streamToSend(answer)) return answer
  if (side === 'client') throw new ConnectionFailed(CUT_OFF)
  const length = String(Buffer.byteLength(body))
  return answerOfStream(status, { ...headers, 'content-length': length }, async function* () {
    yield half(body)
    throw new ConnectionFailed(CUT_OFF)
  })
}

/** An answer with the first half of its body. */
export const halveBody = (answer: WireResponse): WireResponse =>
  answer.body === undefined ? answer : { status: answer.status, headers: answer.headers, body: half(answer.body) }

const half = (body: string): string => body.slice(0, Math.floor(body.length / 2))

interface SlowReading {
  readonly side: Side
  readonly clock: Clock
  /** Aborted when the reader gives up. */
  readonly signal: AbortSignal | undefined
}

/** An answer whose body takes its time. */
export async function slowBody(
  answer: WireResponse,
  pace: number,
  { side, clock, signal: reader }: SlowReading,
): Promise<WireResponse> {
  const { status, headers, body } = answer
  if (body === undefined || streamToSend(answer)) return answer
  const bytes = Buffer.from(body)
  if (side === 'client') {
    await clock.sleep((bytes.length / pace) * 1000, defined({ signal: reader }))
    return answer
  }
  const piece = Math.max(1, Math.ceil(pace / 10))
  const stated = { ...headers, 'content-length': String(bytes.length) }
  return answerOfStream(status, stated, async function* (signal) {
    const text = new TextDecoder()
    for (let at = 0; at < bytes.length && !signal.aborted; at += piece) {
      const part = bytes.subarray(at, at + piece)
      await clock.sleep((part.length / pace) * 1000, { signal }).catch(() => {})
      yield text.decode(part, { stream: true })
    }
  })
}

/** An answer about nodes with an empty `last_error`. */
export function emptyLastError(answer: WireResponse): WireResponse {
  if (!answer.body?.includes('"last_error"')) return answer
  const document = JSON.parse(answer.body) as unknown
  return { ...answer, body: JSON.stringify(document, (key, value: unknown) => (key === 'last_error' ? '' : value)) }
}
