import {
  errorChain,
  Mutex,
  Probe,
  Scope,
  uuid,
  withFields,
  type Clock,
  type ConfigFile,
  type Logger,
  type Random,
} from '../runtime/index.js'
import { readHardware, rootDeviceHints, type HardwareManager, type Target } from '../steps/index.js'
import {
  agentErrors,
  ConnectionFailed,
  type CommandRequest,
  type Dispatch,
  type JsonObject,
  type TlsIdentity,
  type Transport,
} from '../wire/index.js'
import { agentDispatch } from './api.js'
import { CommandRunner, type AgentProgress } from './command-runner.js'
import { readSettings, type AgentSettings } from './configuration.js'
import { Endings } from './endings.js'
import type { AgentEvent, Effect, Wake } from './events.js'
import type { Outcome } from './extensions/extension.js'
import { findCommand, splitName } from './extensions/index.js'
import type { HardwareReader } from './inspection.js'
import { IronicLink } from './ironic-link.js'
import { readKept } from './kept-state.js'
import { PROMPT_PACE, type AgentPace } from './pace.js'
import { reduce, type Reduction, type Rules } from './reduce.js'
import {
  initialState,
  isServing,
  newBoot,
  runningCommand,
  type AgentState,
  type Closing,
  type CommandRecord,
  type KeptState,
  type Phase,
} from './state.js'
import { unlessAborted } from './unless-aborted.js'
import { Surroundings } from './surroundings.js'
import { Timer } from './timer.js'

export interface AgentOptions {
  target: Target
  managers: readonly HardwareManager[]
  /** This boot of the machine and the kernel parameters that its ramdisk was given (`ipa-api-url` ...). */
  boot: { id: string; parameters: Readonly<Record<string, string>> }
  /** Of the agent's process: `IPA_COREOS_IP_OPTIONS` ... */
  environment: Readonly<Record<string, string>>
  /** Where Ironic reaches {@link Agent.dispatch}. The one of the boot's first start stays in force until the next boot. */
  callbackUrl: string
  /**
   * Makes {@link callbackUrl} be served by TLS, with `https` in its place; without, an agent is served without TLS. Asked
   * once Ironic is known to take certificates, unless the configuration says `enable_auto_tls = False`.
   */
  tls?: AgentTls
  /** Override the boot's parameters, later files the earlier ones. */
  configFiles?: readonly ConfigFile[]
  /** To Ironic. */
  transport: Transport
  /** Keeps one JSON value over restarts of this process; resolves once it is safe. */
  saved: { read(): unknown; write(value: unknown): Promise<void> }
  /** Reads what the target is made of; {@link readHardware} unless told otherwise. */
  hardware?: HardwareReader
  clock: Clock
  random: Random
  probe?: Probe
  logger: Logger
  /** The node to look up by its uuid, where its MAC addresses do not lead to it. */
  nodeUuid?: string
  /** Serves its API without any Ironic: no inspection, no lookup, no heartbeats. Whoever commands it has this token. */
  standalone?: { token: string }
  /** {@link PROMPT_PACE} unless told otherwise. */
  pace?: AgentPace
  /** Told where a running step is. */
  onProgress?: (progress: AgentProgress) => void
}

export interface AgentTls {
  /**
   * Resolves when it is so.
   *
   * @param kept what it was served with before this agent restarted; null when there is nothing yet
   * @param hostname of the machine, for a new certificate's common name
   * @returns what it is served with now: a listener that several agents share has one identity for all
   */
  serve(kept: TlsIdentity | null, hostname: string): Promise<TlsIdentity>
}

/** An agent at work on a target. */
export interface Agent extends AsyncDisposable {
  /** Its HTTP API, relative to where it is mounted. */
  readonly dispatch: Dispatch
  readonly phase: Phase
  /** As Ironic called it at the lookup. */
  readonly nodeUuid: string | null
  /** Ends as a killed process would: running commands stay RUNNING in what is kept. */
  stop(): Promise<void>
}

/** What an Ironic is taken for that never said its version. */
const OLDEST_IRONIC = '1.1'

