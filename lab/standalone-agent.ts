import { readFile } from 'node:fs/promises'
import {
  AgentListener,
  clientTls,
  IPA_PACE,
  readSettings,
  type AgentPace,
  type AgentProgress,
  type ConfigFile,
} from '../agent/index.js'
import {
  defaultMachineSpec,
  NO_PACE,
  openMachines,
  type Machine,
  type MachinePace,
  type Machines,
} from '../machine/index.js'
import { held, Probe, Scope, UserError, withFields, type Clock, type Logger, type Random } from '../runtime/index.js'
import type { HardwareManager } from '../steps/index.js'
import { HttpTransport, probedDispatch } from '../wire/index.js'
import { Agents, type AgentAddresses } from './agents.js'
import { onKeptPort } from './kept-port.js'
import { REHEARSAL_IMAGE } from './paths.js'
import type { StateFolder } from './state-folder.js'

export interface StandaloneAgentOptions {
  /** Whom the agent belongs to: an Ironic, or nobody but whoever has the token. */
  serves: { ironicUrl: string; nodeUuid?: string } | { token: string }
  /** The ramdisk's kernel parameters (`ipa-inspection-callback-url` ...); `ipa-api-url` is there already. */
  parameters?: Readonly<Record<string, string>>
  /** In ironic-python-agent's format; they override {@link parameters}. */
  configFiles?: readonly ConfigFile[]
  /** The machine: a new one that is gone with this, or one of a state folder. */
  machine?: { mac?: string; liveImage?: string } | { folder: StateFolder; id: string }
  /** Where it answers; port 0 picks one, for a machine of a state folder always the same. */
  listen?: { host: string; port: number }
  /** What the agent offers; the standard managers unless told otherwise. */
  managers?: readonly HardwareManager[]
  /** Power that always comes back: the machine boots its ramdisk again whenever it was switched off. */
  respawn?: boolean
  machinePace?: MachinePace
  /** {@link IPA_PACE} unless told otherwise. */
  agentPace?: AgentPace
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
 * @throws UserError when it cannot listen, or the state folder has no such machine
 */
export async function openStandaloneAgent(options: StandaloneAgentOptions): Promise<StandaloneAgent> {
  const scope = new Scope()
  try {
    return await open(options, scope)
  } catch (error) {
    await scope[Symbol.asyncDispose]()
    throw error
  }
}

async function open(options: StandaloneAgentOptions, scope: Scope): Promise<StandaloneAgent> {
  const { serves, clock, random, logger, machine: wanted = {}, respawn = false } = options
  const probe = options.probe ?? new Probe()
  const settings = readSettings(parametersOf(options), {
    files: options.configFiles ?? [],
    standalone: 'token' in serves ? serves : undefined,
  })
  const tls = await clientTls(settings, (path) => held(clock, `reading ${path}`, () => readFile(path, 'utf8')))
  const transport = scope.use(new HttpTransport({ clock, tls, timeoutMs: settings.requestTimeout }))
  const listener = scope.use(await listen(options))
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
    configFiles: options.configFiles ?? [],
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
  await bootRamdisk(machine, listener.urlOf(null), parametersOf(options))
  return {
    machine,
    callbackUrl: listener.urlOf(null),
    ended,
    [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
  }
}

function idOf({ machine = {}, serves }: StandaloneAgentOptions): string {
  if ('id' in machine) return machine.id
  // The same node's machine is the same one each time, as far as its MAC addresses go.
  return 'nodeUuid' in serves && serves.nodeUuid !== undefined ? serves.nodeUuid : 'machine-1'
}

function parametersOf({ serves, parameters = {} }: StandaloneAgentOptions): Record<string, string> {
  return { ...('ironicUrl' in serves ? { 'ipa-api-url': serves.ironicUrl } : {}), ...parameters }
}

async function listen({ listen, machine = {}, clock, logger }: StandaloneAgentOptions): Promise<AgentListener> {
  const { host, port } = listen ?? { host: '127.0.0.1', port: 0 }
  const open = (chosen: number) => AgentListener.open({ host, port: chosen, clock, logger })
  if (port !== 0 || !('folder' in machine)) return open(port)
  const { folder, id } = machine
  return onKeptPort(`agent-port of ${id}`, 'Ironic no longer finds an agent that ran here', { folder, logger }, open)
}

async function machineFor(options: StandaloneAgentOptions, machines: Machines): Promise<Machine> {
  const { machine: wanted = {} } = options
  if ('folder' in wanted) {
    const found = machines.get(wanted.id)
    if (found) return found
    const known = machines.list().map(({ spec }) => spec.id)
    throw new UserError('no-machine', `the state folder ${wanted.folder.path} has no machine ${wanted.id}`, {
      remedy: known.length === 0 ? 'it has none: make some with ironstage up --nodes' : `it has ${known.join(', ')}`,
      kind: 'usage',
    })
  }
  const { mac, liveImage = REHEARSAL_IMAGE } = wanted
  const spec = defaultMachineSpec(options.serves && 'nodeUuid' in options.serves ? { id: idOf(options) } : 1)
  const nics = spec.nics.map((nic, index) => (index === 0 && mac !== undefined ? { ...nic, mac } : nic))
  return machines.create({ ...spec, id: idOf(options), bmc: null, nics, liveImage })
}

/** A machine of a state folder may be in a boot whose agent was this one; any other boot is of no use here. */
async function bootRamdisk(machine: Machine, url: string, parameters: Record<string, string>): Promise<void> {
  const kept = machine.saved('agent') as { callbackUrl?: unknown } | undefined
  const goesOn = machine.boot()?.outcome === 'ramdisk' && kept?.callbackUrl === url
  await machine.setBoot({ kind: 'ramdisk', parameters })
  if (!goesOn) await machine.setPower('reboot')
}
