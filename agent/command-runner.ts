import { contained, errorChain, unlessAborted, type Clock, type Logger, type Probe } from '../runtime/index.js'
import { StepError, type ImageRules, type Progress } from '../steps/index.js'
import type { Target } from '../targets/index.js'
import { AgentError, type Inventory, type JsonObject } from '../wire/index.js'
import {
  ManagersChanged,
  type CommandContext,
  type ExtensionCommand,
  type Outcome,
  type Validation,
} from './extensions/extension.js'
import { findCommand, splitName } from './extensions/index.js'
import { followedTarget } from './followed-target.js'
import type { Managers } from './managers.js'
import type { Closing, CommandRecord } from './state.js'

/** Where a command is, for people and progress bars. */
export type AgentProgress = {
  /** Id of the command. */
  command: string
  /** Name of its step, or of the command itself where it has none. */
  step: string
} & ({ kind: 'stage'; name: string } | { kind: 'percent'; value: number } | { kind: 'line'; text: string })

type Named = Pick<CommandRecord, 'id' | 'name' | 'fullName'>

/** How much of its own log an agent remembers for whoever asks, in lines. */
const REMEMBERED_LINES = 500

/** Runs commands: gives them what they may use, lets the probe see them, passes on how far they are. */
export class CommandRunner {
  readonly #options: CommandRunnerOptions
  readonly #log: string[] = []

  constructor(options: CommandRunnerOptions) {
    this.#options = options
  }

  get ownLog(): readonly string[] {
    return this.#log
  }

