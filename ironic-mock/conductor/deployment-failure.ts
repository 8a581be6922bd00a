import type { JsonObject } from '../../wire/index.js'
import { stepName } from './cleaning-failure.js'
import type { Turn } from './turn.js'
import { wipeDeployment } from './wipe.js'

/** The end of a deployment that went wrong. The machine stays as it is, powered, as recorded. */
export function deployFailed(turn: Turn, error: string): void {
  turn.fail(error, 'deploying')
  wipeDeployment(turn)
  turn.process('fail')
  turn.rest()
}

/** A step failed in the agent: its logs are fetched first. */
export function deployStepFailed(turn: Turn, error: string): void {
  turn.run([{ kind: 'agent-logs' }], 'deployment.logged', { error })
}

export const deploymentLogged = (turn: Turn, memo: { error: string }): void => deployFailed(turn, memo.error)

/** `abort` in `wait call-back`. */
export function abortDeployment(turn: Turn): void {
  const step: JsonObject = turn.node.deploy_step
  const during = step.step ? ` during or after the completion of step "${stepName(step)}"` : ''
  turn.fail(`By request, the deploy operation was aborted${during}`, 'deploying')
  wipeDeployment(turn)
  turn.process('abort')
  turn.rest()
}
