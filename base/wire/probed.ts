import type { Point, Probe } from '../runtime/index.js'
import type { Dispatch, OutgoingRequest, Transport, WireRequest, WireResponse } from './wire-exchange.js'

/** Sender and receiver, in words for the journal and for the matching of faults: `ironic`, `agent`, `client` ... */
export interface Parties {
  readonly from: string
  readonly to: string
}

/**
 * An exchange as the {@link Probe} sees it. `next()` resolves with its {@link WireResponse}; an interceptor that
 * returns another one instead makes the exchange fail with that status, one that rejects with ConnectionFailed makes it
 * get no answer, one that sleeps first makes it slow.
 *
 * An exchange between two parties of one lab is seen twice, once a `side`.
 */
export interface ExchangePoint extends Parties {
  readonly kind: 'exchange'
  readonly side: 'client' | 'server'
  readonly method: string
  readonly url: string
  /** Path with the query string, as the server sees it: below the prefix where it is mounted. */
  readonly target: string
  readonly request: OutgoingRequest | WireRequest
  /** Changes to the JSON object that is the request's body, which an interceptor may add to before `next()`. */
  readonly changes: BodyChange[]
  /** Id of the machine whose download or agent it is, where that is known. */
  readonly machine?: string
  /** The node that it concerns, where that is known. */
  readonly node?: string
}

type BodyChange = (body: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>

export const isExchange = (point: Point): point is ExchangePoint => point.kind === 'exchange'

/** A transport whose exchanges pass the probe. */
export function probeTransport(transport: Transport, probe: Probe, { from, to }: Parties): Transport {
  return {
    send: (request) => {
      if (!probe.watches('exchange')) return transport.send(request)
      const { method, url } = request
      const point: ExchangePoint = {
        kind: 'exchange',
        side: 'client',
        from,
        to,
        method,
        url,
        target: urlTargetOf(url),
        request,
        changes: [],
      }
      return probe.around<WireResponse>(point, () => transport.send(changeBody(request, point.changes)))
    },
  }
}

/** The same for requests that are served; who they come from may show only in the request. */
export function probedDispatch(
  dispatch: Dispatch,
  probe: Probe,
  parties: Parties | ((request: WireRequest) => Parties),
): Dispatch {
  return (request) => {
    if (!probe.watches('exchange')) return dispatch(request)
    const { method, target } = request
    const { from, to } = typeof parties === 'function' ? parties(request) : parties
    const url = request.base + target
    const of = { kind: 'exchange', side: 'server', from, to, method, url, target, request } as const
    const point: ExchangePoint = { ...of, changes: [] }
    return probe.around<WireResponse>(point, () => dispatch(changeBody(request, point.changes)))
  }
}

function changeBody<Request extends { readonly body?: string }>(
  request: Request,
  changes: readonly BodyChange[],
): Request {
  if (changes.length === 0 || request.body === undefined) return request
  const body = JSON.parse(request.body) as Readonly<Record<string, unknown>>
  return { ...request, body: JSON.stringify(changes.reduce((so, change) => change(so), body)) }
}

/** The path of a URL with its query, as a server sees it. */
export function urlTargetOf(url: string): string {
  const plain = PLAIN.exec(url)
  if (plain) return plain[1]!
  const { pathname, search } = new URL(url)
  return pathname + search
}

/** A URL whose path and query have only what a URL's parser leaves as it is. */
const PLAIN = /^https?:\/\/[\w.-]+(?::\d+)?(\/[\w/-]*(?:\?[\w=&-]*)?)$/
