import { isObject } from '../../../base/runtime/index.js'
import { exchangeNodeOf } from '../comparison/diff-recordings.js'
import type { RecordingExchange } from '../format/recording-exchange.js'

/** Exchanges of one agent with Ironic, in their order. */
export interface AgentScript {
  /** UUID of the node in the recording; the addresses of an agent that was never looked up. */
  readonly name: string
  readonly exchanges: readonly RecordingExchange[]
}

/** MAC addresses that an agent gives: to find its node, or with its inventory. */
function addressesOf({ target, request }: RecordingExchange): string | undefined {
  if (target.startsWith('/v1/lookup')) {
    const query = new URLSearchParams(target.replace(/^[^?]*\??/, ''))
    return sorted((query.get('addresses') ?? '').split(','))
  }
  const { body } = request
  const inventory = isObject(body) && isObject(body['inventory']) ? body['inventory']['interfaces'] : undefined
  if (!Array.isArray(inventory)) return undefined
  return sorted(inventory.flatMap((one: unknown) => (isObject(one) ? String(one['mac_address']) : [])))
}

const sorted = (addresses: readonly string[]): string =>
  [...new Set(addresses.map((address) => address.trim().toLowerCase()))].sort().join(',')

/** The exchanges of a recording's agents, an agent each. */
export function agentScripts(exchanges: readonly RecordingExchange[]): AgentScript[] {
  const concerned = exchanges.filter(({ from, to }) => from === 'agent' || to === 'agent')
  const nodes = new Map<string, string>()
  for (const exchange of concerned) {
    const addresses = addressesOf(exchange)
    const node = exchangeNodeOf(exchange)
    if (addresses !== undefined && node !== '') nodes.set(addresses, node)
  }
  const scripts = new Map<string, RecordingExchange[]>()
  // The root document is asked for just before a look-up, by an agent that has not identified itself yet.
  let roots: RecordingExchange[] = []
  for (const exchange of concerned) {
    const addresses = addressesOf(exchange)
    const name = exchangeNodeOf(exchange) || (addresses === undefined ? undefined : (nodes.get(addresses) ?? addresses))
    if (name === undefined) {
      roots.push(exchange)
      continue
    }
    const script = scripts.get(name) ?? []
    scripts.set(name, script)
    if (exchange.from === 'agent') {
      script.push(...roots)
      roots = []
    }
    script.push(exchange)
  }
  return [...scripts].map(([name, all]) => ({ name, exchanges: all.sort((one, other) => one.seq - other.seq) }))
}
