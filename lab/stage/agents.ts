import {
  startAgent,
  type Agent,
  type AgentPace,
  type AgentCommandProgress,
  type AgentSearch,
  type AgentTlsServer,
} from '../../agent/index.js'
import type { ProxySettings } from '../../base/bytes/index.js'
import type { ConfigFile } from '../../base/runtime/index.js'
import { kernelParameters, type Boot, type Machine } from '../../machine/index.js'
import {
  Probe,
  defined,
  errorChain,
  withFields,
  type Clock,
  type Logger,
  type Random,
} from '../../base/runtime/index.js'
import { standardManagers, type HardwareManager } from '../../steps/index.js'
import { probeTransport, type Transport } from '../../base/wire/index.js'
import { attachTo } from '../points.js'
import { cabledFrom, type AgentAddresses } from './agent-addresses.js'

export interface AgentsOptions {
  addresses: AgentAddresses
  /** Default {@link standardManagers}. */
  managers?: readonly HardwareManager[]
  /**
   * Transport from one machine's agent to Ironic.
   *
   * @throws what {@link AgentsOptions.onRefused} is called with
   */
  transport: (machine: string, boot: AgentBoot) => Transport
  /** Proxies to the servers of images; none by default. */
  proxies?: ProxySettings
  /** Folders of this host whose files images may be; by default those of Ironic. */
  fileFolders?: readonly string[]
  clock: Clock
  random: Random
  probe: Probe
  logger: Logger
  pace: AgentPace
  onProgress: (machine: string, progress: AgentCommandProgress) => void
  /** Called with the reason when an agent cannot start; default: the error is logged. */
  onRefused?: (machine: string, error: unknown) => void
  /** Called after each attempt of an agent at finding Ironic, or its node there, that did not succeed. */
  onSearch?: (machine: string, search: AgentSearch) => void
  /** Called with the reason when an agent does not send its inspection data again. */
  onGaveUp?: (machine: string, why: string) => void
  /** The agent's node, when Ironic cannot find it by MAC addresses. */
  nodeUuid?: string
  /** Agents without an Ironic; clients authenticate with the token. */
  standalone?: { token: string }
  /** True if the agents generate certificates, as IPA does. */
  tls?: boolean
  /** Files in ironic-python-agent's format; they override the kernel parameters. */
  configFiles?: readonly ConfigFile[]
}

/** Names of all steps of hardware managers. */
export const stepNames = (managers: readonly HardwareManager[] = standardManagers): string[] =>
  managers.flatMap(({ steps }) => steps.map(({ name }) => name))

/** The settings that an agent starts with. */
export interface AgentBoot {
  parameters: Readonly<Record<string, string>>
  configFiles: readonly ConfigFile[]
  /** Files of the ramdisk that settings can name. */
  files: NonNullable<Boot['live']>['files']
  /** All files of the medium that the agent copies. */
  copied: readonly ConfigFile[]
}

const NO_ENVIRONMENT: Readonly<Record<string, string>> = {}

interface Running {
  boot: string
  agent: Agent
  mounted: Disposable
}

/** Agents in the ramdisks. Each starts with a boot of its machine's ramdisk, and ends with that boot. */
export class Agents implements AsyncDisposable {
  readonly #options: AgentsOptions
  /** The same for all agents, which share a listener. */
  #tls: AgentTlsServer | undefined
  readonly #running = new Map<string, Running>()
  /** Step that each machine's agent carries out, and whether it is the installation of the present boot. */
  readonly #steps = new Map<string, string>()
  readonly #installing = new Set<string>()
  readonly #boots = new Map<string, { machine: Machine; boot: Boot }>()
  readonly #stopping = new Set<Promise<void>>()

  constructor(options: AgentsOptions) {
    this.#options = options
  }

  /** True if install_coreos has begun in this boot of the machine. */
  isInstalling(machine: string): boolean {
    return this.#installing.has(machine)
  }

  /** The step that the agent of a machine carries out now. */
  stepOf(machine: string): string | undefined {
    return this.#steps.get(machine)
  }

