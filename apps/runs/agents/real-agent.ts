import {
  clientTls,
  IPA_PACE,
  readAgentSettings,
  startAgent,
  type AgentPace,
  type AgentCommandProgress,
  type AgentSearch,
  type AgentSettings,
} from '../../../agent/index.js'
import type { ConfigFile } from '../../../base/runtime/index.js'
import {
  defined,
  openInScope,
  Probe,
  withFields,
  withoutRepeats,
  type Clock,
  type Logger,
  type Random,
  type Scope,
} from '../../../base/runtime/index.js'
import { standardManagers, type HardwareManager } from '../../../steps/index.js'
import { HttpTransport, probeTransport, probedDispatch } from '../../../base/wire/index.js'
import { namedFile, openAgentListener } from './agent-address.js'
import { agentStateOnTarget, listenOnSavedPort } from './agent-state.js'
import type { RealTarget } from '../targets/real-target.js'

export interface RealAgentOptions {
  on: RealTarget
  /** Number of this start within the same boot. */
  start?: number
  /** The agent's Ironic, or the token of a standalone agent's client. */
  serves: { ironicUrl?: string; nodeUuid?: string } | { token: string }
  parameters?: Readonly<Record<string, string>>
  configFiles?: readonly ConfigFile[]
  listen?: { host: string; port: number }
  /** Names by which clients may call besides those of this host. */
  allowedHosts?: readonly string[] | undefined
  /**
   * Continue as the agent of an earlier process in this boot, with its commands, token, address and certificate. Their
   * state is saved on the target, in memory. Otherwise the state ends with this process.
   */
  resume?: boolean
  managers?: readonly HardwareManager[]
  pace?: AgentPace
  clock: Clock
  random: Random
  logger: Logger
  onProgress?: (progress: AgentCommandProgress) => void
  /** Called after each attempt at finding Ironic, or the node there, that did not succeed. */
  onSearch?: (search: AgentSearch) => void
}

/** A running agent on a real machine. */
export interface RealAgent extends AsyncDisposable {
  readonly callbackUrl: string
  /** URL of the agent's Ironic; undefined for a standalone agent. */
  readonly ironicUrl: string | undefined
}

/**
 * Starts an agent on a real target.
 *
 * @throws UserError when it cannot listen, or parameters or files cannot be used
 */
export async function openRealAgent(options: RealAgentOptions): Promise<RealAgent> {
  return openInScope((scope) => composeRealAgent(options, scope))
}

async function composeRealAgent(options: RealAgentOptions, scope: Scope): Promise<RealAgent> {
  const { on, start = 0, serves, clock, random, onProgress = () => {} } = options
  const logger = withoutRepeats(options.logger, clock)
  const standalone = 'token' in serves ? serves : undefined
  const named = 'token' in serves ? undefined : serves
  const parameters = { ...options.parameters, ...defined({ 'ipa-api-url': named?.ironicUrl }) }
  const configFiles = options.configFiles ?? []
  const settings = readAgentSettings(parameters, { files: configFiles, standalone })
  const tls = await clientTls(settings, (path) => namedFile(path, clock))
  const transport = scope.use(new HttpTransport({ clock, tls, timeoutMs: settings.requestTimeout }))
  const saved = options.resume
    ? await agentStateOnTarget(on.target, agentIdentity(options, settings.apiUrls[0]), logger)
    : null
  const listener = scope.use(await listenForIronic(options, settings, saved, logger))
  const probe = new Probe()
  const callbackUrl = listener.urlOf(null)
  const agent = startAgent({
    target: on.target,
    managers: options.managers ?? standardManagers,
    boot: { id: `${await on.target.boot()}.${start}`, parameters },
    environment: {},
    callbackUrl,
    transport: probeTransport(transport, probe, { from: 'agent', to: 'ironic' }),
    saved: saved ?? stateInMemory(),
    configFiles,
    clock,
    random,
    probe,
    onProgress,
    pace: options.pace ?? IPA_PACE,
    logger: withFields(logger, { room: 'agent' }),
    tls: listener.tls({ random, settings: settings.server }),
    ...defined({ standalone, nodeUuid: named?.nodeUuid, onSearch: options.onSearch }),
  })
  scope.use(listener.mount(null, probedDispatch(agent.dispatch, probe, { from: 'ironic', to: 'agent' })))
  scope.onClose(() => agent.stop())
  return {
    callbackUrl,
    ironicUrl: settings.apiUrls[0],
    [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
  }
}

type SavedAgentState = Parameters<typeof startAgent>[0]['saved']

/** State that ends with this process. */
function stateInMemory(): SavedAgentState {
  let state: unknown
  return { read: () => state, write: (value) => Promise.resolve(void (state = value)) }
}

/** Listens where the options or the settings say; an agent that goes on, on the port of the process before. */
function listenForIronic(
  { listen: wanted, allowedHosts, clock }: RealAgentOptions,
  settings: AgentSettings,
  saved: Awaited<ReturnType<typeof agentStateOnTarget>> | null,
  logger: Logger,
): ReturnType<typeof openAgentListener> {
  const open = (listen: RealAgentOptions['listen']) =>
    openAgentListener(settings, { listen, allowedHosts, clock, logger })
  const isFree = wanted ? wanted.port === 0 : settings.listen.host === null && settings.listen.port === null
  if (saved === null || !isFree) return open(wanted)
  const { host } = wanted ?? { host: '127.0.0.1' }
  return listenOnSavedPort(saved, logger, (port) => open({ host, port }))
}

/** Identifies an agent by its Ironic, node and disk. */
function agentIdentity({ on, serves }: RealAgentOptions, ironicUrl: string | undefined): string {
  const client = 'token' in serves ? ['token', serves.token] : ['ironic', ironicUrl, serves.nodeUuid]
  return JSON.stringify([...client, on.disk.number])
}
