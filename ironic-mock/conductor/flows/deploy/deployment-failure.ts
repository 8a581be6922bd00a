import type { JsonObject } from '../../../../base/wire/index.js'
import { unsetSecureBoot } from '../../agents/boot-preparation.js'
import { ejectRamdisk, isRamdiskEjected } from '../../agents/eject-ramdisk.js'
import type { FlowMemos } from '../../core/continuation.js'
import type { EffectBody, EffectOutcome } from '../../core/effects.js'
import { formatStepName } from '../../steps/step-name.js'
import type { NodeTask } from '../../core/node-task.js'
import { wipeDeployment } from '../teardown/wipe.js'

/** Fails the deployment, and cleans up after it. */
export function deployFailed(task: NodeTask, error: string): void {
  const [first, ...rest] = cleanUpDeployment(task)
  if (!first) return endFailedDeployment(task, error)
  task.run([first, ...rest], { flow: 'deployment', after: 'failure-clean-up' }, { error })
}

/**
 * Clean-up after a deployment that ended early: of its ramdisk, and of what was set for the instance, which a rebuild finds set
 * (ironic 39.0.0 drivers/modules/agent_base.py clean_up).
 */
const cleanUpDeployment = (task: NodeTask): EffectBody[] => [
  ...(isRamdiskEjected(task) ? ejectRamdisk(task) : []),
  ...unsetSecureBoot(task),
]

export function afterFailureCleanUp(task: NodeTask, outcome: EffectOutcome, { error }: { error: string }): void {
  const also = outcome.ok ? '' : `. Also failed to clean up due to: ${outcome.error}`
  endFailedDeployment(task, error + also)
}

function endFailedDeployment(task: NodeTask, error: string): void {
  task.fail(error, 'deploying')
  wipeDeployment(task)
  if (task.node.provision_state !== 'deploy failed') task.process('fail')
  task.release()
}

/** Fails the deployment after the callback timeout; the state changes at once. */
export function timeOutDeployment(task: NodeTask, error: string): void {
  task.node.last_error = error
  task.process('fail')
  deployFailed(task, error)
}

/** Fails the deployment after the agent's logs are collected. */
export function deployStepFailed(task: NodeTask, error: string): void {
  if (task.conf.deployLogsCollect === 'never') return deployFailed(task, error)
  task.run([{ kind: 'agent-logs' }], { flow: 'deployment', after: 'failure-logs' }, { error, off: false })
}

/** Fails the deployment, then powers the machine off, as upstream does after some failures. */
export function failDeploymentAndPowerOff(
  task: NodeTask,
  error: string,
  { logs }: { logs: boolean } = { logs: true },
): void {
  if (logs && task.conf.deployLogsCollect !== 'never')
    task.run([{ kind: 'agent-logs' }], { flow: 'deployment', after: 'failure-logs' }, { error, off: true })
  else failWithPower(task, { error })
}

export function afterFailureLogs(task: NodeTask, _: EffectOutcome, memo: FailureLogsMemo): void {
  if (memo.off) failWithPower(task, memo)
  else deployFailed(task, memo.error)
}

type FailureLogsMemo = FlowMemos['deployment']['failure-logs']

function failWithPower(task: NodeTask, { error }: { error: string }): void {
  endFailedDeployment(task, error)
  if (task.conf.powerOffAfterDeployFailure && !task.node.disable_power_off)
    task.run([{ kind: 'power', target: 'power off' }], { flow: 'deployment', after: 'failure-power-off' })
}

export function afterFailurePowerOff(task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok)
    task.warn(`node ${task.uuid} could not be switched off after its deployment failed: ${outcome.error}`)
  task.release()
}

/** `abort` in `wait call-back` or `deploy hold`. */
export const abortDeployment = (task: NodeTask): void => endByRequest(task, 'abort')

/** `abort` after the end of a step that is not abortable. */
export const abortDeploymentAfter = (task: NodeTask): void => endByRequest(task, 'fail')

function endByRequest(task: NodeTask, event: 'abort' | 'fail'): void {
  const step: JsonObject = task.node.deploy_step
  const during = step.step ? ` during or after the completion of step "${formatStepName(step)}"` : ''
  const error = `By request, the deploy operation was aborted${during}`
  task.process(event)
  task.node.last_error = error
  const [first, ...rest] = cleanUpDeployment(task)
  if (!first) return endAbortedDeployment(task, error)
  task.run([first, ...rest], { flow: 'deployment', after: 'abort-clean-up' }, { error })
}

export function afterAbortCleanUp(task: NodeTask, outcome: EffectOutcome, { error }: { error: string }): void {
  endAbortedDeployment(task, outcome.ok ? error : 'Failed to clean up deploying after aborting the operation')
}

function endAbortedDeployment(task: NodeTask, error: string): void {
  task.fail(error, 'deploying')
  wipeDeployment(task)
  task.release()
}
