import type { HttpThrough } from '../../base/bytes/index.js'
import type { Clock, Logger } from '../../base/runtime/index.js'
import type { ImageRules, StepProgress } from '../../steps/index.js'
import type { Target } from '../../targets/index.js'
import {
  AgentError,
  type CommandError,
  type CommandStatus,
  type Inventory,
  type JsonObject,
} from '../../base/wire/index.js'
import type { Managers } from '../agent-managers.js'
import type { Closing, CommandRecord } from '../agent-phases.js'

/** Context of a running command. */
export interface CommandContext {
  readonly target: Target
  readonly managers: Managers
  readonly environment: Readonly<Record<string, string>>
  readonly clock: Clock
  readonly logger: Logger
  readonly progress: StepProgress
  /** Sees the requests of steps for files. */
  readonly downloads?: HttpThrough
  /** Aborted when the agent is stopped. */
  readonly signal: AbortSignal
  inventory(): Promise<Inventory>
  /** Log of the agent itself, oldest line first. */
  ownLog(): readonly string[]
  readonly standalone: boolean
  readonly ignoreBootloaderFailure: boolean
  readonly refusesContainers: boolean
  /** Node as last seen; after a restart at least its root device hints are known. */
  node(): JsonObject
  /** Ironic's rules for images. */
  readonly images: ImageRules
  /** Looks the node up again; null when Ironic does not answer with it. Absent without Ironic. */
  readonly nodeAgain?: () => Promise<JsonObject | null>
  /** Records the node that a command sent. */
  seen(node: JsonObject): void
  /** Ends the agent's work for this boot after the command has been answered. */
  close(as: Closing): void
  /** Earlier accepted commands, oldest first. */
  commands(): readonly CommandRecord[]
  /** Runs another command as part of this one. */
  execute(fullName: string, params: Readonly<Record<string, unknown>>): Promise<CommandOutcome>
}

/** Means for checking an asynchronous command before it is accepted. */
export interface CommandValidation {
  /** @throws AgentError when there is no such command */
  find(fullName: string): void
  /** True if MD5 checksums are allowed. */
  readonly md5: boolean
}

export interface ExtensionCommand {
  /**
   * `sync`: the request is answered when the command has ended, and no other is accepted meanwhile. `async`: the
   * request is answered at once with RUNNING, and a heartbeat follows the end.
   */
  readonly kind: 'sync' | 'async'
  readonly required: readonly string[]
  /** Optional parameters; `any` for commands that ignore unknown ones. */
  readonly optional: readonly string[] | 'any'
  /** Checks an asynchronous command before it is accepted; the answer reports the error that it throws. */
  validate?(params: Readonly<Record<string, unknown>>, validation: CommandValidation): void
  run(params: Readonly<Record<string, unknown>>, context: CommandContext): Promise<unknown>
}

export type Extension = Readonly<Record<string, ExtensionCommand>>

/** Outcome of a command. */
export interface CommandOutcome {
  readonly status: CommandStatus
  readonly error: CommandError | null
  readonly result: unknown
  /** Set when the request itself is wrong: it is refused, and the list does not show it. */
  readonly refusal?: AgentError
}

/** Thrown by a step command whose `*_version` differs from that of the managers; it has a status of its own. */
export class ManagersChanged extends AgentError {
  constructor(details: string) {
    super('VersionMismatch', details)
  }
}
