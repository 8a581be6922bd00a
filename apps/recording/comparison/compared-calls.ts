import type { RecordingExchange, Party } from '../format/recording-exchange.js'

/** A request of one party to another with all of its repetitions: a poll until something is reached. */
export interface ComparedCall {
  readonly from: Party
  readonly to: Party
  /** In the order in which they were made; at least one. */
  readonly exchanges: readonly RecordingExchange[]
}

/** The last exchange of a call, whose answer is what counts. */
export const lastOf = ({ exchanges }: ComparedCall): RecordingExchange => exchanges.at(-1)!
export const firstOf = ({ exchanges }: ComparedCall): RecordingExchange => exchanges[0]!

/** A lock or an overload, after which clients ask again. */
export const isRefusedForNow = (status: number | null): boolean => status === 409 || status === 503

const asks = ({ method }: RecordingExchange): boolean => method === 'GET' || method === 'HEAD'
/** Heartbeats are repeated until Ironic acts on one, lookups until there is a node. */
const isRepeated = ({ target }: RecordingExchange): boolean => /^\/v1\/(heartbeat|lookup)\b/.test(target)

/**
 * The exchanges of one party with another as calls. GETs of the same target between two changes are one call, as are changes
 * that are repeated after a 409 or 503.
 */
export function callsOf(exchanges: readonly RecordingExchange[]): ComparedCall[] {
  const calls: RecordingExchange[][] = []
  let polls = new Map<string, RecordingExchange[]>()
  for (const exchange of exchanges) {
    if (isBoot(exchange) && [...polls.values()].some(([first]) => isHeartbeat(first!))) polls = new Map()
    if (asks(exchange) || isRepeated(exchange)) {
      const key = `${exchange.method} ${exchange.target} ${microversionOf(exchange)}`
      const poll = polls.get(key)
      if (poll) poll.push(exchange)
      else {
        const fresh = [exchange]
        polls.set(key, fresh)
        calls.push(fresh)
      }
      continue
    }
    const before = calls.at(-1)
    if (before && polls.size === 0 && isSameChange(before.at(-1)!, exchange)) before.push(exchange)
    else calls.push([exchange])
    polls = new Map()
  }
  return calls.map((all) => ({ from: all[0]!.from, to: all[0]!.to, exchanges: all }))
}

const isHeartbeat = ({ target }: RecordingExchange): boolean => target.startsWith('/v1/heartbeat/')
/** The first requests of an agent that has come up; what it asked before was another ramdisk's. */
const isBoot = ({ from, target }: RecordingExchange): boolean =>
  from === 'agent' && (target === '/' || target.startsWith('/v1/lookup'))

const microversionOf = ({ request }: RecordingExchange): string =>
  request.headers['x-openstack-ironic-api-version'] ?? ''

function isSameChange(before: RecordingExchange, exchange: RecordingExchange): boolean {
  return (
    isRefusedForNow(before.status) &&
    before.method === exchange.method &&
    before.target === exchange.target &&
    JSON.stringify(before.request.body) === JSON.stringify(exchange.request.body)
  )
}
