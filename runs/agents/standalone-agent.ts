import {
  clientTls,
  IPA_PACE,
  readSettings,
  type AgentPace,
  type AgentProgress,
  type AgentSettings,
} from '../../agent/index.js'
import type { ConfigFile } from '../../runtime/index.js'
import { NO_PACE, openMachines, type Machine, type MachinePace, type Machines } from '../../machine/index.js'
import {
  opening,
  Probe,
  withFields,
  withoutRepeats,
  type Clock,
  type Logger,
  type Random,
  type Scope,
} from '../../runtime/index.js'
import type { HardwareManager } from '../../steps/index.js'
import { HttpTransport, probedDispatch } from '../../wire/index.js'
import { namedFile, openAgentListener } from './agent-address.js'
import { Agents, type AgentAddresses } from '../../lab/index.js'
import { simulatedStage, type ImageCacheRequest } from '../../lab/index.js'
import { machineOfFolder, newMachine, type NewMachine } from '../one-machine.js'
import type { StateFolder } from '../../lab/index.js'

export interface StandaloneAgentOptions {
  /**
   * Whom the agent belongs to: an Ironic, or nobody but whoever has the token. An Ironic that is named here is the one,
   * whatever parameters and files say; without, they say.
   */
  serves: { ironicUrl?: string; nodeUuid?: string } | { token: string }
  /** The ramdisk's kernel parameters (`ipa-api-url`, `ipa-inspection-callback-url` ...). */
  parameters?: Readonly<Record<string, string>>
  /** In ironic-python-agent's format; they override {@link parameters}. */
  configFiles?: readonly ConfigFile[]
  /** The machine: a new one that is gone with this, or one of a state folder. */
  machine?: NewMachine | { folder: StateFolder; id: string }
  /**
   * Where it answers, whatever parameters and files say; port 0 picks one, for a machine of a state folder always the
   * same. Nobody having said anything, for this host only, on a port that is picked.
   */
  listen?: { host: string; port: number }
  /** What the agent offers; the standard managers unless told otherwise. */
  managers?: readonly HardwareManager[]
  /** Power that always comes back: the machine boots its ramdisk again whenever it was switched off. */
  respawn?: boolean
  machinePace?: MachinePace
  /** {@link IPA_PACE} unless told otherwise. */
  agentPace?: AgentPace
  /** Where images from URLs are kept, and how they are fetched. */
  images?: ImageCacheRequest
  clock: Clock
  random: Random
  logger: Logger
  /** Sees every command, exchange and power change; faults attach here. */
  probe?: Probe
  onProgress?: (progress: AgentProgress) => void
  /** Each time that the machine has booted its ramdisk. */
  onBoot?: (boot: string) => void
}

/** An agent on a simulated machine, for an Ironic elsewhere. */
export interface StandaloneAgent extends AsyncDisposable {
  readonly machine: Machine
  /** Where Ironic reaches the agent: as IPA's, without a path. */
  readonly callbackUrl: string
  /** As parameters and files have made them. */
  readonly settings: AgentSettings
  /** Resolves when the machine has been switched off and nothing here will switch it on; rejects when no agent can start. */
  readonly ended: Promise<void>
}

/** How long power stays away before it comes back, in milliseconds. */
const POWER_CYCLE = 1000

/**
 * Boots a ramdisk with an agent on one machine.
 *
 * The machine's BMC is whoever holds {@link StandaloneAgent.machine}. An Ironic elsewhere cannot reach it: what its
 * driver switches (fake-hardware: nothing) is another thing, which is what `respawn` is for.
 *
 * @throws UserError when it cannot listen, parameters or files cannot be used, or the state folder has no such machine
 */
export async function openStandaloneAgent(options: StandaloneAgentOptions): Promise<StandaloneAgent> {
  return opening((scope) => open(options, scope))
}

