import {
  runContained,
  defined,
  errorChain,
  unlessAborted,
  withFields,
  type Clock,
  type Logger,
  type Probe,
} from '../base/runtime/index.js'
import { StepError, type ImageRules, type StepProgress } from '../steps/index.js'
import type { Target } from '../targets/index.js'
import { AgentError, probedDownloads, type Inventory, type JsonObject } from '../base/wire/index.js'
import {
  ManagersChanged,
  type CommandContext,
  type ExtensionCommand,
  type CommandOutcome,
  type CommandValidation,
} from './extensions/extension.js'
import { findCommand, splitName } from './extensions/index.js'
import { resumableTarget } from './resumable-target.js'
import type { Managers } from './agent-managers.js'
import type { Closing, CommandRecord } from './agent-phases.js'

/** Progress of a command, for progress bars. */
export type AgentCommandProgress = {
  /** Id of the command. */
  command: string
  /** Name of its step, or of the command itself where it has none. */
  step: string
} & ({ kind: 'stage'; name: string } | { kind: 'percent'; value: number } | { kind: 'line'; text: string })

/** Probe point around a command of an agent. */
export interface AgentCommandPoint {
  readonly kind: 'agent-command'
  /** Name of the target. */
  readonly target: string
  /** Full name of the command: `deploy.execute_deploy_step`. */
  readonly command: string
  /** Name of its step, or of the command itself where it has none. */
  readonly step: string
  /** Id of the command. */
  readonly id: string
  /** Id of the machine, which a probe that passes the point on adds. */
  readonly machine?: string
}

type Named = Pick<CommandRecord, 'id' | 'name' | 'fullName'>

/** Number of lines of its own log that an agent keeps for `collect_system_logs`. */
const MAX_LOG_LINES = 500

/** Runs commands: makes their context, passes the probe, reports progress. */
export class CommandRunner {
  readonly #options: CommandRunnerOptions
  readonly #log: { at: number; text: string }[] = []

  constructor(options: CommandRunnerOptions) {
    this.#options = options
  }

  get ownLog(): readonly string[] {
    return this.#log.map(({ at, text }) => `${new Date(at).toISOString()} ${text}`)
  }

  /** Rejects only when the agent is stopped; any other failure is in the outcome. */
  async run(
    { id, name, fullName }: Named,
    command: ExtensionCommand,
    params: Readonly<Record<string, unknown>>,
    target: Target,
  ): Promise<CommandOutcome & { closing?: Closing }> {
    const { probe, signal, clock, environment, managers, inventory } = this.#options
    const { standalone, ignoreBootloaderFailure, refusesContainers, node, nodeAgain, seen, commands } = this.#options
    let closing: Closing | undefined
    const step = stepNameIn(params) ?? name
    const logger = this.#commandLogger(fullName)
    const point: AgentCommandPoint = { kind: 'agent-command', target: target.name, command: fullName, step, id }
    logger('info', `${fullName} began`)
    const ending = runContained(`${fullName} on ${target.name}`, async () => {
      const context = {
        target,
        environment,
        clock,
        logger,
        signal,
        inventory,
        managers: await managers(),
        progress: this.#progress(id, step),
        ownLog: () => this.ownLog,
        downloads: probedDownloads(probe, { from: 'agent', to: 'images' }),
        standalone,
        ignoreBootloaderFailure,
        refusesContainers,
        node,
        seen,
        commands,
        images: this.#options.images(),
        ...defined({ nodeAgain }),
        close: (as: Closing) => void (closing = as),
        execute: async (other: string, otherParams: Readonly<Record<string, unknown>>): Promise<CommandOutcome> => {
          const parts = splitName(other)
          const found = findCommand(parts.extension, parts.command)
          try {
            found.validate?.(otherParams, this.validation)
          } catch (error) {
            return failedOutcome(error)
          }
          return settleCommand(parts.command, found, otherParams, context)
        },
      }
      return settleCommand(
        name,
        { ...command, run: (p, c) => probe.around(point, () => command.run(p, c)) },
        params,
        context,
      )
    })
    const outcome = await unlessAborted(ending.catch(failedOutcome), signal)
    // A stopped agent's command fails by the stop itself, which is not its outcome.
    signal.throwIfAborted()
    logger('info', `${fullName} ${outcome.status}${outcome.error ? `: ${outcome.error.details}` : ''}`)
    return closing !== undefined && outcome.status === 'SUCCEEDED' ? { ...outcome, closing } : outcome
  }

  /** Outcome of an asynchronous command that is refused before it starts; null when it is not. */
  refused(
    { fullName }: Named,
    command: ExtensionCommand,
    params: Readonly<Record<string, unknown>>,
  ): CommandOutcome | null {
    try {
      command.validate?.(params, this.validation)
      return null
    } catch (error) {
      const outcome = failedOutcome(error)
      this.#commandLogger(fullName)('warn', `${fullName} was not accepted: ${outcome.error?.details ?? ''}`)
      return isRefusal(error) ? { ...outcome, refusal: error } : outcome
    }
  }

  get validation(): CommandValidation {
    return {
      find: (fullName) => {
        const { extension, command } = splitName(fullName)
        findCommand(extension, command)
      },
      md5: this.#options.images().md5,
    }
  }

