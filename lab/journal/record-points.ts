import { fileOf, VERSION_HEADER, type ExchangePoint, type WireResponse } from '../../base/wire/index.js'
import type { CommandEnd } from '../../machine/index.js'
import { maskedText } from '../masking.js'
import type { PointOf } from '../points.js'
import type { NearMiss } from './entry.js'
import type { EntrySubject } from './entry-subject.js'
import type { Journal } from './journal.js'
import { MAX_MASKED_CHARACTERS, maskedFileTarget, maskedMessage, maskedTarget } from './mask-message.js'
import { nearMiss } from './near-miss.js'

export const RECORDED_POINTS = [
  'exchange',
  'command',
  'power',
  'boot',
  'bmc',
  'pull',
  'image-pull',
  'hardware',
] as const

export type RecordedPoint = PointOf<(typeof RECORDED_POINTS)[number]>

/** How a point ended. */
export interface PointEnd {
  readonly at: EntrySubject
  /** Id of the fault that struck. */
  readonly fault: string | null
  /** Lab time in milliseconds. */
  readonly duration: number
  readonly result: unknown
  /** Chain of errors of a point that failed. */
  readonly failure: string | null
}

/**
 * Adds the entry of a point.
 *
 * @param names names of all nodes, or their uuids
 */
export function notePoint(journal: Journal, point: RecordedPoint, end: PointEnd, names: () => string[]): void {
  const { at, fault, duration, result, failure } = end
  switch (point.kind) {
    case 'exchange':
      return noteExchange(journal, point, end, names)
    case 'command': {
      const { node, name, machine } = at
      return journal.add({
        kind: 'command',
        node,
        name,
        machine,
        fault,
        argv: point.argv,
        exitCode: (result as CommandEnd | undefined)?.exitCode ?? null,
        error: failure,
        duration,
      })
    }
    case 'bmc':
      return journal.add({
        kind: 'bmc',
        ...at,
        fault,
        call: point.call,
        ...redfishCall(point, result as WireResponse | undefined),
        error: failure ?? ownRefusal(point, result as WireResponse | undefined),
        duration,
      })
    case 'power':
      return journal.add({ kind: 'power', ...at, fault, what: powerOf(point), error: failure })
    case 'boot': {
      const why = point.why === undefined ? null : maskedText(point.why)
      return journal.add({ kind: 'boot', ...at, fault, what: point.outcome, error: failure ?? why })
    }
    case 'hardware':
      return journal.add({ kind: 'lab', ...at, fault: null, what: point.what })
    case 'pull':
    case 'image-pull':
      return journal.add({ kind: 'pull', ...at, fault, what: point.image, error: failure })
  }
}

/** A change of power and the request for it pass the probe one by one: a machine that is on already does not change. */
const powerOf = (point: PointOf<'power'>): string => ('target' in point ? `request: ${point.target}` : point.power)

/** The request of a call over Redfish. */
function redfishCall(point: PointOf<'bmc'>, answer: WireResponse | undefined) {
  // A call of this lab's Ironic has no request to show.
  if (point.method === undefined) return { method: null, target: null, status: null }
  const { method, target } = point
  return { method, target: maskedTarget(target), status: answer?.status ?? null }
}

/** Error of a call of this lab's Ironic that was answered. */
function ownRefusal(point: PointOf<'bmc'>, answer: WireResponse | undefined): string | null {
  const isRefused = point.method === undefined && (answer?.status ?? 0) >= 400
  return isRefused ? `it answered ${answer!.status}` : null
}

function noteExchange(
  journal: Journal,
  { from, to, method, target, request }: ExchangePoint,
  { at, fault, duration, result, failure }: PointEnd,
  names: () => string[],
): void {
  const answer = result as WireResponse | undefined
  const asked = measureBody(request.body)
  const answered = measureAnswer(answer, method)
  const version = headerOf(request.headers, VERSION_HEADER)
  const status = answer?.status ?? null
  const nearest = status === null ? null : nearMiss({ to, method, target, status, version }, names)
  const { node, name, machine } = at
  journal.add(
    {
      kind: 'exchange',
      node,
      name,
      machine,
      fault,
      from,
      to,
      method,
      target: to === 'images' ? maskedFileTarget(target) : maskedTarget(target),
      status,
      error: failure,
      requestId: answer?.headers['openstack-request-id'] ?? null,
      duration,
    },
    (asked.body?.length ?? 0) + (answered.body?.length ?? 0),
    messagesOf({ headers: request.headers, ...asked }, answer && { headers: answer.headers, ...answered }, nearest),
  )
}

interface MeasuredBody {
  /** Undefined when it is absent or too large to keep. */
  readonly body: string | undefined
  readonly size: number
}

interface NotedMessage extends MeasuredBody {
  readonly headers: Readonly<Record<string, string>>
}

/** A function of its own, so that the journal keeps nothing but these of an exchange. */
const messagesOf = (request: NotedMessage, response: NotedMessage | undefined, nearest: NearMiss | null) => () => ({
  request: maskedMessage(request.headers, request.body, request.size),
  response: response ? maskedMessage(response.headers, response.body, response.size) : null,
  nearMiss: nearest,
})

const headerOf = (headers: Readonly<Record<string, string>>, wanted: string): string | undefined =>
  headers[wanted] ?? Object.entries(headers).find(([name]) => name.toLowerCase() === wanted)?.[1]

function measureBody(body: string | undefined): MeasuredBody {
  if (body === undefined) return { body, size: 0 }
  const size = Buffer.byteLength(body)
  return { body: body.length > MAX_MASKED_CHARACTERS ? undefined : body, size }
}

function measureAnswer(answer: WireResponse | undefined, method: string): MeasuredBody {
  // A body that is made when it is read is a long list; reading it here would make it twice.
  const isMadeOnRead = answer !== undefined && Object.getOwnPropertyDescriptor(answer, 'body')?.get !== undefined
  const { body, size } = isMadeOnRead ? { body: undefined, size: 0 } : measureBody(answer?.body)
  const isFile = answer !== undefined && fileOf(answer) !== undefined && method !== 'HEAD'
  return { body, size: isFile ? Number(answer.headers['content-length'] ?? 0) : size }
}
