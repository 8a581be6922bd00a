import type { StepKind } from '../../../wire/index.js'
import type { EffectValues } from '../core/effects.js'
import type { NodeTask } from '../core/node-task.js'

/** Keeps what the agent says it can do, under the names that `driver_internal_info` has for it. */
export function rememberSteps(task: NodeTask, kind: StepKind, found: EffectValues['agent-steps']): void {
  task.setInfo({
    hardware_manager_version: found.versions,
    [`agent_cached_${kind}_steps`]: found.steps,
    [`agent_cached_${kind}_steps_refreshed`]: task.now,
  })
}