  /** Ends the agent of a machine, and starts it again on the same boot; commands in the ramdisk go on. */
  restart(id: string): void {
    const up = this.#boots.get(id)
    if (!up) return
    const installing = this.#installing.has(id)
    this.down(up.machine, up.boot)
    this.ramdiskUp(up.machine, up.boot)
    if (installing) this.#installing.add(id)
  }

  ramdiskUp(machine: Machine, boot: Boot): void {
    const { addresses, transport, probe, clock, random, logger, pace, onProgress, onRefused, onGaveUp } = this.#options
    const { configFiles, tls, nodeUuid, standalone, onSearch } = this.#options
    const { id } = machine.spec
    const { source, live } = boot
    const parameters =
      source.kind === 'ramdisk'
        ? source.parameters
        : live
          ? { ...kernelParameters(live.kernelArguments), ...live.parameters }
          : {}
    const media = live?.configFiles?.filter(({ name }) => name.endsWith('.conf')) ?? []
    const configured = [...media, ...(live?.agent?.configFiles ?? []), ...(configFiles ?? [])]
    const known = { parameters, configFiles: configured, files: live?.files ?? [], copied: live?.configFiles ?? [] }
    this.#installing.delete(id)
    this.#boots.set(id, { machine, boot })
    const own = this.#probeOf(id, probe)
    try {
      const agent = startAgent({
        target: machine.target,
        managers: this.#options.managers ?? standardManagers,
        boot: { id: boot.id, parameters },
        environment: live?.agent?.environment ?? NO_ENVIRONMENT,
        callbackUrl: addresses.urlOf(id),
        transport: probeTransport(cabledFrom(machine, transport(id, known)), own, { from: 'agent', to: 'ironic' }),
        saved: { read: () => machine.saved('agent'), write: (value) => machine.save('agent', value) },
        clock,
        random,
        probe: own,
        logger: withFields(logger, { machine: id }),
        pace,
        onProgress: (progress) => onProgress(id, progress),
        onSearch: (search) => onSearch?.(id, search),
        onGaveUp: (why) => {
          machine.say(`the agent: ${why}`)
          onGaveUp?.(id, why)
        },
        ...defined({ nodeUuid, standalone, proxies: this.#options.proxies, fileFolders: this.#options.fileFolders }),
        configFiles: configured,
        ...defined({ tls: tls && addresses.tls ? (this.#tls ??= addresses.tls(random)) : undefined }),
      })
      this.#running.set(id, { boot: boot.id, agent, mounted: addresses.mount(id, agent.dispatch) })
    } catch (error) {
      machine.say(`the agent does not start: ${errorChain(error).join(': ')}`)
      if (onRefused) onRefused(id, error)
      else logger('error', `the agent of ${id} does not start: ${errorChain(error).join(': ')}`, { machine: id })
    }
  }

  down(machine: Machine, boot: Boot): void {
    const { id } = machine.spec
    const running = this.#running.get(id)
    if (running?.boot !== boot.id) return
    this.#running.delete(id)
    this.#installing.delete(id)
    this.#boots.delete(id)
    running.mounted[Symbol.dispose]()
    const stopping = running.agent.stop().finally(() => this.#stopping.delete(stopping))
    this.#stopping.add(stopping)
  }

  /** A machine whose agent runs a command. */
  busyMachine(): string | undefined {
    for (const [machine, { agent }] of this.#running) if (agent.isBusy) return machine
    return undefined
  }

  /** Stops all agents, as the death of their processes does. */
  async stop(): Promise<void> {
    await this[Symbol.asyncDispose]()
    this.#installing.clear()
    this.#steps.clear()
    this.#boots.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const agents = [...this.#running.values()]
    this.#running.clear()
    for (const { mounted } of agents) mounted[Symbol.dispose]()
    await Promise.all([...agents.map(({ agent }) => agent.stop()), ...this.#stopping])
  }

  /** Adds the machine to all probe points of its agent. */
  #probeOf(machine: string, probe: Probe): Probe {
    const own = new Probe({ outer: probe, extend: (point) => ({ ...point, machine }) })
    attachTo(
      own,
      async (point, next) => {
        const { step } = point
        if (step === 'install_coreos') this.#installing.add(machine)
        this.#steps.set(machine, step)
        try {
          return await next()
        } finally {
          this.#steps.delete(machine)
        }
      },
      ['agent-command'],
    )
    return own
  }
}
