import { defined } from '../../base/runtime/index.js'
import type { Dispatch, WireResponse } from '../../base/wire/index.js'
import type { RecordedExchange, Recording, Shape } from './recording.js'

export const BASE = 'http://ironic.test:6385'

/** How an answer of ours differs on purpose from the recorded one; every entry is a row of docs/fidelity/. */
export interface Difference {
  why: string
  status?: number
  /** The whole sentence, or a beginning that ends in `...`. */
  error?: string
  /** Only the type of these keys differs, by null. */
  keys?: readonly string[]
  /** Beginning of the path that `next` leads to. */
  next?: string
  /** Members that the answer has as they were sent. */
  asSent?: readonly string[]
  /** Members that are recorded and that the answer lacks, and those that it has besides. */
  members?: { readonly lacks: readonly string[]; readonly has: readonly string[] }
}

export interface ReplayOptions {
  /** By sequence number. */
  onPurpose?: Readonly<Record<number, Difference>>
  /** Exchanges that cannot be replayed because of what came before them. */
  needsLater?: Readonly<Record<number, string>>
  /** Keys that may be null in one answer and not in the other: they depend on the moment. */
  momentary?: readonly string[]
  /** Waits until the node that a path names has come to rest. */
  settle: (exchange: RecordedExchange, path: string) => Promise<void>
  /** Exchanges whose recorded provision state was one of rest, and must be ours. */
  atRest?: (exchange: RecordedExchange) => boolean
  /** Ids of things that existed before the recording began: recorded to ours. */
  ids?: Map<string, string>
}

export interface ReplayResult {
  replayed: number
  /** One sentence each; empty when all is as recorded. */
  differences: string[]
}

/** Sends what a client sent to a real Ironic to ours, and compares what comes back. */
export async function replay(dispatch: Dispatch, recording: Recording, options: ReplayOptions): Promise<ReplayResult> {
  const ids = options.ids ?? new Map<string, string>()
  const result: ReplayResult = { replayed: 0, differences: [] }
  for (const exchange of recording.exchanges) {
    if (options.needsLater?.[exchange.seq] === undefined) {
      result.replayed++
      const ours = translate(exchange, ids)
      await options.settle(exchange, ours.path)
      const response = await dispatch({
        method: exchange.method,
        target: ours.path,
        headers: requestHeaders(exchange),
        ...defined({ body: ours.body }),
        base: BASE,
      })
      learn(exchange, response, ids)
      const why = options.onPurpose?.[exchange.seq]?.why
      const meant = why === undefined ? '' : ` (on purpose: ${why})`
      for (const found of compare(exchange, recording.shapes, response, ids, options))
        result.differences.push(`#${exchange.seq} ${exchange.method} ${exchange.path}: ${found}${meant}`)
    }
  }
  return result
}

function requestHeaders({ version, standardVersion }: RecordedExchange): Record<string, string> {
  return defined({ 'x-openstack-ironic-api-version': version, 'openstack-api-version': standardVersion })
}

function translate({ path, body }: RecordedExchange, ids: Map<string, string>): { path: string; body?: string } {
  const text = body === undefined ? undefined : notJson(body) ? body : JSON.stringify(body)
  return { path: translated(path, ids), ...defined({ body: text === undefined ? undefined : translated(text, ids) }) }
}

/** A body that was not JSON is kept as its text; JSON text of a string is not told apart from it, and was never sent. */
const notJson = (body: unknown): body is string => typeof body === 'string' && body.startsWith('{')

function translated(text: string, ids: Map<string, string>): string {
  let out = text
  for (const [recorded, ours] of ids) out = out.replaceAll(recorded, ours)
  return out
}

/** Maps the uuids of the recording to those of the objects that are created here. */
function learn({ method, uuid }: RecordedExchange, { body }: WireResponse, ids: Map<string, string>): void {
  if (method !== 'POST' || uuid === undefined || body === undefined) return
  const ours = (JSON.parse(body) as { uuid?: string }).uuid
  if (ours !== undefined) ids.set(uuid, ours)
}

