import {
  defined,
  errorChain,
  Mutex,
  Probe,
  Scope,
  Timer,
  waitInQueue,
  unlessAborted,
  withFields,
  type Logger,
} from '../base/runtime/index.js'
import { FILE_URL_PATHS } from '../base/bytes/index.js'
import { readHardware, rootDeviceHints } from '../steps/index.js'
import { ConnectionFailed, type Dispatch, type JsonObject } from '../base/wire/index.js'
import type { Agent, AgentOptions } from './agent-options.js'
import { agentDispatch } from './http/api.js'
import { CommandRunner } from './command-runner.js'
import { Commands } from './agent-commands.js'
import { readAgentSettings, type AgentSettings } from './configuration.js'
import type { AgentEvent, AgentEffect, Wake } from './agent-events.js'
import { readSavedState } from './saved-state.js'
import { Outgoing } from './http/outgoing.js'
import { PROMPT_PACE } from './pace.js'
import { reduce } from './reduce.js'
import type { Reduction, Rules } from './reduction.js'
import { initialState, isServing, newBoot, runningCommand, type AgentState, type AgentPhase } from './agent-phases.js'
import { TargetFacts } from './target-facts.js'

/**
 * Starts an agent: the shell around {@link reduce}. Events are processed one at a time, and the state is saved before
 * anything is answered or done.
 *
 * @throws UserError when the boot's parameters cannot be used
 */
export function startAgent(options: AgentOptions): Agent {
  return new RunningAgent(options)
}

