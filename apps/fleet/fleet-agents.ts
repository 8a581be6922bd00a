import { AgentListener, FLEET_PACE } from '../../agent/index.js'
import { defined, Probe, withFields } from '../../base/runtime/index.js'
import { probedDispatch } from '../../base/wire/index.js'
import { Agents, openOnSavedPort, type MachineControl } from '../../lab/index.js'
import { AgentTransports, type OwnIronic } from './agent-transports.js'
import { agentParameters } from './boot-agent.js'
import type { FleetCore } from './fleet-core.js'
import type { FleetOptions } from './fleet-options.js'

/** Opens the port of all agents. */
export async function listenForAgents(
  { agents = {}, allowedHosts }: FleetOptions,
  { clock, logger, folder, host, reached, scope }: FleetCore,
): Promise<AgentListener> {
  const lost = 'the agents that are running are lost to Ironic; reboot their machines'
  const listener = await openOnSavedPort('agent-port', lost, { folder, logger, wanted: agents.port ?? 0 }, (port) =>
    AgentListener.open({
      host: agents.host ?? host,
      port,
      allowedHosts,
      advertise: { host: reached },
      clock,
      logger,
    }),
  )
  return scope.use(listener)
}

/** Makes the agents, which start once machines boot their ramdisks. */
export function fleetAgents(
  options: FleetOptions,
  { clock, logger, probe, scope }: FleetCore,
  listener: AgentListener,
  control: MachineControl,
): Agents {
  const transports = scope.use(new AgentTransports(clock, ownIronic(options)))
  const probeOf = (machine: string) => new Probe({ outer: probe, extend: (point) => ({ ...point, machine }) })
  return new Agents({
    addresses: {
      urlOf: (machine) => listener.urlOf(machine),
      tls: (random) => listener.tls({ random }),
      mount: (machine, dispatch) =>
        listener.mount(machine, probedDispatch(dispatch, probeOf(machine), { from: 'ironic', to: 'agent' })),
    },
    transport: (_machine, boot) => transports.of(boot),
    clock,
    random: options.random,
    probe,
    pace: options.agentPace ?? FLEET_PACE,
    tls: true,
    ...defined({ managers: options.managers }),
    logger: withFields(logger, { room: 'agent' }),
    onProgress: () => {},
    onGaveUp: (machine, what) =>
      control.journal.add({ kind: 'lab', node: null, name: null, machine, fault: null, what: `the agent: ${what}` }),
    onRefused: (id, error) =>
      logger('warn', `the agent of ${id} does not start: ${error instanceof Error ? error.message : String(error)}`),
  })
}

/** The Ironic of agents that the fleet itself boots. */
function ownIronic({ ironicUrl, ironicTls }: FleetOptions): OwnIronic | undefined {
  if (ironicUrl === undefined || ironicTls === undefined) return undefined
  return { url: agentParameters(ironicUrl)['ipa-api-url']!, tls: ironicTls }
}
