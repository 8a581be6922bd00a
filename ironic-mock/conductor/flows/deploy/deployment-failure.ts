import type { JsonObject } from '../../../../wire/index.js'
import type { Outcome } from '../../core/effects.js'
import { stepName } from '../../steps/step-name.js'
import type { NodeTask } from '../../core/node-task.js'
import { wipeDeployment } from '../teardown/wipe.js'

/** The end of a deployment that went wrong. The machine stays as it is, powered, as recorded. */
export function deployFailed(task: NodeTask, error: string): void {
  task.fail(error, 'deploying')
  wipeDeployment(task)
  task.process('fail')
  task.rest()
}

/** A step failed in the agent: its logs are fetched first. */
export function deployStepFailed(task: NodeTask, error: string): void {
  if (task.policy.deployLogsCollect === 'never') return deployFailed(task, error)
  task.run([{ kind: 'agent-logs' }], 'deployment.logged', { error, off: false })
}

/** Upstream switches the machine off after some failures; after the state has said so, and without anything else coming of it. */
export function deployFailedOff(task: NodeTask, error: string, { logs }: { logs: boolean } = { logs: true }): void {
  if (logs && task.policy.deployLogsCollect !== 'never')
    task.run([{ kind: 'agent-logs' }], 'deployment.logged', { error, off: true })
  else deploymentLogged(task, { error, off: true })
}

export function deploymentLogged(task: NodeTask, { error, off }: { error: string; off: boolean }): void {
  deployFailed(task, error)
  if (off && task.policy.powerOffAfterDeployFailure && !task.node.disable_power_off)
    task.run([{ kind: 'power', target: 'power off' }], 'deployment.switched-off')
}

export function deploymentSwitchedOff(task: NodeTask, outcome: Outcome): void {
  if (!outcome.ok)
    task.warn(`node ${task.uuid} could not be switched off after its deployment failed: ${outcome.error}`)
  task.rest()
}

/** `abort` in `wait call-back`. */
export function abortDeployment(task: NodeTask): void {
  const step: JsonObject = task.node.deploy_step
  const during = step.step ? ` during or after the completion of step "${stepName(step)}"` : ''
  task.fail(`By request, the deploy operation was aborted${during}`, 'deploying')
  wipeDeployment(task)
  task.process('abort')
  task.rest()
}
