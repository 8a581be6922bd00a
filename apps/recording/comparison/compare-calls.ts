import type { RecordingMessage } from '../format/recording-exchange.js'
import { type ComparedCall, firstOf, lastOf } from './compared-calls.js'
import { compareDocuments, type DocumentComparison, type PlaceDifference } from './compare-documents.js'
import type { SeenDifference } from './difference.js'
import { COMPARED_HEADERS } from './varying-fields.js'
import type { IdMap } from './ids.js'
import { callName } from './call-routes.js'
import { endsInPassing, restsOf, stateIn } from './passing-states.js'

export interface CallComparison {
  readonly ids: IdMap
  /** Compares what was asked too. */
  readonly requests?: boolean
}

/** How a call went in two runs: status, states, headers and bodies of the last answer. */
export function compareCalls(
  was: ComparedCall,
  is: ComparedCall,
  { ids, requests = false }: CallComparison,
): SeenDifference[] {
  const found: PlaceDifference[] = []
  const before = lastOf(was)
  const now = lastOf(is)
  if (requests) {
    const asked = firstOf(was).request
    const asks = firstOf(is).request
    found.push(...compareBodies(asked, asks, 'request', { ids }))
  }
  if (before.status !== now.status) found.push({ place: 'status', kind: 'value', was: before.status, is: now.status })
  const rests = [restsOf(was), restsOf(is)] as const
  // The client of the first run may have stopped looking before the node came to rest.
  const isMoment = endsInPassing(was) && stateIn(before) !== stateIn(now)
  if (!isMoment && rests[0].join() !== rests[1].join())
    found.push({ place: 'states', kind: 'value', was: rests[0], is: rests[1] })
  // An error in place of an answer, or the reverse, has other headers and another body for that one reason.
  const isError = before.status !== now.status && Number(before.status) >= 400 !== Number(now.status) >= 400
  if (before.response && now.response && !isError) {
    // In another status or state, values differ for that reason.
    const shapeOnly = before.status !== now.status || stateIn(before) !== stateIn(now)
    // Headers last: the body shows ids that they name.
    const bodies = compareBodies(before.response, now.response, '', { ids, shapeOnly })
    found.push(...compareHeaders(before.response, now.response, ids), ...bodies)
  }
  const call = callName(before)
  return found.map((each) => ({ ...each, call, seq: before.seq }))
}

function compareHeaders(was: RecordingMessage, is: RecordingMessage, ids: IdMap): PlaceDifference[] {
  return Object.entries(COMPARED_HEADERS).flatMap(([name, part]): PlaceDifference[] => {
    const before = was.headers[name]
    const now = is.headers[name]
    const place = `header.${name}`
    if (before === undefined && now === undefined) return []
    if (now === undefined) return [{ place, kind: 'missing', was: before }]
    if (before === undefined) return [{ place, kind: 'new', is: now }]
    return ids.text(part(before)) === part(now) ? [] : [{ place, kind: 'value', was: before, is: now }]
  })
}

function compareBodies(
  was: RecordingMessage,
  is: RecordingMessage,
  side: '' | 'request',
  comparison: DocumentComparison,
): PlaceDifference[] {
  const place = side === '' ? 'body' : 'request'
  // Bodies beyond the limit are not there to be compared.
  if (was.cut || is.cut) return []
  const before = contentOf(was)
  const now = contentOf(is)
  if (before === undefined && now === undefined) return []
  if (now === undefined) return [{ place, kind: 'missing', was: before }]
  if (before === undefined) return [{ place, kind: 'new', is: now }]
  return compareDocuments(before, now, place, comparison)
}

const contentOf = ({ body, text, base64 }: RecordingMessage): unknown => (body !== undefined ? body : (text ?? base64))
