import { textOf } from '../../../wire/index.js'
import type { CommandResult, JsonObject, StepKind } from '../../../wire/index.js'

/** What the agent's command list says of the step that should be running. */
export type AgentProgress =
  /** An agent that has just booted: nothing was run since. `empty` when not even the steps were asked for. */
  | { kind: 'fresh'; empty: boolean }
  /** Still at it, or the command has not shown up yet. */
  | { kind: 'running' }
  | { kind: 'done' }
  | { kind: 'mismatch' }
  | { kind: 'failed'; error: string }
  | { kind: 'unknown'; status: string; error: string }

/**
 * Reads the list as upstream does: only the last command counts, and a success only when it echoes the step that the
 * node is at; otherwise the new one has not started yet (Ironic's source).
 */
export function agentProgress(
  kind: StepKind,
  current: JsonObject,
  names: readonly string[],
  last: CommandResult | null,
): AgentProgress {
  const ask = `get_${kind}_steps`
  if (names.every((name) => name === ask)) return { kind: 'fresh', empty: names.length === 0 }
  if (!last || last.command_name !== `execute_${kind}_step`) return { kind: 'running' }
  const status: string = last.command_status
  switch (status) {
    case 'RUNNING':
      return { kind: 'running' }
    case 'SUCCEEDED':
      return echoes(kind, current, last) ? { kind: 'done' } : { kind: 'running' }
    case 'CLEAN_VERSION_MISMATCH':
    case 'VERSION_MISMATCH':
      return { kind: 'mismatch' }
    case 'FAILED':
      return { kind: 'failed', error: commandError(last) }
    default:
      return { kind: 'unknown', status, error: commandError(last) }
  }
}

export function echoes(kind: StepKind, current: JsonObject, result: CommandResult): boolean {
  const echoed = (result.command_result as JsonObject | null)?.[`${kind}_step`] as JsonObject | undefined
  return echoed !== undefined && echoed.interface === current.interface && echoed.step === current.step
}

/** `details`, else `message`: what users get to read. */
export function commandError({ command_error }: CommandResult): string {
  const error = command_error as { details?: unknown; message?: unknown } | string | null
  if (error === null) return 'None'
  if (typeof error === 'string') return error
  return textOf(error.details || error.message || JSON.stringify(error))
}
