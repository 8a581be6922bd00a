import type { StepKind } from '../../../../base/wire/index.js'
import { fastTrackable } from '../../agents/fast-track.js'
import type { NodeTask } from '../../core/node-task.js'

/** Removes the fields of a ramdisk that has ended (ironic conductor/utils.py wipe_token_and_url). */
export function wipeAgent(task: NodeTask): void {
  // A token in the boot image is still valid after the next boot.
  if (!task.info.agent_secret_token_pregenerated) task.dropInfo('agent_secret_token')
  task.dropInfo(
    'agent_url',
    'agent_cached_deploy_steps',
    'agent_cached_clean_steps',
    'agent_verify_ca',
    'agent_start_attempted',
  )
  task.heartbeatWaits(false)
}

/** Removes URL and token of the agent and keeps its steps, as recorded after a failed cleaning step. */
export function wipeAgentAccess(task: NodeTask): void {
  task.dropInfo('agent_secret_token', 'agent_secret_token_pregenerated', 'agent_url', 'agent_verify_ca')
  task.heartbeatWaits(false)
}

/** Removes the progress fields of a kind of step. */
export function wipeFlags(task: NodeTask, kind: StepKind): void {
  const rebooted = { deploy: 'deployment', clean: 'cleaning', service: 'servicing' }[kind]
  task.dropInfo(`${rebooted}_reboot`, `${rebooted}_polling`, `skip_current_${kind}_step`, `${kind}_step_index`)
}

export function wipeDeployment(task: NodeTask): void {
  wipeDeploymentPlan(task)
  wipeAgent(task)
}

export function wipeDeploymentPlan(task: NodeTask): void {
  task.node.deploy_step = {}
  task.setInfo({ deploy_steps: null })
  task.dropInfo('user_deploy_steps', 'steps_validated', 'image_source')
  wipeFlags(task, 'deploy')
}

/** Removes the fields of a cleaning; with fast track the agent's fields stay for the next flow. */
export function wipeCleaning(task: NodeTask): void {
  if (!fastTrackable(task)) wipeAgentAccess(task)
  wipeCleaningPlan(task)
}

export function wipeCleaningPlan(task: NodeTask): void {
  task.node.clean_step = {}
  task.setInfo({ clean_steps: null })
  task.dropInfo('cleaning_disable_ramdisk', 'declarative_cleaning', 'agent_cached_clean_steps', 'steps_validated')
  task.dropInfo('agent_start_attempted')
  wipeFlags(task, 'clean')
}

/** Removes the fields of a servicing and of its agent, which never stays on. */
export function wipeServicing(task: NodeTask): void {
  wipeAgentAccess(task)
  task.node.service_step = {}
  task.setInfo({ service_steps: null })
  task.dropInfo(
    'service_disable_ramdisk',
    'agent_cached_service_steps',
    'steps_validated',
    'image_source',
    'agent_start_attempted',
  )
  wipeFlags(task, 'service')
}
