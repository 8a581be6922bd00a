import { contained, type Clock, type Logger, type Probe } from '../runtime/index.js'
import type { ImageRules, Progress } from '../steps/index.js'
import type { Target } from '../targets/index.js'
import { AgentError, type Inventory, type JsonObject } from '../wire/index.js'
import {
  failed,
  isRefusal,
  settle,
  type ExtensionCommand,
  type Outcome,
  type Validation,
} from './extensions/extension.js'
import { findCommand, splitName } from './extensions/index.js'
import { followedTarget } from './followed-target.js'
import type { Managers } from './managers.js'
import { unlessAborted } from './unless-aborted.js'
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
