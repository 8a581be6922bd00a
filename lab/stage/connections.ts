import { AgentListener } from '../../agent/index.js'
import { bodyLimitsOf, ironicRefusal, type ServiceSettings } from '../../ironic-mock/index.js'
import { hostname } from 'node:os'
import { defined, systemRandom, type Clock, type Scope } from '../../base/runtime/index.js'
import {
  HttpTransport,
  InProcessTransport,
  serveHttp,
  type Dispatch,
  type HttpServer,
  type Transport,
} from '../../base/wire/index.js'
import { openOnSavedPort } from '../addresses/saved-port.js'
import { callerRefusal } from '../control/caller-refusal.js'
import { withHealth, type UnreadyReason } from '../control/health.js'
import { OutsideRequests } from '../snapshots/outside-requests.js'
import type { StateFolder } from '../state/state-folder.js'
import { inProcessAddresses, listenerAddresses, type AgentAddresses } from './agent-addresses.js'
import { openApiSwitch, type ApiSwitch } from './api-switch.js'
import type { IronicSettings } from './ironic-settings.js'
import { OwnExchanges } from './own-exchanges.js'
import { openAccess, type Access } from './stage-access.js'
import type { StageCore } from './stage-core.js'
import { stillClock } from './stage-keeper.js'
import type { StageNetwork, StageOptions } from './stage-options.js'

/** URL of an API without a socket. */
export const IN_PROCESS_URL = 'http://ironic.invalid:6385'

/** How the API and the agents of a stage are reached. */
interface Reach {
  /** URL of the API, without `/v1`. */
  readonly url: string
  /** Reaches {@link url}. */
  readonly transport: Transport
  /** Reaches the agents. */
  readonly toAgents: Transport
  readonly addresses: AgentAddresses
  /** The listener, or the place in the transport of this process. */
  readonly server: AsyncDisposable | Disposable
}

/** The network of a stage: what lets requests in and out. */
export interface Connections extends Reach {
  readonly access: Access
  /** The entry of the API, which exists before the API. */
  readonly apiSwitch: ApiSwitch
  readonly outsideRequests: OutsideRequests
  readonly ownExchanges: OwnExchanges
}

/**
 * Opens the sockets of a stage on an address, or connects its parts in this process.
 *
 * @param databaseTrouble asked once the API is open
 * @throws UserError when it cannot listen
 */
export async function openConnections(
  options: StageOptions,
  core: StageCore,
  settings: IronicSettings,
  databaseTrouble: UnreadyReason,
): Promise<Connections> {
  const { network = null, folder = null } = options
  const { clock, logger, scope } = core
  const host = network?.host ?? null
  const access = await openAccess({ service: settings.service, host, folder, clock, logger, scope })
  const apiSwitch = openApiSwitch()
  const outsideRequests = new OutsideRequests()
  const reach = network
    ? await openSockets(core, network, folder, settings, { access, apiSwitch, outsideRequests, databaseTrouble })
    : connectInProcess(scope, apiSwitch.dispatch)
  scope.onClose(() => apiSwitch.shut())
  return { ...reach, access, apiSwitch, outsideRequests, ownExchanges: new OwnExchanges() }
}

function connectInProcess(scope: Scope, dispatch: Dispatch): Reach {
  const transport = new InProcessTransport()
  return {
    url: IN_PROCESS_URL,
    transport,
    toAgents: transport,
    addresses: inProcessAddresses(transport),
    server: scope.use(transport.register(IN_PROCESS_URL, dispatch)),
  }
}

interface SocketParts extends Pick<Connections, 'access' | 'apiSwitch' | 'outsideRequests'> {
  readonly databaseTrouble: UnreadyReason
}

async function openSockets(
  core: StageCore,
  network: StageNetwork,
  folder: StateFolder | null,
  { service, agentTls }: IronicSettings,
  { access, apiSwitch, outsideRequests, databaseTrouble }: SocketParts,
): Promise<Reach> {
  const { clock, scope } = core
  const { dispatch } = apiSwitch
  const { tls } = access
  const overHttp = scope.use(new HttpTransport({ clock }))
  const transport = tls ? scope.use(new HttpTransport({ clock, tls: { ca: tls.certificate, pinned: true } })) : overHttp

  const listener = await listenForAgents(core, network, folder, outsideRequests)
  if (agentTls && !folder) await listener.prepareTls({ hostname: hostname(), random: systemRandom })
  // Probes are answered while the API still opens, and are no calls of a log.
  const answering = withHealth(
    outsideRequests.serving('api', dispatch),
    () => apiSwitch.closedReason ?? databaseTrouble(),
  )
  const server = await serveApi(core, network, folder, access, service, answering)

  const agentsByUrl = {
    [listener.url.replace(/^\w+/, 'http')]: listener.dispatch,
    [listener.url.replace(/^\w+/, 'https')]: listener.dispatch,
  }
  return {
    url: server.url,
    transport: withoutSocket(clock, transport, { [server.url]: dispatch }),
    toAgents: withoutSocket(clock, overHttp, agentsByUrl, (to) =>
      outsideRequests.inputs?.break(`Ironic called ${to}, which is not of the lab`),
    ),
    addresses: listenerAddresses(listener),
    server,
  }
}

async function listenForAgents(
  { clock, logger, scope }: StageCore,
  { host, allowedHosts }: StageNetwork,
  folder: StateFolder | null,
  outsideRequests: OutsideRequests,
): Promise<AgentListener> {
  const lost = 'the agents that are running are lost to Ironic; reboot their machines'
  const listener = await openOnSavedPort('agent-port', lost, { folder, logger }, (port) =>
    AgentListener.open({
      host,
      port,
      allowedHosts,
      clock,
      logger,
      enter: (dispatch) => outsideRequests.serving('agents', dispatch),
    }),
  )
  return scope.use(listener)
}

async function serveApi(
  { clock, randomness, logger, scope }: StageCore,
  { host, port: wanted, allowedHosts }: StageNetwork,
  folder: StateFolder | null,
  { guard, tls }: Access,
  service: ServiceSettings,
  dispatch: Dispatch,
): Promise<HttpServer> {
  // Bytes that are not HTTP get an answer with a request id too.
  const refuse = ironicRefusal(randomness.refusals)
  const lost = 'the machines that are running no longer find Ironic; reboot them'
  const server = await openOnSavedPort('api-port', lost, { folder, logger, wanted }, (port) =>
    serveHttp({
      host,
      port,
      clock,
      logger,
      refuse,
      bodyLimit: bodyLimitsOf(service),
      dispatch,
      allowedHosts,
      publicUrl: service.publicEndpoint,
      asksPassword: guard !== undefined,
      refuseCaller: callerRefusal(refuse),
      ...defined({ tls }),
    }),
  )
  return scope.use(server)
}

/**
 * While time stands still the parts of a lab reach each other without their sockets: the order in which packets arrive is
 * chance, and a lab must do the same each time.
 *
 * @param leaves called with the URL of a request to a server outside of the lab while time stands still
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
