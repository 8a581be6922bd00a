import type { AgentListener, AgentTls } from '../../agent/index.js'
import { Probe, type ProbePoint, type Random } from '../../runtime/index.js'
import type { Dispatch, InProcessTransport } from '../../wire/index.js'

/** URLs of agents, and their listeners. */
export interface AgentAddresses {
  urlOf(machine: string): string
  mount(machine: string, dispatch: Dispatch): Disposable
  /** TLS of the agents' listener, if it supports TLS. */
  tls?(random: Random): AgentTls
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

/** Adds the machine, and the path as the agent sees it, to the conductor's requests to agents, for faults to match. */
export function machineOfAgents(probe: Probe, addresses: AgentAddresses): Probe {
  const base = addresses.urlOf('').replace(/^\w+:/, '')
  const extend = (point: ProbePoint): ProbePoint => {
    // With and without TLS.
    const url = (point['url'] as string).replace(/^\w+:/, '')
    const [, machine, target] = (url.startsWith(base) && /^([^/]*)(.*)$/.exec(url.slice(base.length))) || []
    return machine === undefined ? point : { ...point, machine: decodeURIComponent(machine), target }
  }
  return new Probe({ outer: probe, extend })
}
