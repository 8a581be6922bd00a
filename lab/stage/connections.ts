import { AgentListener } from '../../agent/index.js'
import { bodyLimitsOf, ironicRefusal, type ServiceSettings } from '../../ironic-mock/index.js'
import { hostname } from 'node:os'
import { defined, systemRandom, type Clock, type Logger, type Random, type Scope } from '../../base/runtime/index.js'
import { HttpTransport, InProcessTransport, serveHttp, type Dispatch, type Transport } from '../../base/wire/index.js'
import { openOnSavedPort } from '../addresses/saved-port.js'
import type { StateFolder } from '../state/state-folder.js'
import type { Access } from './stage-access.js'
import { stillClock } from './stage-keeper.js'
import { callerRefusal } from '../control/caller-refusal.js'
import type { StageNetwork } from './stage-options.js'
import { inProcessAddresses, listenerAddresses, type AgentAddresses } from './agent-addresses.js'

/** URL of an API without a socket. */
export const IN_PROCESS_URL = 'http://ironic.invalid:6385'

/** How the API and the agents of a stage are reached. */
export interface Connections {
  /** URL of the API, without `/v1`. */
  url: string
  /** Reaches {@link url}. */
  transport: Transport
  /** Reaches the agents. */
  toAgents: Transport
  addresses: AgentAddresses
  /** The listener, or the place in the transport of this process. */
  server: AsyncDisposable | Disposable
}

interface StageConnectionParts {
  /** Answers the API's requests. */
  dispatch: Dispatch
  /** Takes requests of other programs, which came by a socket, to the API or to an agent. */
  enter: (door: 'api' | 'agents', dispatch: Dispatch) => Dispatch
  /** Called when Ironic asks something that is not of the lab while time stands still. */
  leaves: (url: string) => void
  /** Whether agents make certificates. */
  agentTls: boolean
  access: Access
  service: ServiceSettings
  folder: StateFolder | null
  clock: Clock
  /** Randomness for request ids of answers to bytes that are not HTTP. */
  random: Random
  logger: Logger
  scope: Scope
}

/**
 * Opens the sockets of a stage on an address, or connects its parts in this process.
 *
 * @throws UserError when it cannot listen
 */
export async function openConnections(
  network: StageNetwork | null,
  { dispatch, enter, leaves, agentTls, access, service, folder, clock, random, logger, scope }: StageConnectionParts,
): Promise<Connections> {
  if (!network) {
    const inProcess = new InProcessTransport()
    const server = scope.use(inProcess.register(IN_PROCESS_URL, dispatch))
    const addresses = inProcessAddresses(inProcess)
    return { url: IN_PROCESS_URL, transport: inProcess, toAgents: inProcess, addresses, server }
  }
  const { host, port: wanted, allowedHosts } = network
  const { tls } = access
  const overHttp = scope.use(new HttpTransport({ clock }))
  const transport = tls ? scope.use(new HttpTransport({ clock, tls: { ca: tls.certificate, pinned: true } })) : overHttp

  const openForAgents = (port: number) =>
    AgentListener.open({
      host,
      port,
      allowedHosts,
      clock,
      logger,
      enter: (dispatch) => enter('agents', dispatch),
    })
  const agentsLost = 'the agents that are running are lost to Ironic; reboot their machines'
  const listener = scope.use(await openOnSavedPort('agent-port', agentsLost, { folder, logger }, openForAgents))

  if (agentTls && !folder) await listener.prepareTls({ hostname: hostname(), random: systemRandom })

  const refuse = ironicRefusal(random)
  const bodyLimit = bodyLimitsOf(service)
  const entering = enter('api', dispatch)
  const open = (port: number) =>
    serveHttp({
      host,
      port,
      clock,
      logger,
      refuse,
      bodyLimit,
      dispatch: entering,
      allowedHosts,
      publicUrl: service.publicEndpoint,
      asksPassword: access.guard !== undefined,
      refuseCaller: callerRefusal(refuse),
      ...defined({ tls }),
    })
  const lost = 'the machines that are running no longer find Ironic; reboot them'
  const server = scope.use(
    await (wanted > 0 ? open(wanted) : openOnSavedPort('api-port', lost, { folder, logger }, open)),
  )
  const agents = [listener.url.replace(/^\w+/, 'http'), listener.url.replace(/^\w+/, 'https')]
  return {
    url: server.url,
    transport: withoutSocket(clock, transport, { [server.url]: dispatch }),
    toAgents: withoutSocket(clock, overHttp, Object.fromEntries(agents.map((url) => [url, listener.dispatch])), leaves),
    addresses: listenerAddresses(listener),
    server,
  }
}

/**
 * While time stands still the parts of a lab reach each other without their sockets: the order in which packets arrive is
 * chance, and what a lab does is to be the same each time.
 */
function withoutSocket(
  clock: Clock,
  overHttp: Transport,
  own: Readonly<Record<string, Dispatch>>,
  leaves: (url: string) => void = () => {},
): Transport {
  const still = new InProcessTransport({
    send: (request) => {
      leaves(request.url)
      return overHttp.send(request)
    },
  })
  for (const [url, dispatch] of Object.entries(own)) still.register(url, dispatch)
  return { send: (request) => (stillClock(clock) ? still : overHttp).send(request) }
}
