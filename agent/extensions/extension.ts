import { errorChain, type Clock, type Logger } from '../../runtime/index.js'
import { StepError, type ImageRules, type Progress } from '../../steps/index.js'
import type { Target } from '../../targets/index.js'
import { AgentError, type CommandError, type CommandStatus, type Inventory, type JsonObject } from '../../wire/index.js'
import type { Managers } from '../managers.js'
import type { Closing, CommandRecord } from '../state.js'

/** Everything a command may use. */
export interface CommandContext {
  readonly target: Target
  readonly managers: Managers
  readonly environment: Readonly<Record<string, string>>
  readonly clock: Clock
  readonly logger: Logger
  readonly progress: Progress
  /** Aborted when the agent is stopped. */
  readonly signal: AbortSignal
  inventory(): Promise<Inventory>
  /** What the agent itself has logged, oldest first. */
  ownLog(): readonly string[]
  readonly standalone: boolean
  readonly ignoreBootloaderFailure: boolean
  /** The node as it was last seen; at least its root device hints are known again after a restart. */
  node(): JsonObject
  /** What may be made of images. */
  readonly images: ImageRules
  /** Asks Ironic for the node again; null when it does not tell. Absent where there is no Ironic. */
  readonly nodeAgain?: () => Promise<JsonObject | null>
  /** A command brought the node along. */
  seen(node: JsonObject): void
  /** Ends the agent's work for this boot, once the command has been answered. */
  close(as: Closing): void
  /** All that were accepted before, oldest first. */
  commands(): readonly CommandRecord[]
  /** Runs another command as part of this one. */
  execute(fullName: string, params: Readonly<Record<string, unknown>>): Promise<Outcome>
}

/** What an asynchronous command's parameters are checked with, before it is accepted. */
export interface Validation {
  /** @throws AgentError when there is no such command */
  find(fullName: string): void
  /** Whether MD5 is good enough. */
  readonly md5: boolean
}

export interface ExtensionCommand {
  /**
   * `sync`: the request is answered when it has ended, and nothing else is accepted meanwhile. `async`: answered at once
   * as RUNNING; a heartbeat follows its end.
   */
  readonly kind: 'sync' | 'async'
  readonly required: readonly string[]
  /** Further parameters; `any` for commands that ignore what they do not know. */
  readonly optional: readonly string[] | 'any'
  /** Before an asynchronous command is answered: what it throws is told at once. */
  validate?(params: Readonly<Record<string, unknown>>, validation: Validation): void
  run(params: Readonly<Record<string, unknown>>, context: CommandContext): Promise<unknown>
}

export type Extension = Readonly<Record<string, ExtensionCommand>>

/** How a command ended. */
export interface Outcome {
  readonly status: CommandStatus
  readonly error: CommandError | null
  readonly result: unknown
  /** The request itself was wrong: it is refused, and leaves no trace in the list. */
  readonly refusal?: AgentError
}

/** Thrown by a step command whose `*_version` is not that of the managers: its status is one of its own. */
export class ManagersChanged extends AgentError {
  constructor(details: string) {
    super('VersionMismatch', details)
  }
}

/**
 * Runs a command to its end; never rejects. What it throws becomes its error: IPA's own classes as they are, everything
 * else as a failed execution. A text it returns is wrapped, for asynchronous commands with their name in front.
 */
export async function settle(
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
export const isRefusal = (error: unknown): error is AgentError => error instanceof AgentError && error.code === 400

/** How a command ended that threw. */
export function failed(thrown: unknown): Outcome {
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
