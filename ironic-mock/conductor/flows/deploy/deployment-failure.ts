import type { JsonObject } from '../../../../wire/index.js'
import type { Outcome } from '../../core/effects.js'
import { stepName } from '../../steps/step-name.js'
import type { Turn } from '../../core/turn.js'
import { wipeDeployment } from '../teardown/wipe.js'

/** The end of a deployment that went wrong. The machine stays as it is, powered, as recorded. */
export function deployFailed(turn: Turn, error: string): void {
  turn.fail(error, 'deploying')
  wipeDeployment(turn)
  turn.process('fail')
  turn.rest()
}

/** A step failed in the agent: its logs are fetched first. */
export function deployStepFailed(turn: Turn, error: string): void {
  if (turn.policy.deployLogsCollect === 'never') return deployFailed(turn, error)
  turn.run([{ kind: 'agent-logs' }], 'deployment.logged', { error, off: false })
}

/** Upstream switches the machine off after some failures; after the state has said so, and without anything else coming of it. */
export function deployFailedOff(turn: Turn, error: string, { logs }: { logs: boolean } = { logs: true }): void {
  if (logs && turn.policy.deployLogsCollect !== 'never')
    turn.run([{ kind: 'agent-logs' }], 'deployment.logged', { error, off: true })
  else deploymentLogged(turn, { error, off: true })
}

export function deploymentLogged(turn: Turn, { error, off }: { error: string; off: boolean }): void {
  deployFailed(turn, error)
  if (off && turn.policy.powerOffAfterDeployFailure && !turn.node.disable_power_off)
    turn.run([{ kind: 'power', target: 'power off' }], 'deployment.switched-off')
}

export function deploymentSwitchedOff(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok)
    turn.warn(`node ${turn.uuid} could not be switched off after its deployment failed: ${outcome.error}`)
  turn.rest()
}

/** `abort` in `wait call-back`. */
export function abortDeployment(turn: Turn): void {
  const step: JsonObject = turn.node.deploy_step
  const during = step.step ? ` during or after the completion of step "${stepName(step)}"` : ''
  turn.fail(`By request, the deploy operation was aborted${during}`, 'deploying')
  wipeDeployment(turn)
  turn.process('abort')
  turn.rest()
}
