import type { StepKind } from '../../../../wire/index.js'
import { fastTrackable } from '../../agents/fast-track.js'
import type { Turn } from '../../core/turn.js'

/** What was known of the ramdisk that is gone now (Ironic's source). */
export function wipeAgent(turn: Turn): void {
  // What was told to the ramdisk before it booted, it still knows after the next boot.
  if (!turn.info.agent_secret_token_pregenerated) turn.dropInfo('agent_secret_token')
  turn.dropInfo(
    'agent_url',
    'agent_cached_deploy_steps',
    'agent_cached_clean_steps',
    'agent_verify_ca',
    'agent_start_attempted',
  )
  turn.heartbeatWaits(false)
}

/** Forgets how to reach the agent and keeps what it could do, as recorded of a failed cleaning step. */
export function wipeAgentAccess(turn: Turn): void {
  turn.dropInfo('agent_secret_token', 'agent_secret_token_pregenerated', 'agent_url', 'agent_verify_ca')
  turn.heartbeatWaits(false)
}

/** The marks that a kind of work leaves while it goes on. */
export function wipeFlags(turn: Turn, kind: StepKind): void {
  const rebooted = { deploy: 'deployment', clean: 'cleaning', service: 'servicing' }[kind]
  turn.dropInfo(`${rebooted}_reboot`, `${rebooted}_polling`, `skip_current_${kind}_step`, `${kind}_step_index`)
}

export function wipeDeployment(turn: Turn): void {
  wipeDeploymentPlan(turn)
  wipeAgent(turn)
}

export function wipeDeploymentPlan(turn: Turn): void {
  turn.node.deploy_step = {}
  turn.setInfo({ deploy_steps: null })
  turn.dropInfo('user_deploy_steps', 'steps_validated')
  wipeFlags(turn, 'deploy')
}

/** An agent that the next operation may use stays known. */
export function wipeCleaning(turn: Turn): void {
  if (!fastTrackable(turn)) wipeAgentAccess(turn)
  wipeCleaningPlan(turn)
}

export function wipeCleaningPlan(turn: Turn): void {
  turn.node.clean_step = {}
  turn.setInfo({ clean_steps: null })
  turn.dropInfo('cleaning_disable_ramdisk', 'declarative_cleaning', 'agent_cached_clean_steps', 'steps_validated')
  turn.dropInfo('agent_start_attempted')
  wipeFlags(turn, 'clean')
}

/** No agent outlives servicing, so it is always forgotten. */
export function wipeServicing(turn: Turn): void {
  wipeAgentAccess(turn)
  turn.node.service_step = {}
  turn.setInfo({ service_steps: null })
  turn.dropInfo('service_disable_ramdisk', 'agent_cached_service_steps', 'steps_validated', 'agent_start_attempted')
  wipeFlags(turn, 'service')
}