/**
 * Starts an agent: the shell around {@link reduce}. Events are taken one at a time; what has to survive is saved before
 * anything is answered or done about it.
 *
 * @throws UserError when the boot's parameters cannot be used
 */
export function startAgent(options: AgentOptions): Agent {
  return new RunningAgent(options)
}

class RunningAgent implements Agent {
  readonly #options: AgentOptions
  readonly #scope = new Scope()
  readonly #turn = new Mutex()
  /** Requests that start commands wait for each other, also for the end of a synchronous command. */
  readonly #posting = new Mutex()
  readonly #rules: Rules
  readonly #settings: AgentSettings
  readonly #link: IronicLink
  readonly #timer: Timer
  readonly #surroundings: Surroundings
  readonly #runner: CommandRunner
  readonly #endings = new Endings()
  readonly #logger: Logger
  #state: AgentState
  /** As a command last brought it along. */
  #node: JsonObject | undefined
  readonly dispatch: Dispatch

  constructor(options: AgentOptions) {
    const { boot, clock, callbackUrl, transport, target } = options
    const { standalone, nodeUuid = null } = options
    const settings = readSettings(boot.parameters, { files: options.configFiles ?? [], standalone })
    this.#options = options
    this.#settings = settings
    this.#rules = {
      ...{ config: settings, pace: options.pace ?? PROMPT_PACE, nodeUuid, standalone: standalone !== undefined },
      tls: options.tls !== undefined && settings.server.auto,
    }
    this.#state = initialState(readKept(options.saved.read(), boot.id) ?? newBoot(boot.id, callbackUrl, settings))
    this.#logger = withFields(options.logger, { agent: target.name })
    this.#timer = new Timer(clock)
    this.#scope.onClose(() => this.#timer.cancel())
    // A save that is under way ends before whoever stops this agent closes what it saves to.
    this.#scope.onClose(() => this.#turn.run(() => {}))
    const { signal } = this.#scope
    this.#link = new IronicLink({ transport, signal, ...settings })
    this.#surroundings = new Surroundings({
      ...{ target, clock, signal, managers: options.managers, hardware: options.hardware ?? readHardware },
      lldpTimeout: settings.lldpTimeout,
      ownLog: () => this.#runner.ownLog,
    })
    this.#runner = new CommandRunner({
      ...{ target, clock, signal, environment: options.environment, logger: this.#logger },
      probe: options.probe ?? new Probe(),
      managers: () => this.#surroundings.managers(),
      inventory: async () => (await this.#surroundings.read()).inventory,
      onProgress: options.onProgress ?? (() => {}),
      standalone: standalone !== undefined,
      ignoreBootloaderFailure: settings.ignoreBootloaderFailure,
      images: () => {
        const { md5 = false, formats = null } = this.#state.kept.images ?? {}
        return { md5: md5 || settings.md5, formats }
      },
      ...(standalone === undefined && { nodeAgain: () => this.#nodeAgain() }),
      node: () => this.#node ?? { instance_info: { root_device: this.#state.kept.hints ?? null } },
      seen: (node) => {
        this.#node = node
        this.#tell({ kind: 'node seen', hints: rootDeviceHints(node) })
      },
      commands: () => this.#state.kept.commands,
    })
    const api = agentDispatch({
      serving: () => isServing(this.#state.live.phase) && !signal.aborted,
      token: () => this.#state.kept.token,
      startedAt: clock.now(),
      commands: () => this.#state.kept.commands,
      post: (request) => this.#post(request),
      ended: (id) => this.#ended(id),
      resultsRead: () => this.#tell({ kind: 'results read' }),
      refused: (sentence) => this.#logger('warn', sentence),
    })
    this.dispatch = (request) =>
      api(request).catch((error: unknown) => {
        throw signal.aborted ? new ConnectionFailed('the agent stopped', { cause: error }) : error
      })
    if (this.#state.kept.callbackUrl !== callbackUrl)
      this.#logger(
        'warn',
        `this boot began with the callback URL ${this.#state.kept.callbackUrl}, which stays in force`,
      )
    if (settings.unknown.length > 0)
      this.#logger('warn', `these are no options of ironic-python-agent and do nothing: ${settings.unknown.join(', ')}`)
    this.#begin()
  }

  /** Some controllers show their disks late. */
  #begin(): void {
    const { startDelay } = this.#settings
    if (startDelay === 0) return this.#tell({ kind: 'started' })
    this.#timer.set(this.#options.clock.now() + startDelay, false, () => this.#tell({ kind: 'started' }))
  }

  get phase(): Phase {
    return this.#state.live.phase
  }

  get nodeUuid(): string | null {
    return this.#state.kept.nodeUuid
  }

  stop(): Promise<void> {
    return this.#scope[Symbol.asyncDispose]()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /** One event at a time: decide, save, and only then let it be true and act on it. */
  #apply(event: AgentEvent): Promise<Reduction> {
    return this.#turn.run(async () => {
      this.#scope.signal.throwIfAborted()
      const { clock, random, saved } = this.#options
      const reduction = reduce(this.#state, event, { at: clock.now(), chance: random.next() }, this.#rules)
      if (reduction.state.kept !== this.#state.kept) await saved.write(reduction.state.kept)
      this.#scope.signal.throwIfAborted()
      this.#state = reduction.state
      if (isServing(this.phase)) this.#surroundings.settle()
      for (const effect of reduction.effects) this.#act(effect)
      const last = reduction.state.kept.commands.at(-1)
      if (event.kind === 'command ended' && last?.id === event.id) this.#endings.tell(last)
      return reduction
    })
  }

  /** Applies an event that nobody waits for. */
  #tell(event: AgentEvent): void {
    this.#spawn(() => this.#apply(event))
  }

  #spawn(work: () => Promise<unknown>): void {
    // Neither a transport nor a target that never answers may keep a stop from ending.
    this.#scope.spawn(
      (signal) => unlessAborted(work(), signal),
      (error) => this.#logger('error', `the agent failed: ${errorChain(error).join(': ')}`, { error }),
    )
  }

  #act(effect: Effect): void {
    const { kept } = this.#state
    switch (effect.kind) {
      case 'inspect':
        return this.#spawn(async () => this.#apply(await this.#inspect()))
      case 'discover':
        return this.#spawn(async () => this.#apply(await this.#discover()))
      case 'look up':
        return this.#spawn(async () => this.#apply(await this.#lookUp(effect.nodeUuid)))
      case 'secure':
        return this.#spawn(async () => this.#apply(await this.#secure(kept)))
      case 'heartbeat':
        return this.#spawn(async () => this.#apply(await this.#heartbeat(kept)))
      case 'run':
        return this.#spawn(() => this.#run(effect.command))
      case 'resume':
        return this.#spawn(() => this.#resume(effect.command))
      case 'wait':
        return this.#wait(effect.until, effect.weak, effect.for)
      case 'log':
        return this.#logger(effect.level, effect.message)
    }
  }

  #wait(until: number, weak: boolean, wake: Wake): void {
    this.#timer.set(until, weak, () => this.#tell({ kind: 'woke', for: wake }))
  }

  async #inspect(): Promise<AgentEvent> {
    try {
      return await this.#link.inspect(await this.#surroundings.inspectionData(this.#settings.collectors))
    } catch (error) {
      return { kind: 'inspection failed', why: errorChain(error).join(': ') }
    }
  }

  async #discover(): Promise<AgentEvent> {
    const { ironicVersion: version } = this.#settings
    return version === null ? this.#link.discover() : { kind: 'version found', version }
  }

  async #secure({ tls = null }: KeptState): Promise<AgentEvent> {
    try {
      const { hostname } = (await this.#surroundings.hardware()).inventory
      return { kind: 'secured', identity: await this.#options.tls!.serve(tls, hostname) }
    } catch (error) {
      this.#scope.signal.throwIfAborted()
      return { kind: 'not secured', why: errorChain(error).join(': ') }
    }
  }

  async #lookUp(nodeUuid: string | null): Promise<AgentEvent> {
    try {
      const macs = await this.#surroundings.macs()
      return await this.#link.lookUp(macs, nodeUuid, this.#state.kept.ironicVersion ?? OLDEST_IRONIC)
    } catch (error) {
      return { kind: 'lookup failed', why: errorChain(error).join(': '), conflict: false }
    }
  }

  /** Of the answer only the node counts: this boot has its token. */
  async #nodeAgain(): Promise<JsonObject | null> {
    const event = await this.#lookUp(this.#state.kept.nodeUuid)
    if (event.kind === 'looked up') return event.answer.node
    if (event.kind === 'lookup failed') this.#logger('warn', `Ironic does not tell the node again: ${event.why}`)
    return null
  }

  #heartbeat(kept: KeptState): Promise<AgentEvent> {
    return this.#link.heartbeat(kept.nodeUuid ?? '', kept, kept.ironicVersion ?? OLDEST_IRONIC)
  }

  #post({ name: fullName, params }: CommandRequest): Promise<CommandRecord> {
    const { extension, command: name } = splitName(fullName)
    return this.#posting.run(async () => {
      // A busy agent says so before it looks whether it knows the command.
      const busy = runningCommand(this.#state.kept)
      if (busy) throw agentErrors.busy(busy.name)
      const command = findCommand(extension, name)
      const id = uuid(this.#options.random)
      if (command.kind === 'sync') {
        const outcome = await this.#runner.run({ id, name, fullName }, command, params, this.#options.target)
        return this.#answered({ id, name, fullName }, outcome, outcome.closing)
      }
      const refused = this.#runner.refused({ id, name, fullName }, command, params)
      if (refused) return this.#answered({ id, name, fullName }, refused)
      const posted = await this.#apply({ kind: 'command posted', id, name, fullName, params })
      return this.#accepted(posted, this.#state.kept.commands.at(-1)!)
    })
  }

  async #answered(
    { id, name, fullName }: Pick<CommandRecord, 'id' | 'name' | 'fullName'>,
    { status, error, result, refusal }: Outcome,
    closing?: Closing,
  ): Promise<CommandRecord> {
    if (refusal) throw refusal
    // IPA names what failed synchronously in full.
    const record = { id, name: status === 'SUCCEEDED' ? name : fullName, fullName, status, error, result }
    const answered = this.#accepted(await this.#apply({ kind: 'command answered', record }), record)
    if (closing) await this.#apply({ kind: 'closed', as: closing })
    return answered
  }

  #accepted({ refusal }: Reduction, record: CommandRecord): CommandRecord {
    if (refusal) throw refusal
    return record
  }

  async #run({ id, name, fullName, params = {} }: CommandRecord): Promise<void> {
    const { extension } = splitName(fullName)
    const target = this.#runner.followed(id, async (run) => {
      await this.#apply({ kind: 'program started', id, run })
    })
    const { closing, status, error, result } = await this.#runner.run(
      { id, name, fullName },
      findCommand(extension, name),
      params,
      target,
    )
    await this.#apply({ kind: 'command ended', id, status, error, result })
    if (closing) await this.#apply({ kind: 'closed', as: closing })
  }

  /**
   * After a restart on the same boot. A target that still knows the program the command had started gets the command
   * again, which then finds that program instead of starting it; on any other the work was lost with the old process.
   */
  async #resume(command: CommandRecord): Promise<void> {
    if (await this.#runner.knows(command)) return this.#run(command)
    this.#logger('warn', `${command.fullName} was running when the agent restarted and is lost`)
    await this.#apply({ kind: 'command ended', id: command.id, ...this.#runner.lost(command) })
  }

  #ended(id: string): Promise<CommandRecord> {
    const record = this.#state.kept.commands.find((candidate) => candidate.id === id)!
    return record.status === 'RUNNING'
      ? unlessAborted(this.#endings.of(id), this.#scope.signal)
      : Promise.resolve(record)
  }
}