  resumableTarget(commandId: string, starting: (run: string) => Promise<void>): Target {
    return resumableTarget(this.#options.target, commandId, starting)
  }

  /** True if the target still has the program that an interrupted command started. */
  async hasProgram({ run }: CommandRecord): Promise<boolean> {
    if (run === undefined) return false
    const { target, signal } = this.#options
    try {
      await unlessAborted(target.executor.attach(run, 0), signal)
      return true
    } catch {
      signal.throwIfAborted()
      return false
    }
  }

  /** Outcome of a command whose program died with the agent. */
  lostOutcome({ name, params = {} }: CommandRecord): CommandOutcome {
    const details = `${stepNameIn(params) ?? name} was under way when the agent was killed, and its program with it; how far it got is not known`
    return { status: 'FAILED', error: new AgentError('CommandExecutionError', details).toWire(), result: null }
  }

  #progress(command: string, step: string): StepProgress {
    const { onProgress } = this.#options
    return {
      stage: (name) => {
        this.#addToLog(`${step}: ${name}`)
        onProgress({ kind: 'stage', command, step, name })
      },
      percent: (value) => onProgress({ kind: 'percent', command, step, value }),
      line: (text) => {
        this.#addToLog(`${step}: ${text}`)
        onProgress({ kind: 'line', command, step, text })
      },
    }
  }

  #commandLogger(command: string): Logger {
    const logger = withFields(this.#options.logger, { command })
    return (level, message, fields) => {
      this.#addToLog(message)
      logger(level, message, fields)
    }
  }

  #addToLog(text: string): void {
    this.#log.push({ at: this.#options.clock.now(), text })
    if (this.#log.length > MAX_LOG_LINES) this.#log.shift()
  }
}

export interface CommandRunnerOptions {
  target: Target
  environment: Readonly<Record<string, string>>
  clock: Clock
  logger: Logger
  probe: Probe
  /** Aborted when the agent is stopped. */
  signal: AbortSignal
  managers(): Promise<Managers>
  inventory(): Promise<Inventory>
  onProgress(progress: AgentCommandProgress): void
  readonly standalone: boolean
  readonly ignoreBootloaderFailure: boolean
  readonly refusesContainers: boolean
  images(): ImageRules
  node(): JsonObject
  readonly nodeAgain?: () => Promise<JsonObject | null>
  seen(node: JsonObject): void
  commands(): readonly CommandRecord[]
}

function stepNameIn({ step }: Readonly<Record<string, unknown>>): string | undefined {
  const name: unknown = typeof step === 'object' && step !== null && 'step' in step ? step.step : undefined
  return typeof name === 'string' ? name : undefined
}

/**
 * Runs a command to its end; never rejects. Errors of IPA's classes are reported as they are, others as a failed
 * execution. A returned text is wrapped in an object, for asynchronous commands after their name.
 */
async function settleCommand(
  name: string,
  command: ExtensionCommand,
  params: Readonly<Record<string, unknown>>,
  context: CommandContext,
): Promise<CommandOutcome> {
  try {
    checkParameters(name, command, params)
    const value = asJson(name, await command.run(params, context))
    const text = command.kind === 'async' ? `${name}: ${String(value)}` : value
    return { status: 'SUCCEEDED', error: null, result: typeof value === 'string' ? { result: text } : value }
  } catch (thrown) {
    const failure = failedOutcome(thrown)
    return command.kind === 'sync' && isRefusal(thrown) ? { ...failure, refusal: thrown } : failure
  }
}

/** True if an error is one of IPA's content errors, which are the caller's fault. */
const isRefusal = (error: unknown): error is AgentError => error instanceof AgentError && error.code === 400

/** Outcome of a command that threw. */
function failedOutcome(thrown: unknown): CommandOutcome {
  const status = thrown instanceof ManagersChanged ? 'CLEAN_VERSION_MISMATCH' : 'FAILED'
  return { status, error: asAgentError(thrown).toWire(), result: null }
}

function asAgentError(thrown: unknown): AgentError {
  if (thrown instanceof AgentError) return thrown
  if (thrown instanceof StepError) return new AgentError(thrown.type ?? 'CommandExecutionError', thrown.details)
  return new AgentError('CommandExecutionError', errorChain(thrown).join(': '))
}

/** Result as JSON. One that is not JSON would break every later listing of commands, as in IPA. */
function asJson(name: string, value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value ?? null)) as unknown
  } catch (cause) {
    throw new AgentError('CommandExecutionError', `${name} returned what is not JSON: ${errorChain(cause).join(': ')}`)
  }
}

/**
 * Refuses wrong parameters. IPA fails with a Python TypeError, which for a synchronous command also breaks its list;
 * here only the command fails.
 */
function checkParameters(name: string, command: ExtensionCommand, params: Readonly<Record<string, unknown>>): void {
  const missing = command.required.filter((parameter) => !Object.hasOwn(params, parameter))
  if (missing.length > 0)
    throw new AgentError('CommandExecutionError', `${name} needs the parameters ${missing.join(', ')}`)
  const { required, optional } = command
  if (optional === 'any') return
  const unexpected = Object.keys(params).filter((key) => !required.includes(key) && !optional.includes(key))
  if (unexpected.length > 0)
    throw new AgentError('CommandExecutionError', `${name} has no parameters ${unexpected.join(', ')}`)
}
