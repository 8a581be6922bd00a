import { AgentListener } from '../../agent/index.js'
import { bodyLimitsOf, ironicRefusal, type ServiceSettings } from '../../ironic-mock/index.js'
import type { Clock, Logger, Random, Scope } from '../../runtime/index.js'
import { HttpTransport, InProcessTransport, serveHttp, type Dispatch, type Transport } from '../../wire/index.js'
import { openOnSavedPort } from '../addresses/saved-port.js'
import type { StateFolder } from '../state/state-folder.js'
import type { Access } from './access.js'
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

interface ConnectionParts {
  /** Answers the API's requests. */
  dispatch: Dispatch
  access: Access
  service: ServiceSettings
  folder: StateFolder | null
  clock: Clock
  /** For request ids of answers to what is no HTTP. */
  random: Random
  logger: Logger
  scope: Scope
}

/**
 * Opens the sockets of a stage on an address, or connects its parts in this process.
 *
 * @throws UserError when it cannot listen
 */
export async function connections(
  network: { host: string; port: number } | null,
  { dispatch, access, service, folder, clock, random, logger, scope }: ConnectionParts,
): Promise<Connections> {
  if (!network) {
    const inProcess = new InProcessTransport()
    const server = scope.use(inProcess.register(IN_PROCESS_URL, dispatch))
    const addresses = inProcessAddresses(inProcess)
    return { url: IN_PROCESS_URL, transport: inProcess, toAgents: inProcess, addresses, server }
  }
  const { host, port: wanted } = network
  const { tls } = access
  const toAgents = scope.use(new HttpTransport({ clock }))
  const transport = tls ? scope.use(new HttpTransport({ clock, tls: { ca: tls.certificate, pinned: true } })) : toAgents

  const openForAgents = (port: number) => AgentListener.open({ host, port, clock, logger })
  const agentsLost = 'the agents that are running are lost to Ironic'
  const listener = scope.use(await openOnSavedPort('agent-port', agentsLost, { folder, logger }, openForAgents))

  const refuse = ironicRefusal(random)
  const bodyLimit = bodyLimitsOf(service)
  const open = (port: number) =>
    serveHttp({ ...{ host, port, dispatch, clock, logger, refuse, bodyLimit }, ...(tls ? { tls } : {}) })
  const lost = 'the machines that are running no longer find Ironic'
  const server = scope.use(
    await (wanted > 0 ? open(wanted) : openOnSavedPort('api-port', lost, { folder, logger }, open)),
  )
  return { url: server.url, transport, toAgents, addresses: listenerAddresses(listener), server }
}
