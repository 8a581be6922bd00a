import { formatClientValue } from '../../../base/wire/index.js'
import type { CommandResult, JsonObject, StepKind } from '../../../base/wire/index.js'

/** Progress of the current step, from the agent's command list. */
export type AgentStepProgress =
  /** The agent has run no step since it booted; `empty` when its list has no command at all. */
  | { kind: 'fresh'; empty: boolean }
  /** The command runs, or is not in the list yet. */
  | { kind: 'running' }
  | { kind: 'done' }
  | { kind: 'mismatch' }
  | { kind: 'failed'; error: string }
  | { kind: 'unknown'; status: string; error: string }

/**
 * Reads the list as ironic drivers/modules/agent_base.py process_next_step does: only the last command counts, and a
 * success only when it echoes the node's current step; otherwise the current one has not started yet.
 */
export function agentProgress(
  kind: StepKind,
  current: JsonObject,
  names: readonly string[],
  last: CommandResult | null,
): AgentStepProgress {
  const ask = `get_${kind}_steps`
  if (names.every((name) => name === ask)) return { kind: 'fresh', empty: names.length === 0 }
  if (!last || last.command_name !== `execute_${kind}_step`) return { kind: 'running' }
  const status: string = last.command_status
  switch (status) {
    case 'RUNNING':
      return { kind: 'running' }
    case 'SUCCEEDED':
      return echoesStep(kind, current, last) ? { kind: 'done' } : { kind: 'running' }
    case 'CLEAN_VERSION_MISMATCH':
    case 'VERSION_MISMATCH':
      return { kind: 'mismatch' }
    case 'FAILED':
      return { kind: 'failed', error: commandError(last) }
    default:
      return { kind: 'unknown', status, error: commandError(last) }
  }
}

export function echoesStep(kind: StepKind, current: JsonObject, result: CommandResult): boolean {
  const echoed = (result.command_result as JsonObject | null)?.[`${kind}_step`] as JsonObject | undefined
  return echoed !== undefined && echoed.interface === current.interface && echoed.step === current.step
}

/** Error of a command for users: `details`, else `message`. */
export function commandError({ command_error }: CommandResult): string {
  const error = command_error as { details?: unknown; message?: unknown } | string | null
  if (error === null) return 'None'
  if (typeof error === 'string') return error
  return formatClientValue(error.details || error.message || JSON.stringify(error))
}
