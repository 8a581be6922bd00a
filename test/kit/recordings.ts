import { defined } from '../../base/runtime/index.js'
import { FORMAT_VERSION, type RecordingExchange, type Recording } from '../../apps/recording/index.js'

const START = Date.parse('2026-11-23T10:00:00Z')

/** An exchange in a few words; numbers and times are its place in {@link recordingOf}. */
export interface ShortExchange extends Partial<Omit<RecordingExchange, 'request' | 'response'>> {
  asks?: unknown
  answers?: unknown
  headers?: Record<string, string>
}

export function exchangeOf({ asks, answers, headers = {}, ...more }: ShortExchange, index: number): RecordingExchange {
  const message = (body: unknown) => ({ bytes: body === undefined ? 0 : 1, ...defined({ body }) })
  return {
    seq: index + 1,
    at: new Date(START + index * 10).toISOString(),
    ms: 1,
    from: 'client',
    to: 'ironic',
    method: 'GET',
    target: '/v1/nodes',
    status: 200,
    request: { headers: {}, ...message(asks) },
    response: { headers, ...message(answers) },
    ...more,
    ...defined({ response: more.status === null ? null : undefined }),
  }
}

/** A recording of these exchanges, ten milliseconds apart. */
export const recordingOf = (...exchanges: ShortExchange[]): Recording => ({
  name: 'recording.ndjson',
  header: {
    recording: 'ironstage',
    version: FORMAT_VERSION,
    startedAt: new Date(START).toISOString(),
    upstream: 'http://192.0.2.1:6385',
    program: 'a test',
  },
  exchanges: exchanges.map(exchangeOf),
  missing: [],
  isCut: false,
})