async function open(options: StandaloneAgentOptions, scope: Scope): Promise<StandaloneAgent> {
  const { serves, clock, random, machine: wanted = {}, respawn = false } = options
  const logger = withoutRepeats(options.logger, clock)
  const probe = options.probe ?? new Probe()
  const configFiles = filesOf(options)
  const parameters = options.parameters ?? {}
  const settings = readSettings(parameters, {
    files: configFiles,
    standalone: 'token' in serves ? serves : undefined,
  })
  const tls = await clientTls(settings, (path) => namedFile(path, clock))
  const transport = scope.use(new HttpTransport({ clock, tls, timeoutMs: settings.requestTimeout }))
  const listener = scope.use(
    await openAgentListener(settings, {
      ...{ listen: options.listen, clock, logger },
      ...('folder' in wanted ? { keeper: wanted } : {}),
    }),
  )
  // The listener is this agent's alone.
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
    ...{ addresses, clock, random, probe, pace: options.agentPace ?? IPA_PACE },
    transport: () => transport,
    tls: true,
    configFiles,
    ...(options.managers ? { managers: options.managers } : {}),
    logger: withFields(logger, { room: 'agent' }),
    onProgress: (_machine, progress) => options.onProgress?.(progress),
    onRefused: (_machine, error) => end(error),
    ...('token' in serves ? { standalone: serves } : {}),
    ...('nodeUuid' in serves && serves.nodeUuid !== undefined ? { nodeUuid: serves.nodeUuid } : {}),
  })
  const ours = ({ spec }: Machine): boolean => spec.id === idOf(options)
  const machines = scope.use(
    await openMachines({
      stateDir: 'folder' in wanted ? wanted.folder.path : null,
      ...{ clock, random, probe, pace: options.machinePace ?? NO_PACE },
      stage: simulatedStage(options.images, { clock, random, logger }),
      logger: withFields(logger, { room: 'machine' }),
      events: {
        // Of a state folder only this machine is taken up; the others are left as they are.
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
  probe.attach(async (point, next) => {
    const result = await next()
    if (point.kind !== 'power' || point['target'] !== 'off' || point['machine'] !== machine.spec.id) return result
    if (!respawn) end()
    else
      scope.spawn(
        async (signal) => {
          await clock.sleep(POWER_CYCLE, { signal })
          await machine.setPower('on')
        },
        (error) => end(error),
      )
    return result
  })
  await bootRamdisk(machine, listener.urlOf(null), { ...parameters })
  return {
    machine,
    ...{ callbackUrl: listener.urlOf(null), settings },
    ended,
    [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
  }
}

function idOf({ machine = {}, serves }: StandaloneAgentOptions): string {
  if ('id' in machine) return machine.id
  // The same node's machine is the same one each time, as far as its MAC addresses go.
  return 'nodeUuid' in serves && serves.nodeUuid !== undefined ? serves.nodeUuid : 'machine-1'
}

/** What is named to this program counts more than any file, as ironic-python-agent's own command line does. */
function filesOf({ serves, configFiles = [] }: StandaloneAgentOptions): readonly ConfigFile[] {
  const named = 'ironicUrl' in serves ? serves.ironicUrl : undefined
  if (named === undefined) return configFiles
  return [...configFiles, { name: 'the URL that was named', text: `[DEFAULT]\napi_url = ${named}\n` }]
}

async function machineFor(options: StandaloneAgentOptions, machines: Machines): Promise<Machine> {
  const { machine: wanted = {} } = options
  if ('folder' in wanted) return machineOfFolder(machines, wanted)
  return newMachine(machines, 'nodeUuid' in options.serves ? idOf(options) : null, wanted)
}

/** A machine of a state folder may be in a boot whose agent was this one; any other boot is of no use here. */
async function bootRamdisk(machine: Machine, url: string, parameters: Record<string, string>): Promise<void> {
  const kept = machine.saved('agent') as { callbackUrl?: unknown } | undefined
  const goesOn = machine.boot()?.outcome === 'ramdisk' && kept?.callbackUrl === url
  await machine.setBoot({ kind: 'ramdisk', parameters })
  if (!goesOn) await machine.setPower('reboot')
}
