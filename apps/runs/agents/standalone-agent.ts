import {
  clientTls,
  IPA_PACE,
  readAgentSettings,
  type AgentPace,
  type AgentCommandProgress,
  type AgentSearch,
  type AgentSettings,
} from '../../../agent/index.js'
import type { ConfigFile } from '../../../base/runtime/index.js'
import {
  NO_PACE,
  openMachines,
  type Machine,
  type MachinePace,
  type Machines,
  type PowerPoint,
  type PowerRequestPoint,
} from '../../../machine/index.js'
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
import type { HardwareManager } from '../../../steps/index.js'
import { HttpTransport, probedDispatch, type Transport } from '../../../base/wire/index.js'
import { namedFile, openAgentListener } from './agent-address.js'
import { Agents, type AgentAddresses } from '../../../lab/index.js'
import { simulatedStaging, type ImageCacheRequest } from '../../../lab/index.js'
import { machineOfFolder, newMachine, type NewMachine } from '../one-machine.js'
import type { StateFolder } from '../../../lab/index.js'

export interface StandaloneAgentOptions {
  /**
   * The agent's Ironic, or the token of a standalone agent's client. An Ironic URL here overrides parameters and files.
   */
  serves: { ironicUrl?: string; nodeUuid?: string } | { token: string }
  /** The ramdisk's kernel parameters (`ipa-api-url`, `ipa-inspection-callback-url` ...). */
  parameters?: Readonly<Record<string, string>>
  /** Files in ironic-python-agent's format; they override {@link parameters}. */
  configFiles?: readonly ConfigFile[]
  /** The machine: a new one that exists as long as the agent, or one of a state folder. */
  machine?: NewMachine | { folder: StateFolder; id: string }
  /**
   * Listening address; overrides parameters and files. Port 0 picks a free port, for a machine of a state folder always
   * the same. Default: this host only, on a free port.
   */
  listen?: { host: string; port: number }
  /** Names by which clients may call besides those of this host. */
  allowedHosts?: readonly string[] | undefined
  /** Hardware managers of the agent; default the standard ones. */
  managers?: readonly HardwareManager[]
  /** Switches the machine on again whenever it was switched off, so that it boots its ramdisk. */
  respawn?: boolean
  machinePace?: MachinePace
  /** Default {@link IPA_PACE}. */
  agentPace?: AgentPace
  /** Image cache, and options for downloads. */
  images?: ImageCacheRequest
  clock: Clock
  random: Random
  logger: Logger
  /** Sees every command, exchange and power change; faults attach here. */
  probe?: Probe
  onProgress?: (progress: AgentCommandProgress) => void
  /** Called after each attempt at finding Ironic, or the node there, that did not succeed. */
  onSearch?: (search: AgentSearch) => void
  /** Called after each boot of the ramdisk. */
  onBoot?: (boot: string) => void
}

/** An agent on a simulated machine, for an Ironic elsewhere. */
export interface StandaloneAgent extends AsyncDisposable {
  readonly machine: Machine
  /** URL at which Ironic reaches the agent, without a path as IPA's. */
  readonly callbackUrl: string
  /** Settings from parameters and files. */
  readonly settings: AgentSettings
  /** Resolves when the machine was switched off and will not be switched on again; rejects when no agent can start. */
  readonly ended: Promise<void>
}

/** Time without power before the machine is switched on again, in milliseconds. */
const POWER_CYCLE_DELAY = 1000

/**
 * Boots a ramdisk with an agent on one machine.
 *
 * The caller controls the machine's power through {@link StandaloneAgent.machine}. A remote Ironic cannot switch this
 * machine: its driver switches something else (fake-hardware: nothing). `respawn` replaces the missing power control.
 *
 * @throws UserError when it cannot listen, parameters or files cannot be used, or the state folder has no such machine
 */
export async function openStandaloneAgent(options: StandaloneAgentOptions): Promise<StandaloneAgent> {
  return openInScope((scope) => composeStandaloneAgent(options, scope))
}

