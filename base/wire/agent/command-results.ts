import type { AdvertisedStep, StepKind } from '../step-kinds.js'

/**
 * Where a command of the agent stands. The last one is what all three kinds of step answer when the hardware managers
 * changed since Ironic asked for their steps; its name dates from when there were clean steps only.
 */
export const COMMAND_STATUSES = ['RUNNING', 'SUCCEEDED', 'FAILED', 'CLEAN_VERSION_MISMATCH'] as const
export type CommandStatus = (typeof COMMAND_STATUSES)[number]

/** An error inside a command result: IPA's class name, its HTTP code, its fixed sentence and what was special. */
export interface CommandError {
  type: string
  code: number
  message: string
  details: string
}

/**
 * A command as the agent reports it: always these five keys, HTTP status 200 also when it failed.
 * `command_name` has no extension in front (`execute_deploy_step`), except where a synchronous command failed.
 */
export interface CommandResult {
  id: string
  command_name: string
  command_status: CommandStatus
  command_error: CommandError | null
  command_result: unknown
}

export interface CommandList {
  /** Oldest first, all since the agent's start. */
  commands: CommandResult[]
}

/** Body of `POST /v1/commands/`. */
export interface CommandRequest {
  /** `extension.command` */
  name: string
  params: Record<string, unknown>
}

/** `hardware_manager_version` of `get_*_steps`, stored by Ironic and sent back as `*_version` with every step. */
export type ManagerVersions = Record<string, string>

/** Result of `clean.get_clean_steps` and its sisters; steps by class name of their hardware manager. */
export type GetStepsResult<K extends StepKind> = { [P in K as `${P}_steps`]: Record<string, AdvertisedStep[]> } & {
  hardware_manager_version: ManagerVersions
}
