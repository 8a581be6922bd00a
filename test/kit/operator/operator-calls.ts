import { defined } from '../../../base/runtime/index.js'
/** A call of BareMetal Operator, without what differs from run to run. */
export interface OperatorCall {
  method: string
  path: string
  body?: unknown
}

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/**
 * The calls of an operator in a form that can be compared: ids are `ID`, the operations of a patch and the members of a
 * body are sorted. Looks are folded: between two calls that change something each GET counts once, in any order, since an
 * operator looks as often as its waits are long. Discovery is left out, which is cached for five seconds. A round of calls that is
 * repeated directly counts once: hardware is set up again until the settings have been read, which has its own pace.
 */
export function operatorCalls(made: readonly OperatorCall[]): OperatorCall[] {
  const calls: OperatorCall[] = []
  let looks = new Map<string, OperatorCall>()
  const flush = (): void => {
    calls.push(...[...looks].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, call]) => call))
    looks = new Map()
  }
  for (const { method, path, body } of made) {
    if (path === '/' || path === '/drivers') continue
    const call = {
      method,
      path: path.replaceAll(ID, 'ID'),
      ...defined({
        body: body === undefined ? undefined : sorted(JSON.parse(JSON.stringify(body).replaceAll(ID, 'ID'))),
      }),
    }
    if (method === 'GET') looks.set(call.path, call)
    else {
      flush()
      calls.push(call)
    }
  }
  flush()
  return unrepeated(calls)
}

/** The most calls of a round that is repeated. */
const MAX_ROUND_CALLS = 12

/** Rounds that are repeated directly, once each. */
function unrepeated(calls: readonly OperatorCall[]): OperatorCall[] {
  const texts = calls.map((call) => JSON.stringify(call))
  const once: number[] = []
  for (const [index] of calls.entries()) {
    once.push(index)
    for (let length = 1; length <= MAX_ROUND_CALLS && 2 * length <= once.length; length++) {
      const round = (from: number): string =>
        once
          .slice(from, from + length)
          .map((each) => texts[each])
          .join()
      if (round(once.length - length) !== round(once.length - 2 * length)) continue
      once.splice(once.length - length)
      break
    }
  }
  return once.map((index) => calls[index]!)
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map(sorted).sort((a, b) => (isOperation(a) && isOperation(b) ? (a.path < b.path ? -1 : 1) : 0))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  )
}

const isOperation = (value: unknown): value is { path: string } =>
  typeof value === 'object' && value !== null && 'op' in value && 'path' in value