class RunningAgent implements Agent {
  readonly #options: AgentOptions
  readonly #scope = new Scope()
  readonly #events = new Mutex()
  readonly #rules: Rules
  readonly #settings: AgentSettings
  readonly #outgoing: Outgoing
  readonly #timer: Timer
  readonly #facts: TargetFacts
  readonly #startedAt: number
  /** The parts that take commands, made for the first request: most agents of a fleet only wait. */
  #made: { runner: CommandRunner; commands: Commands; api: Dispatch } | undefined
  #state: AgentState
  /** Node as the last command sent it. */
  #node: JsonObject | undefined
  readonly dispatch: Dispatch = (request) =>
    this.#parts.api(request).catch((error: unknown) => {
      throw this.#scope.isClosed ? new ConnectionFailed('the agent stopped', { cause: error }) : error
    })

  constructor(options: AgentOptions) {
    const { boot, clock, callbackUrl, transport, target } = options
    const { standalone, nodeUuid = null } = options
    const settings = readAgentSettings(boot.parameters, { files: options.configFiles ?? [], standalone })
    this.#options = options
    this.#settings = settings
    this.#rules = {
      config: settings,
      pace: options.pace ?? PROMPT_PACE,
      nodeUuid,
      standalone: standalone !== undefined,
      tls: options.tls !== undefined && settings.server.auto,
    }
    this.#state = initialState(readSavedState(options.saved.read(), boot.id) ?? newBoot(boot.id, callbackUrl, settings))
    this.#startedAt = clock.now()
    this.#timer = new Timer(clock)
    this.#scope.onClose(async () => {
      // Wait for a running save: the owner of the storage may close it after the stop.
      await this.#events.run(() => {})
      this.#timer.stop()
    })
    this.#facts = new TargetFacts({
      target,
      clock,
      managers: options.managers,
      environment: options.environment,
      logger: this.#logger,
      hardware: options.hardware ?? readHardware,
      lldpTimeout: settings.lldpTimeout,
      collectsLldp: settings.collectsLldp,
      signal: this.#scope.signal,
      ownLog: () => this.#made?.runner.ownLog ?? [],
    })
    this.#outgoing = new Outgoing({ transport, settings, tls: options.tls, facts: this.#facts })
    if (this.#state.saved.callbackUrl !== callbackUrl)
      this.#logger(
        'warn',
        `this boot began with the callback URL ${this.#state.saved.callbackUrl}, which stays in force`,
      )
    if (settings.unknown.length > 0)
      this.#logger(
        'warn',
        `these are not options of ironic-python-agent and do nothing: ${settings.unknown.join(', ')}`,
      )
    this.#begin()
  }

  get #logger(): Logger {
    return withFields(this.#options.logger, { agent: this.#options.target.name })
  }

  get #parts() {
    return (this.#made ??= this.#make())
  }

  #make() {
    const { target, clock, standalone, random } = this.#options
    const settings = this.#settings
    const { signal } = this.#scope
    const runner = new CommandRunner({
      target,
      clock,
      signal,
      environment: this.#options.environment,
      logger: this.#logger,
      probe: this.#options.probe ?? new Probe(),
      managers: () => this.#facts.managers(),
      inventory: async () => (await this.#facts.read()).inventory,
      onProgress: this.#options.onProgress ?? (() => {}),
      standalone: standalone !== undefined,
      ignoreBootloaderFailure: settings.ignoreBootloaderFailure,
      refusesContainers: settings.refusesContainers,
      images: () => {
        const { md5 = false, formats = null } = this.#state.saved.images ?? {}
        const { proxies, fileFolders = FILE_URL_PATHS } = this.#options
        return { md5: md5 || settings.md5, formats, fileFolders, ...defined({ proxies }) }
      },
      ...defined({ nodeAgain: standalone === undefined ? () => this.#nodeAgain() : undefined }),
      node: () => this.#node ?? { instance_info: { root_device: this.#state.saved.hints ?? null } },
      seen: (node) => {
        this.#node = node
        this.#send({ kind: 'node seen', hints: rootDeviceHints(node) })
      },
      commands: () => this.#state.saved.commands,
    })
    const commands = new Commands({
      runner,
      target,
      random,
      logger: this.#logger,
      signal,
      state: () => this.#state.saved,
      apply: (event) => this.#apply(event),
    })
    const api = agentDispatch({
      serving: () => isServing(this.#state.live.phase) && !this.#scope.isClosed,
      token: () => this.#state.saved.token,
      startedAt: this.#startedAt,
      commands: () => this.#state.saved.commands,
      post: (request) => commands.post(request),
      ended: (id) => commands.ended(id),
      resultsRead: () => this.#send({ kind: 'results read' }),
      refused: (sentence) => this.#logger('warn', sentence),
    })
    return { runner, commands, api }
  }

  /** Delays the start, since some controllers show their disks late. */
  #begin(): void {
    const { startDelay } = this.#settings
    // Part of the boot: once that is over, the agent answers.
    if (startDelay === 0) return this.#inBackground(() => this.#apply({ kind: 'started' }))
    this.#timer.start(startDelay, () => this.#send({ kind: 'started' }))
  }

  get phase(): AgentPhase {
    return this.#state.live.phase
  }

  get isBusy(): boolean {
    return runningCommand(this.#state.saved) !== undefined
  }

  get nodeUuid(): string | null {
    return this.#state.saved.nodeUuid
  }

  stop(): Promise<void> {
    return this.#scope[Symbol.asyncDispose]()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /** Processes one event: computes the new state, saves it, and only then adopts it and runs its effects. */
  #apply(event: AgentEvent): Promise<Reduction> {
    return this.#events.run(async () => {
      this.#scope.throwIfClosed()
      const { clock, random, saved } = this.#options
      const reduction = reduce(this.#state, event, { at: clock.now(), chance: random.next() }, this.#rules)
      if (reduction.state.saved !== this.#state.saved) await saved.write(reduction.state.saved)
      this.#scope.throwIfClosed()
      this.#state = reduction.state
      if (isServing(this.phase)) this.#facts.settle()
      for (const effect of reduction.effects) this.#act(effect)
      const last = reduction.state.saved.commands.at(-1)
      if (event.kind === 'command ended' && last?.id === event.id) this.#parts.commands.notifyEnded(last)
      return reduction
    })
  }

  /** Applies an event in the background. */
  #send(event: AgentEvent): void {
    this.#spawn(() => this.#apply(event))
  }

  #spawn(work: (signal: AbortSignal) => Promise<unknown>): void {
    this.#inBackground((signal) => waitInQueue(this.#options.clock).then(() => work(signal)))
  }

  #inBackground(work: (signal: AbortSignal) => Promise<unknown>): void {
    // A transport or target that never answers must not block a stop.
    this.#scope.spawn(
      (signal) => unlessAborted(work(signal), signal),
      (error) => this.#logger('error', `the agent failed: ${errorChain(error).join(': ')}`, { error }),
    )
  }

  #act(effect: AgentEffect): void {
    const { saved } = this.#state
    switch (effect.kind) {
      case 'inspect':
        return this.#spawn(async (signal) => this.#apply(await this.#outgoing.inspect(signal)))
      case 'discover':
        return this.#spawn(async (signal) => this.#apply(await this.#outgoing.discover(signal)))
      case 'look up':
        return this.#spawn(async (signal) => this.#apply(await this.#outgoing.lookUp(saved, effect.nodeUuid, signal)))
      case 'secure':
        return this.#spawn(async (signal) => this.#apply(await this.#outgoing.secure(saved, signal)))
      case 'heartbeat':
        return this.#spawn(async (signal) => this.#apply(await this.#outgoing.heartbeat(saved, signal)))
      case 'run':
        return this.#spawn(() => this.#parts.commands.run(effect.command))
      case 'resume':
        return this.#spawn(() => this.#parts.commands.resume(effect.command))
      case 'wait':
        return this.#wait(effect.until, effect.weak, effect.for)
      case 'log':
        return this.#logger(effect.level, effect.message)
      case 'search again':
        return this.#options.onSearch?.(effect.search)
      case 'give up':
        this.#options.onGaveUp?.(effect.why)
        return this.#logger('error', effect.why)
    }
  }

  #wait(until: number, weak: boolean, wake: Wake): void {
    this.#timer.start(until - this.#options.clock.now(), () => this.#send({ kind: 'woke', for: wake }), { weak })
  }

  /** Looks the node up again. Only the node of the answer is used: this boot has its token. */
  async #nodeAgain(): Promise<JsonObject | null> {
    const event = await this.#outgoing.lookUp(this.#state.saved, this.#state.saved.nodeUuid, this.#scope.signal)
    if (event.kind === 'looked up') return event.answer.node
    if (event.kind === 'lookup failed') this.#logger('warn', `Ironic refused another lookup of the node: ${event.why}`)
    return null
  }
}
