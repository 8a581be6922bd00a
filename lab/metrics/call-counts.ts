import type { Histogram } from 'prom-client'
import { IRONIC_OPERATIONS } from '../../base/wire/index.js'
import { CONTROL_OPERATIONS, routeOf } from '../../control/index.js'

interface CountedCall {
  method: string
  target: string
  status: number
  seconds: number
}

/** Calls that wait at most to be counted. */
const MAX_WAITING_CALLS = 5000

const HTTP_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/**
 * The calls of an API by route. A call is only noted when it is answered, which costs a fraction of a microsecond, and
 * counted later, many at once.
 */
export class CallCounts {
  #waiting: CountedCall[] = []
  readonly #count: (calls: readonly CountedCall[]) => void

  /** @param count takes calls over, now or later */
  constructor(count: (calls: readonly CountedCall[]) => void) {
    this.#count = count
  }

  note(call: CountedCall): void {
    this.#waiting.push(call)
    if (this.#waiting.length >= MAX_WAITING_CALLS) this.flush()
  }

  flush(): void {
    const calls = this.#waiting
    this.#waiting = []
    if (calls.length > 0) this.#count(calls)
  }
}

export function observeCalls(calls: readonly CountedCall[], into: Histogram): void {
  // Clients and agents mostly call the same few paths again and again.
  const routes = new Map<string, string>()
  for (const { method, target, status, seconds } of calls) {
    const call = `${method} ${target}`
    let route = routes.get(call)
    if (route === undefined) routes.set(call, (route = templateOf(method, target)))
    into.observe({ method: HTTP_METHODS.has(method) ? method : 'other', route, status }, seconds)
  }
}

interface Template {
  method: string
  path: string
  parts: readonly string[]
}

const countPlaceholders = ({ parts }: Template): number => parts.filter((part) => part.startsWith('{')).length

/** Routes by the number of their parts; routes with fewer parameters first. */
const TEMPLATES = new Map<number, Template[]>()
for (const { method, paths } of [
  ...IRONIC_OPERATIONS.map((operation) => ({
    method: operation.method,
    paths: [operation.path, ...('also' in operation ? operation.also : [])],
  })),
  ...CONTROL_OPERATIONS.map(({ method, path }) => ({ method, paths: [`/_lab${path}`] })),
])
  for (const path of paths) {
    const { parts } = routeOf(path)
    TEMPLATES.set(parts.length, [...(TEMPLATES.get(parts.length) ?? []), { method, path, parts }])
  }
for (const templates of TEMPLATES.values()) templates.sort((a, b) => countPlaceholders(a) - countPlaceholders(b))

/** `/v1/nodes/{node_ident}`; `none` for a path of no call, so that a client cannot make labels without end. */
export function templateOf(method: string, target: string): string {
  const { parts } = routeOf(target.replace(/\?.*$/s, ''))
  // BareMetal Operator in CR mode sends /nodes for /v1/nodes.
  const whole = parts.length > 0 && parts[0] !== 'v1' && parts[0] !== '_lab' ? ['v1', ...parts] : parts
  const found = (TEMPLATES.get(whole.length) ?? []).filter((template) =>
    template.parts.every((part, index) => part.startsWith('{') || part === whole[index]),
  )
  return (found.find((template) => template.method === method) ?? found[0])?.path ?? 'none'
}