function compare(
  exchange: RecordedExchange,
  shapes: readonly Shape[],
  response: WireResponse,
  ids: Map<string, string>,
  { onPurpose, momentary = [], atRest }: ReplayOptions,
): string[] {
  const found: string[] = []
  const expectSame = (what: string, recorded: unknown, ours: unknown) => {
    if (recorded !== ours) found.push(`${what} is ${JSON.stringify(ours)}, recorded ${JSON.stringify(recorded)}`)
  }
  const body: unknown = response.body === undefined ? undefined : JSON.parse(response.body)
  const changed = onPurpose?.[exchange.seq]
  if (changed && !changed.keys) {
    const { why, status = exchange.status, ...others } = changed
    const hasDifference = status !== exchange.status || Object.keys(others).length > 0 || why.startsWith('follows from')
    if (!hasDifference) found.push('what differs on purpose is not said')
    expectSame('status', changed.status ?? exchange.status, response.status)
    if (changed.error !== undefined) {
      const ours = String(sentence(body) ?? '')
      if (changed.error.endsWith('...') ? !ours.startsWith(changed.error.slice(0, -3)) : ours !== changed.error)
        found.push(`sentence is ${JSON.stringify(ours)}, meant ${JSON.stringify(changed.error)}`)
    }
    const answered = (body ?? {}) as Record<string, unknown>
    if (changed.next !== undefined && !String(answered['next']).startsWith(BASE + changed.next))
      found.push(`next is ${JSON.stringify(answered['next'])}, meant ${changed.next}`)
    if (changed.members) {
      const { lacks, has } = changed.members
      const recorded = Object.keys(shapes[exchange.shape!]!).filter((member) => !lacks.includes(member))
      expectSame('members', [...recorded, ...has].sort().join(), Object.keys(answered).sort().join())
    }
    for (const member of changed.asSent ?? []) {
      const sent = (exchange.body as Record<string, unknown>)[member]
      expectSame(member, JSON.stringify(sent), JSON.stringify(answered[member]))
    }
    return found
  }
  expectSame('status', exchange.status, response.status)
  expectSame('version', exchange.answeredVersion, response.headers['x-openstack-ironic-api-version'])
  expectSame('allow', exchange.allow, response.headers.allow)
  expectSame('location', exchange.location && BASE + translated(exchange.location, ids), response.headers.location)
  if (exchange.error) {
    const recorded = 'fault' in exchange.error ? exchange.error.fault : exchange.error.routed
    expectSame('sentence', translated(recorded, ids), sentence(body))
    expectSame('kind of error', 'fault' in exchange.error ? 'fault' : 'routed', kind(body))
  } else if (exchange.shape !== undefined && body !== undefined) {
    const next = (body as { next?: string }).next
    expectSame('next', exchange.next && BASE + translated(exchange.next, ids), next)
    const differing: string[] = []
    differ(shapes[exchange.shape]!, body, '', [...momentary, ...(changed?.keys ?? [])], differing)
    // The first few say it; a wrong order repeats itself in every list.
    found.push(...differing.slice(0, 5))
    if (atRest?.(exchange))
      expectSame('state', exchange.provision_state, (body as { provision_state?: string }).provision_state)
  } else expectSame('body', exchange.shape !== undefined, body !== undefined)
  return found
}

const inner = (body: unknown): Record<string, unknown> =>
  JSON.parse((body as { error_message?: string } | undefined)?.error_message ?? '{}') as Record<string, unknown>
const sentence = (body: unknown): unknown => inner(body).faultstring ?? inner(body).description
const kind = (body: unknown): string => ('faultstring' in inner(body) ? 'fault' : 'routed')

/** Walks a shape and a value together and tells where they part. */
function differ(shape: Shape, value: unknown, at: string, momentary: readonly string[], found: string[]): void {
  if (typeof shape === 'string') {
    const type = typeOf(value)
    if (shape === type || (shape === 'object' && type === 'object')) return
    const key = at.slice(at.lastIndexOf('.') + 1)
    if ((shape === 'null' || type === 'null') && momentary.includes(key)) return
    found.push(`${at} is ${type}, recorded ${shape}`)
  } else if (Array.isArray(shape)) {
    if (!Array.isArray(value)) found.push(`${at} is no list`)
    else if ((shape.length === 0) !== (value.length === 0)) found.push(`${at} has ${value.length} items`)
    else if (shape.length > 0) differ(shape[0]!, value[0], `${at}[0]`, momentary, found)
  } else {
    if (typeOf(value) !== 'object') return void found.push(`${at} is not an object`)
    const ours = Object.keys(value as object).join()
    const recorded = Object.keys(shape).join()
    if (ours !== recorded) return void found.push(`${at} has ${ours}, recorded ${recorded}`)
    for (const [key, member] of Object.entries(shape))
      differ(member, (value as Record<string, unknown>)[key], `${at}.${key}`, momentary, found)
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((each: { href?: string; rel?: string }) => each?.href && each.rel)
  )
    return `${value.length} links`
  return Array.isArray(value) ? 'list' : typeof value
}
