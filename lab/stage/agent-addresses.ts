import type { AgentListener, AgentTlsServer } from '../../agent/index.js'
import type { Machine, Machines } from '../../machine/index.js'
import { Probe, type Point, type ProbePoint, type Random } from '../../base/runtime/index.js'
import {
  ConnectionFailed,
  probeTransport,
  type Dispatch,
  type InProcessTransport,
  type Transport,
} from '../../base/wire/index.js'

/** URLs of agents, and their listeners. */
export interface AgentAddresses {
  urlOf(machine: string): string
  mount(machine: string, dispatch: Dispatch): Disposable
  /** TLS of the agents' listener, if it supports TLS. */
  tls?(random: Random): AgentTlsServer
}

export const listenerAddresses = (listener: AgentListener): AgentAddresses => ({
  urlOf: (machine) => listener.urlOf(machine),
  mount: (machine, dispatch) => listener.mount(machine, dispatch),
  tls: (random) => listener.tls({ random }),
})

/** Agents without sockets: each has an authority of its own in the transport. */
export function inProcessAddresses(transport: InProcessTransport): AgentAddresses {
  const urlOf = (machine: string) => `http://agents.invalid/${encodeURIComponent(machine)}`
  return { urlOf, mount: (machine, dispatch) => transport.register(urlOf(machine), dispatch) }
}

const withoutScheme = (url: string): string => url.replace(/^\w+:/, '')

/** The machine, and the path as its agent sees it, of a URL of an agent. */
function findAgentPlace(addresses: AgentAddresses, url: string): { machine: string; target: string } | undefined {
  // With and without TLS.
  const base = withoutScheme(addresses.urlOf(''))
  const there = withoutScheme(url)
  const [, machine, target] = (there.startsWith(base) && /^([^/]*)(.*)$/.exec(there.slice(base.length))) || []
  return machine === undefined ? undefined : { machine: decodeURIComponent(machine), target: target! }
}

const unplugged = (machine: string) => new ConnectionFailed(`${machine} has no network: no cable is plugged in`)

/** Carries Ironic's requests to agents, which pass the probe, and fail for a machine without a cable. */
export function toAgentsOf(
  machines: Pick<Machines, 'get'>,
  { transport, addresses, probe }: { transport: Transport; addresses: AgentAddresses; probe: Probe },
): Transport {
  const cabled: Transport = {
    send: async (request) => {
      const machine = machines.get(findAgentPlace(addresses, request.url)?.machine ?? '')
      if (machine && !hasCable(machine)) throw unplugged(machine.spec.id)
      return transport.send(request)
    },
  }
  return probeTransport(cabled, machineOfAgents(probe, addresses), { from: 'ironic', to: 'agent' })
}

/** Carries the requests of the agent on a machine, which fail without a cable. */
export const cabledFrom = (machine: Machine, transport: Transport): Transport => ({
  send: async (request) => {
    if (!hasCable(machine)) throw unplugged(machine.spec.id)
    return transport.send(request)
  },
})

const hasCable = ({ spec }: Pick<Machine, 'spec'>): boolean => spec.nics.some(({ carrier }) => carrier)

/** Adds the machine, and the path as the agent sees it, to the conductor's requests to agents, for faults to match. */
function machineOfAgents(probe: Probe, addresses: AgentAddresses): Probe {
  const extend = (point: ProbePoint): Point => {
    const place = findAgentPlace(addresses, point['url'] as string)
    return place ? { ...point, ...place } : point
  }
  return new Probe({ outer: probe, extend })
}
