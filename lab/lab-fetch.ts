import { defined, withClockHeld, hours, ClockIdleError, unlessAborted, type Clock } from '../base/runtime/index.js'
import {
  ConnectionFailed,
  streamToSend,
  type Dispatch,
  type NodeRecord,
  type WireResponse,
} from '../base/wire/index.js'
import { isAtRest } from './at-rest.js'
import type { LabEvents } from './lab-events.js'

interface FetchParts {
  dispatch: Dispatch
  clock: Clock
  events: LabEvents
  nodes: () => Iterable<Readonly<NodeRecord>>
  /** How a caller waits while an automatic clock jumps; undefined where time passes by itself, or by hand. */
  jump: (<T>(awaited: Promise<T>) => Promise<T>) | undefined
}

/** A caller that polls a node in longer steps than this learns nothing that it would not learn at the next poll. */
const MAX_CLOCK_STEP = hours(24)

/**
 * A `fetch` that reaches the lab's APIs below any base URL. An automatic clock stands still between requests, but a client polls
 * in wall time. So a read first advances the lab until a node that it shows changes its state, and a write that is refused because
 * the node is locked advances the lab after the answer. Requests run one at a time: the same requests in the same order give
 * the same lab.
 */
export function labFetch(parts: FetchParts): (base: string) => typeof fetch {
  const requests = new LabRequests(parts)
  return (base) => {
    const { origin, pathname } = new URL(base)
    const prefix = pathname.replace(/\/+$/, '')
    return async (input, init) => {
      const request = new Request(input, init)
      const url = new URL(request.url)
      if (url.origin !== origin || !`${url.pathname}/`.startsWith(`${prefix}/`))
        throw new TypeError('fetch failed', {
          cause: new Error(`${request.url} is not below ${base}, where this lab is`),
        })
      const target = (url.pathname.slice(prefix.length) || '/') + url.search
      const answer = await unlessAborted(
        requests.exchange(request, target, origin + prefix).catch((cause: unknown) => {
          throw cause instanceof ConnectionFailed ? new TypeError('fetch failed', { cause }) : cause
        }),
        request.signal,
      )
      return responseOf(answer, request, target.startsWith('/_lab') ? undefined : parts.jump)
    }
  }
}

/** Carries out the requests of all clients of a lab, one after another where its clock is automatic. */
class LabRequests {
  readonly #parts: FetchParts
  #before: Promise<unknown> = Promise.resolve()

  constructor(parts: FetchParts) {
    this.#parts = parts
  }

  async exchange(request: Request, target: string, base: string): Promise<WireResponse> {
    const { dispatch, clock, jump } = this.#parts
    const body = await withClockHeld(clock, 'reading a request', () => request.text())
    // The base says where the lab is. A `Host` of the client is for the server that the lab stands in for.
    const { host: _, ...headers } = Object.fromEntries(request.headers)
    const send = () =>
      dispatch({
        method: request.method,
        target,
        base,
        headers,
        ...defined({ body: body === '' ? undefined : body }),
      })
    if (!jump) return send()
    const carried = this.#before.then(() => this.#carryOut(request.method, target, send, jump))
    this.#before = carried.catch(() => {})
    return (await carried).answer
  }

  /** Returns an answer that may still be under way, such as one that a fault delays: others need not wait for it. */
  async #carryOut(
    method: string,
    target: string,
    send: () => Promise<WireResponse>,
    jump: NonNullable<FetchParts['jump']>,
  ): Promise<{ answer: Promise<WireResponse> }> {
    const path = target.replace(/\?.*$/s, '')
    const reads = method === 'GET' && RESOURCE.test(path)
    if (reads) await moveOn(path, this.#parts, jump)
    const answer = send()
    const settled = answer.then(
      ({ status }) => status,
      () => null,
    )
    const status = await jump(settled).catch(tolerateNothingLeft)
    if (!reads && (status === 409 || status === 503)) await moveOn(path, this.#parts, jump)
    return { answer }
  }
}

/** Documents of the root say what there is, not how it goes; the control API moves time itself. */
const RESOURCE = /^\/(?:v1\/+)?(?!v1\b|_lab\b)[^/]/

/** Lets the lab go on until a node that a path may show has another state, or is at rest. */
async function moveOn(
  path: string,
  { clock, events, nodes }: FetchParts,
  jump: NonNullable<FetchParts['jump']>,
): Promise<void> {
  const ident = decodeURIComponent(/^\/(?:v1\/+)?(?:nodes|heartbeat)\/+([^/]+)/.exec(path)?.[1] ?? '')
  const all = [...nodes()]
  const named = all.filter(({ uuid, name }) => uuid === ident || name === ident)
  // A path such as /v1/nodes/detail names no node.
  const busy = new Map((named.length > 0 ? named : all).filter(isBusy).map((node) => [node.uuid, node.provision_state]))
  if (busy.size === 0) return
  const over = new AbortController()
  const changed = new Promise<void>((resolve) => {
    const listening = events.listen((event) => {
      const uuid = event.kind === 'node' ? event.node.uuid : event.kind === 'node-gone' ? event.uuid : undefined
      const was = uuid === undefined ? undefined : busy.get(uuid)
      if (was === undefined || (event.kind === 'node' && event.node.provision_state === was && isBusy(event.node)))
        return
      resolve()
    })
    over.signal.addEventListener('abort', () => listening[Symbol.dispose](), { once: true })
  })
  const limit = clock.sleep(MAX_CLOCK_STEP, { weak: true, signal: over.signal }).catch(() => {})
  try {
    await jump(Promise.race([changed, limit])).catch(tolerateNothingLeft)
  } finally {
    over.abort()
  }
}

/** A node that is held waits for its client, so no time has to pass. */
const isBusy = (node: Readonly<NodeRecord>): boolean => !isAtRest(node) && !node.provision_state.endsWith(' hold')

function tolerateNothingLeft(error: unknown): undefined {
  if (!(error instanceof ClockIdleError)) throw error
}

function responseOf(answer: WireResponse, { method, signal }: Request, jump: FetchParts['jump']): Response {
  const { status, headers } = answer
  const open = method === 'HEAD' ? undefined : streamToSend(answer)
  const hasNoBody = method === 'HEAD' || [204, 205, 304].includes(status)
  if (!open) return new Response(hasNoBody ? null : (answer.body ?? null), { status, headers })
  const over = new AbortController()
  signal.addEventListener('abort', () => over.abort(), { once: true })
  const parts = open(over.signal)[Symbol.asyncIterator]()
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const next = parts.next()
      const { done, value } = await (jump?.(next) ?? next)
      if (done) controller.close()
      else controller.enqueue(Buffer.from(value))
    },
    cancel: () => over.abort(),
  })
  return new Response(body, { status, headers })
}
