import { defined, isObject, packageVersion } from '../../../base/runtime/index.js'
import type { ExchangeEntry, JournalEntry, JournalMessage } from '../../../control/index.js'
import { recordedHeaders } from '../proxy/headers.js'
import {
  FORMAT_VERSION,
  type Party,
  type RecordingExchange,
  type RecordingHeader,
  type RecordingMessage,
} from './recording-exchange.js'

/** The journal's mark of a secret, and the one that Ironic's own answers have. */
const JOURNAL_MASK = '***'
const IRONIC_MASK = '******'

/** Values of requests that an Ironic still accepts where the journal has only its mark. */
const ACCEPTED_VALUES: Readonly<Record<string, object>> = {
  ignition: { ignition: { version: '3.0.0' } },
  configdrive: { meta_data: {} },
}

const RECORDED_PARTIES: readonly string[] = ['client', 'ironic', 'agent'] satisfies readonly Party[]

/**
 * The exchanges of a lab's journal between clients, Ironic and agents as a recording. Secrets are masked as in the journal;
 * Ignition configs and config drives of requests are replaced by empty ones.
 *
 * @param upstream URL of the lab's Ironic
 */
export function journalRecording(entries: readonly JournalEntry[], upstream: string): string {
  const exchanges = entries
    .filter((entry) => entry.kind === 'exchange')
    .filter(({ from, to }) => RECORDED_PARTIES.includes(from) && RECORDED_PARTIES.includes(to))
    .sort((one, other) => beginOf(one) - beginOf(other) || one.id - other.id)
  const header: RecordingHeader = {
    recording: 'ironstage',
    version: FORMAT_VERSION,
    startedAt: exchanges[0]?.wallTime ?? new Date(0).toISOString(),
    upstream,
    program: `ironstage ${packageVersion()}`,
  }
  const lines = exchanges.map((entry, index) => recordingExchange(entry, index + 1))
  return [header, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** Lab time at which a request began. */
const beginOf = ({ labTime, duration }: ExchangeEntry): number => Date.parse(labTime) - duration

/** Times are those of the wall: a replay waits by them. The journal knows when an exchange ended. */
function recordingExchange(entry: ExchangeEntry, seq: number): RecordingExchange {
  const { from, to, node, method, target, status, error, request, response, wallTime } = entry
  const isAnswered = status !== null && response !== null
  return {
    seq,
    at: wallTime,
    ms: 0,
    from: from as Party,
    to: to as Party,
    ...defined({ node: to === 'agent' && node !== null ? node : undefined }),
    method,
    target,
    request: recordingMessage(request, 'request'),
    status: isAnswered ? status : null,
    response: isAnswered ? recordingMessage(response, 'answer') : null,
    ...defined({ failure: isAnswered ? undefined : (error ?? 'no answer came') }),
  }
}

function recordingMessage({ headers, body, size }: JournalMessage, kind: 'request' | 'answer'): RecordingMessage {
  const lowerCase = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const shown = { headers: recordedHeaders(lowerCase), bytes: size }
  if (size === 0) return shown
  // The journal keeps no large bodies.
  if (body === null) return { ...shown, cut: true }
  const isText = typeof body === 'string' && !/[/+]json\b/i.test(lowerCase['content-type'] ?? '')
  return isText ? { ...shown, text: body } : { ...shown, body: unmarked(body, kind, '') }
}

/** A document without marks of the journal that a replay could not send, or would compare with Ironic's own. */
function unmarked(value: unknown, kind: 'request' | 'answer', key: string): unknown {
  if (value === JOURNAL_MASK) return kind === 'answer' ? IRONIC_MASK : (ACCEPTED_VALUES[key] ?? value)
  if (Array.isArray(value)) return value.map((one) => unmarked(one, kind, key))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, unmarked(inner, kind, name)]))
}
