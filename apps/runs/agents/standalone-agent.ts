import {
  clientTls,
  IPA_PACE,
  readAgentSettings,
  type AgentPace,
  type AgentCommandProgress,
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
import { HttpTransport, probedDispatch } from '../../../base/wire/index.js'
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
  const { serves, clock, random, machine: wanted = {}, respawn = false } = options
  const logger = withoutRepeats(options.logger, clock)
  const probe = options.probe ?? new Probe()
  const configFiles = agentConfigFiles(options)
  const parameters = options.parameters ?? {}
  const settings = readAgentSettings(parameters, {
    files: configFiles,
    standalone: 'token' in serves ? serves : undefined,
  })
  const tls = await clientTls(settings, (path) => namedFile(path, clock))
  const transport = scope.use(new HttpTransport({ clock, tls, timeoutMs: settings.requestTimeout }))
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
    tls: () => listener.tls({ random, settings: settings.server }),
    mount: (_machine, dispatch) =>
      listener.mount(null, probedDispatch(dispatch, probe, { from: 'ironic', to: 'agent' })),
  }

  let end = (_error?: unknown): void => {}
  const ended = new Promise<void>((resolve, reject) => {
    end = (error) => (error === undefined ? resolve() : reject(error as Error))
  })
  ended.catch(() => {})

  const agents = new Agents({
    addresses,
    clock,
    random,
    probe,
    pace: options.agentPace ?? IPA_PACE,
    transport: () => transport,
    tls: true,
    configFiles,
    ...defined({ managers: options.managers }),
    logger: withFields(logger, { room: 'agent' }),
    onProgress: (_machine, progress) => options.onProgress?.(progress),
    onRefused: (_machine, error) => end(error),
    ...defined({
      standalone: 'token' in serves ? serves : undefined,
      nodeUuid: 'nodeUuid' in serves && serves.nodeUuid !== undefined ? serves.nodeUuid : undefined,
    }),
  })
  const ours = ({ spec }: Machine): boolean => spec.id === idOf(options)
  const machines = scope.use(
    await openMachines({
      stateDir: 'folder' in wanted ? wanted.folder.path : null,
      clock,
      random,
      probe,
      pace: options.machinePace ?? NO_PACE,
      stage: simulatedStaging(options.images, { clock, random, logger }),
      logger: withFields(logger, { room: 'machine' }),
      events: {
        // Other machines of the state folder get no agent.
        ramdiskUp: (machine, boot) => {
          if (!ours(machine)) return
          agents.ramdiskUp(machine, boot)
          options.onBoot?.(boot.id)
        },
        down: (machine, boot) => {
          if (ours(machine)) agents.down(machine, boot)
        },
      },
    }),
  )
  scope.use(agents)

  const machine = await machineFor(options, machines)
  probe.attach<PowerPoint | PowerRequestPoint>(
    async (point, next) => {
      const result = await next()
      if (!('target' in point) || point.target !== 'off' || point.machine !== machine.spec.id) return result
      if (!respawn) end()
      else
        scope.spawn(
          async (signal) => {
            await clock.sleep(POWER_CYCLE_DELAY, { signal })
            await machine.setPower('on')
          },
          (error) => end(error),
        )
      return result
    },
    ['power'],
  )
  await bootRamdisk(machine, listener.urlOf(null), { ...parameters })
  return {
    machine,
    callbackUrl: listener.urlOf(null),
    settings,
    ended,
    [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
  }
}

function idOf({ machine = {}, serves }: StandaloneAgentOptions): string {
  if ('id' in machine) return machine.id
  // A machine named after its node has the same MAC addresses each time.
  return 'nodeUuid' in serves && serves.nodeUuid !== undefined ? serves.nodeUuid : 'machine-1'
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
