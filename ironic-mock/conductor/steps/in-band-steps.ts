import type { StepKind } from '../../../base/wire/index.js'
import type { EffectValues } from '../core/effects.js'
import type { NodeTask } from '../core/node-task.js'

/** Caches the agent's steps in `driver_internal_info`. */
export function rememberSteps(task: NodeTask, kind: StepKind, found: EffectValues['agent-steps']): void {
  task.setInfo({
    hardware_manager_version: found.versions,
    [`agent_cached_${kind}_steps`]: found.steps,
    [`agent_cached_${kind}_steps_refreshed`]: task.now,
  })
}
