import { DEFAULT_HTTP_LIMITS, requestOnce, type HttpLimits } from '../../base/bytes/index.js'
import { seconds, systemClock } from '../../base/runtime/index.js'
import type { MemberControl } from '../../ironic-mock/index.js'
import { LabClient } from '../../control/index.js'
import { MEMBER_HEADER, memberToken } from './member-token.js'

/** Another process, as it is asked. */
export interface AskedMember {
  readonly control: MemberControl
  readonly stream: number
}

/** A process that does not begin to answer within this is missing in what is joined. */
const MEMBER_ANSWER_TIMEOUT = seconds(2)

/** Longest silence of a stream of entries, in which a process that has none says so each 15 seconds. */
const MEMBER_SILENCE = seconds(40)

/** Bytes of an answer at most: as many as a journal keeps of bodies, and as much again. */
const MAX_MEMBER_ANSWER = 128 * 2 ** 20

const MEMBER_LIMITS: HttpLimits = {
  ...DEFAULT_HTTP_LIMITS,
  connect: MEMBER_ANSWER_TIMEOUT,
  header: MEMBER_ANSWER_TIMEOUT,
}

/** A document comes at once, and a stream of entries may rest. */
const DOCUMENT_LIMITS: HttpLimits = { ...MEMBER_LIMITS, silence: MEMBER_ANSWER_TIMEOUT }
const STREAM_LIMITS: HttpLimits = {
  ...MEMBER_LIMITS,
  silence: MEMBER_SILENCE,
  slowest: { bytes: 0, within: MEMBER_SILENCE },
}

/**
 * The control API of another process, which answers such a client for itself alone: none asks further. It is reached
 * without a proxy, believes the certificate that its row names, and waits a bounded time.
 */
export function askMember(
  { control, stream }: AskedMember,
  secret: string,
  signal: AbortSignal,
  isStream = false,
): LabClient {
  const send: typeof fetch = async (input, init) => {
    const url = new URL(input as string)
    const wall = systemClock()
    const target = `${url.pathname}${url.search}`
    const { status, body } = await requestOnce({
      url,
      method: init?.method ?? 'GET',
      headers: {
        ...(init?.headers as Record<string, string>),
        [MEMBER_HEADER]: memberToken(secret, { stream, target }, wall.now()),
      },
      tls: control.certificate === null ? {} : pinnedTo(control.certificate),
      limits: isStream ? STREAM_LIMITS : DOCUMENT_LIMITS,
      clock: wall,
      signal,
    })
    return new Response(streamOf(body, isStream ? Infinity : MAX_MEMBER_ANSWER), { status })
  }
  return new LabClient(control.url, { fetch: send, signal })
}

/** The certificate is in the database, and may be for other names than the address. */
const pinnedTo = (ca: string) => ({ ca, allowPartialTrustChain: true, checkServerIdentity: () => undefined })

function streamOf(
  body: AsyncIterable<Uint8Array> & { close: () => Promise<void> },
  most: number,
): ReadableStream<Uint8Array> {
  const parts = body[Symbol.asyncIterator]()
  let bytes = 0
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await parts.next()
      if (done) return controller.close()
      bytes += value.length
      if (bytes > most) throw new Error(`the answer has more than ${most} bytes`)
      controller.enqueue(value)
    },
    cancel: () => body.close(),
  })
}