async function composeStandaloneAgent(options: StandaloneAgentOptions, scope: Scope): Promise<StandaloneAgent> {
  const core = openCore(options, scope)
  const { clock, logger, probe } = core
  const configFiles = agentConfigFiles(options)
  const parameters = options.parameters ?? {}
  const settings = readAgentSettings(parameters, { files: configFiles, standalone: clientOf(options.serves) })
  const tls = await clientTls(settings, (path) => namedFile(path, clock))
  const transport = scope.use(new HttpTransport({ clock, tls, timeoutMs: settings.requestTimeout }))
  const { machine: wanted = {} } = options
  const listener = scope.use(
    await openAgentListener(settings, {
      listen: options.listen,
      allowedHosts: options.allowedHosts,
      clock,
      logger,
      ...defined({ machine: 'folder' in wanted ? wanted : undefined }),
    }),
  )
  // The listener serves this agent only, so URLs need no path for the machine.
  const addresses: AgentAddresses = {
    urlOf: () => listener.urlOf(null),
    tls: () => listener.tls({ random: options.random, settings: settings.server }),
    mount: (_machine, dispatch) =>
      listener.mount(null, probedDispatch(dispatch, probe, { from: 'ironic', to: 'agent' })),
  }
  const ending = new AgentEnd()
  const agents = standaloneAgents(options, core, { addresses, transport, configFiles, ending })
  const machines = await openOwnMachines(options, core, agents)
  scope.use(agents)
  const machine = await machineFor(options, machines)
  followPower(machine, options.respawn ?? false, core, ending)
  await bootRamdisk(machine, listener.urlOf(null), { ...parameters })
  return {
    machine,
    callbackUrl: listener.urlOf(null),
    settings,
    ended: ending.ended,
    [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
  }
}

/** The ground of a standalone agent, which its parts use. */
interface AgentCore {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly probe: Probe
  readonly scope: Scope
}

function openCore({ clock, random, logger, probe = new Probe() }: StandaloneAgentOptions, scope: Scope): AgentCore {
  return { clock, random, logger: withoutRepeats(logger, clock), probe, scope }
}

/** The end of a standalone agent, which its caller may wait for. */
class AgentEnd {
  readonly ended: Promise<void>
  #settle: (error: unknown) => void = () => {}

  constructor() {
    this.ended = new Promise<void>((resolve, reject) => {
      this.#settle = (error) => (error === undefined ? resolve() : reject(error as Error))
    })
    this.ended.catch(() => {})
  }

  /** @param error why no agent can start; default: the machine was switched off */
  end(error?: unknown): void {
    this.#settle(error)
  }
}

const clientOf = (serves: StandaloneAgentOptions['serves']): { token: string } | undefined =>
  'token' in serves ? serves : undefined

const nodeOf = (serves: StandaloneAgentOptions['serves']): string | undefined =>
  'nodeUuid' in serves ? serves.nodeUuid : undefined

function standaloneAgents(
  options: StandaloneAgentOptions,
  { clock, random, logger, probe }: AgentCore,
  reach: { addresses: AgentAddresses; transport: Transport; configFiles: readonly ConfigFile[]; ending: AgentEnd },
): Agents {
  const { addresses, transport, configFiles, ending } = reach
  return new Agents({
    addresses,
    clock,
    random,
    probe,
    pace: options.agentPace ?? IPA_PACE,
    transport: () => transport,
    tls: true,
    configFiles,
    logger: withFields(logger, { room: 'agent' }),
    onProgress: (_machine, progress) => options.onProgress?.(progress),
    onSearch: (_machine, search) => options.onSearch?.(search),
    onRefused: (_machine, error) => ending.end(error),
    ...defined({
      managers: options.managers,
      standalone: clientOf(options.serves),
      nodeUuid: nodeOf(options.serves),
    }),
  })
}

/** Opens the machines; others of the state folder than the agent's get no agent. */
async function openOwnMachines(
  options: StandaloneAgentOptions,
  { clock, random, logger, probe, scope }: AgentCore,
  agents: Agents,
): Promise<Machines> {
  const { machine: wanted = {} } = options
  const isOwn = ({ spec }: Machine): boolean => spec.id === idOf(options)
  const machines = await openMachines({
    stateDir: 'folder' in wanted ? wanted.folder.path : null,
    clock,
    random,
    probe,
    pace: options.machinePace ?? NO_PACE,
    stage: simulatedStaging(options.images, { clock, random, logger }),
    logger: withFields(logger, { room: 'machine' }),
    events: {
      ramdiskUp: (machine, boot) => {
        if (!isOwn(machine)) return
        agents.ramdiskUp(machine, boot)
        options.onBoot?.(boot.id)
      },
      down: (machine, boot) => {
        if (isOwn(machine)) agents.down(machine, boot)
      },
    },
  })
  return scope.use(machines)
}

/** Ends with the power of the machine, or switches it on again. */
function followPower(machine: Machine, respawn: boolean, { clock, probe, scope }: AgentCore, ending: AgentEnd): void {
  const switchOn = async (signal: AbortSignal): Promise<void> => {
    await clock.sleep(POWER_CYCLE_DELAY, { signal })
    await machine.setPower('on')
  }
  probe.attach<PowerPoint | PowerRequestPoint>(
    async (point, next) => {
      const result = await next()
      if (!('target' in point) || point.target !== 'off' || point.machine !== machine.spec.id) return result
      if (respawn) scope.spawn(switchOn, (error) => ending.end(error))
      else ending.end()
      return result
    },
    ['power'],
  )
}

function idOf({ machine = {}, serves }: StandaloneAgentOptions): string {
  if ('id' in machine) return machine.id
  // A machine named after its node has the same MAC addresses each time.
  return nodeOf(serves) ?? 'machine-1'
}

/** Adds the Ironic URL as the last file, which overrides the others as ironic-python-agent's command line does. */
function agentConfigFiles({ serves, configFiles = [] }: StandaloneAgentOptions): readonly ConfigFile[] {
  const named = 'ironicUrl' in serves ? serves.ironicUrl : undefined
  if (named === undefined) return configFiles
  return [...configFiles, { name: 'the URL that was named', text: `[DEFAULT]\napi_url = ${named}\n` }]
}

async function machineFor(options: StandaloneAgentOptions, machines: Machines): Promise<Machine> {
  const { machine: wanted = {} } = options
  if ('folder' in wanted) return machineOfFolder(machines, wanted)
  return newMachine(machines, 'nodeUuid' in options.serves ? idOf(options) : null, wanted)
}

/** Boots the ramdisk, unless the machine of a state folder is still in a boot whose agent had this URL. */
async function bootRamdisk(machine: Machine, url: string, parameters: Record<string, string>): Promise<void> {
  const saved = machine.saved('agent') as { callbackUrl?: unknown } | undefined
  const continues = machine.boot()?.outcome === 'ramdisk' && saved?.callbackUrl === url
  await machine.setBoot({ kind: 'ramdisk', parameters })
  if (!continues) await machine.setPower('reboot')
}