  /** Never rejects but for the agent's stop; what goes wrong is in the outcome. */
  async run(
    { id, name, fullName }: Named,
    command: ExtensionCommand,
    params: Readonly<Record<string, unknown>>,
    target: Target,
  ): Promise<Outcome & { closing?: Closing }> {
    const { probe, signal, clock, environment, managers, inventory } = this.#options
    const { standalone, ignoreBootloaderFailure, node, nodeAgain, seen, commands } = this.#options
    let closing: Closing | undefined
    const step = stepName(params) ?? name
    const logger = this.#remembering(fullName)
    const point = { kind: 'agent-command', target: target.name, command: fullName, step, id }
    logger('info', `${fullName} began`)
    const ending = contained(`${fullName} on ${target.name}`, async () => {
      const context = {
        ...{ target, environment, clock, logger, signal, inventory },
        managers: await managers(),
        progress: this.#progress(id, step),
        ownLog: () => this.#log,
        ...{ standalone, ignoreBootloaderFailure, node, seen, commands, images: this.#options.images() },
        ...(nodeAgain && { nodeAgain }),
        close: (as: Closing) => void (closing = as),
        execute: async (other: string, given: Readonly<Record<string, unknown>>): Promise<Outcome> => {
          const parts = splitName(other)
          const found = findCommand(parts.extension, parts.command)
          try {
            found.validate?.(given, this.validation)
          } catch (error) {
            return failed(error)
          }
          return settle(parts.command, found, given, context)
        },
      }
      return settle(name, { ...command, run: (p, c) => probe.around(point, () => command.run(p, c)) }, params, context)
    })
    const outcome = await unlessAborted(ending.catch(failed), signal)
    // What a stopped agent's command throws is the stop itself, not how the command ended.
    signal.throwIfAborted()
    logger('info', `${fullName} ${outcome.status}${outcome.error ? `: ${outcome.error.details}` : ''}`)
    return closing !== undefined && outcome.status === 'SUCCEEDED' ? { ...outcome, closing } : outcome
  }

  /** What is wrong with an asynchronous command before it starts. */
  refused({ fullName }: Named, command: ExtensionCommand, params: Readonly<Record<string, unknown>>): Outcome | null {
    try {
      command.validate?.(params, this.validation)
      return null
    } catch (error) {
      const outcome = failed(error)
      this.#remembering(fullName)('warn', `${fullName} was not accepted: ${outcome.error?.details ?? ''}`)
      return isRefusal(error) ? { ...outcome, refusal: error } : outcome
    }
  }

  get validation(): Validation {
    return {
      find: (fullName) => {
        const { extension, command } = splitName(fullName)
        findCommand(extension, command)
      },
      md5: this.#options.images().md5,
    }
  }

  followed(commandId: string, starting: (run: string) => Promise<void>): Target {
    return followedTarget(this.#options.target, commandId, starting)
  }

  /** Whether the target still has the program that an interrupted command had started. */
  async knows({ run }: CommandRecord): Promise<boolean> {
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

  /** How a command ended whose program died with the agent. */
  lost({ name, params = {} }: CommandRecord): Outcome {
    const details = `${stepName(params) ?? name} was under way when the agent was killed, and its program with it; how far it got is not known`
    return { status: 'FAILED', error: new AgentError('CommandExecutionError', details).toWire(), result: null }
  }

  #progress(command: string, step: string): Progress {
    const { onProgress } = this.#options
    return {
      stage: (name) => {
        this.#remember(`${step}: ${name}`)
        onProgress({ kind: 'stage', command, step, name })
      },
      percent: (value) => onProgress({ kind: 'percent', command, step, value }),
      line: (text) => {
        this.#remember(`${step}: ${text}`)
        onProgress({ kind: 'line', command, step, text })
      },
    }
  }

  #remembering(command: string): Logger {
    const { logger } = this.#options
    return (level, message, fields) => {
      this.#remember(message)
      logger(level, message, { command, ...fields })
    }
  }

  #remember(line: string): void {
    this.#log.push(`${new Date(this.#options.clock.now()).toISOString()} ${line}`)
    if (this.#log.length > REMEMBERED_LINES) this.#log.shift()
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
  onProgress(progress: AgentProgress): void
  readonly standalone: boolean
  readonly ignoreBootloaderFailure: boolean
  images(): ImageRules
  node(): JsonObject
  readonly nodeAgain?: () => Promise<JsonObject | null>
  seen(node: JsonObject): void
  commands(): readonly CommandRecord[]
}

function stepName({ step }: Readonly<Record<string, unknown>>): string | undefined {
  const name: unknown = typeof step === 'object' && step !== null && 'step' in step ? step.step : undefined
  return typeof name === 'string' ? name : undefined
}

/**
 * Runs a command to its end; never rejects. What it throws becomes its error: IPA's own classes as they are, everything
 * else as a failed execution. A text it returns is wrapped, for asynchronous commands with their name in front.
 */
async function settle(
  name: string,
  command: ExtensionCommand,
  params: Readonly<Record<string, unknown>>,
  context: CommandContext,
): Promise<Outcome> {
  try {
    checkParameters(name, command, params)
    const value = asJson(name, await command.run(params, context))
    const text = command.kind === 'async' ? `${name}: ${String(value)}` : value
    return { status: 'SUCCEEDED', error: null, result: typeof value === 'string' ? { result: text } : value }
  } catch (thrown) {
    const failure = failed(thrown)
    return command.kind === 'sync' && isRefusal(thrown) ? { ...failure, refusal: thrown } : failure
  }
}

/** IPA's content errors: those of whoever asked. */
const isRefusal = (error: unknown): error is AgentError => error instanceof AgentError && error.code === 400

/** How a command ended that threw. */
function failed(thrown: unknown): Outcome {
  const status = thrown instanceof ManagersChanged ? 'CLEAN_VERSION_MISMATCH' : 'FAILED'
  return { status, error: asAgentError(thrown).toWire(), result: null }
}

function asAgentError(thrown: unknown): AgentError {
  if (thrown instanceof AgentError) return thrown
  if (thrown instanceof StepError) return new AgentError(thrown.type ?? 'CommandExecutionError', thrown.details)
  return new AgentError('CommandExecutionError', errorChain(thrown).join(': '))
}

/** Results are kept and sent as JSON; one that cannot be would otherwise break the list that holds it, as in IPA. */
function asJson(name: string, value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value ?? null)) as unknown
  } catch (cause) {
    throw new AgentError('CommandExecutionError', `${name} returned what is not JSON: ${errorChain(cause).join(': ')}`)
  }
}

/** IPA fails here with a Python TypeError, and for synchronous commands breaks its command list with it; we only fail. */
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
