import type { Clock, Logger } from '../../runtime/index.js'
import type { ImageRules, Progress } from '../../steps/index.js'
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

/** Whether a value is a JSON object. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
