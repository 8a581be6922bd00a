import { restoreDeployInterface } from '../verify/autodetect-interface.js'
import { usesAgent } from '../../steps/driver-steps.js'
import type { EffectBody, EffectOutcome } from '../../core/effects.js'
import { endRamdisk } from '../../agents/boot-ramdisk.js'
import { isRamdiskEjected } from '../../agents/eject-ramdisk.js'
import { fastTracked } from '../../agents/fast-track.js'
import { formatStepName } from '../../steps/step-name.js'
import type { NodeTask } from '../../core/node-task.js'
import { wipeAgentAccess, wipeCleaning, wipeFlags } from '../teardown/wipe.js'

const OFF: EffectBody = { kind: 'power', target: 'power off' }

/** True when a ramdisk may run that can be powered off. */
const hasRamdisk = ({ node }: NodeTask): boolean => usesAgent(node) && !node.disable_power_off

interface FailureOptions {
  /** Powers the ramdisk off first; false leaves the result of a step for inspection by an operator. */
  tearDown: boolean
}

/**
 * Fails the cleaning. After a step had started the node goes into maintenance and stays on, since the state of its disks
 * is unknown, unless its ramdisk is a medium that is ejected.
 */
export function cleanFailed(task: NodeTask, error: string, { tearDown }: FailureOptions = { tearDown: true }): void {
  const { node, conf } = task
  const begun = node.clean_step.step !== undefined
  if (begun) {
    node.fault = 'clean failure'
    node.maintenance = true
    node.maintenance_reason ??= error
  }
  const memo = { error }
  const leavesPower = node.fault === 'clean failure' && !isRamdiskEjected(task)
  const off = tearDown && hasRamdisk(task) && !leavesPower && !fastTracked(task)
  if (off) return task.run(endRamdisk(task), { flow: 'cleaning', after: 'failure-tear-down' }, memo)
  if (conf.powerOffInCleanFail) return task.run([OFF], { flow: 'cleaning', after: 'failure-tear-down' }, memo)
  endFailedCleaning(task, memo)
}

export function afterFailureTearDown(task: NodeTask, outcome: EffectOutcome, memo: Failed): void {
  const also = outcome.ok ? '' : `. Also Failed to tear down cleaning on node ${task.uuid}, reason: ${outcome.error}`
  endFailedCleaning(task, { error: memo.error + also })
}

interface Failed {
  error: string
}

function endFailedCleaning(task: NodeTask, { error }: Failed): void {
  const { node } = task
  task.fail(error, 'cleaning')
  restoreDeployInterface(task)
  node.clean_step = {}
  wipeFlags(task, 'clean')
  wipeAgentAccess(task)
  if (node.provision_state !== 'clean failed') task.process('fail')
  task.release()
}

/** Fails the cleaning after the agent's logs are collected, if the agent answers. */
export function cleanFailedLogged(task: NodeTask, error: string): void {
  if (task.info.cleaning_disable_ramdisk === true) return cleanFailed(task, error)
  task.run([{ kind: 'agent-logs' }], { flow: 'cleaning', after: 'failure-logs' }, { error })
}

export const afterFailureLogs = (task: NodeTask, _: EffectOutcome, memo: Failed): void => cleanFailed(task, memo.error)

/** Fails the cleaning after the callback timeout; the state changes at once. */
export function timeOutCleaning(task: NodeTask, error: string): void {
  task.node.last_error = error
  task.process('fail')
  cleanFailed(task, error)
}

function abortError(task: NodeTask): string {
  const step = task.node.clean_step
  const during = step.step ? ` during or after the completion of step "${formatStepName(step)}"` : ''
  return `By request, the clean operation was aborted${during}`
}

/** `abort`: the state changes at once, the power off follows. */
export function abortCleaning(task: NodeTask): void {
  task.node.last_error = abortError(task)
  task.process('abort')
  tearDownAborted(task)
}

/** `abort` after the end of a step that is not abortable. */
export function abortCleaningAfter(task: NodeTask): void {
  task.node.last_error = abortError(task)
  task.process('fail')
  tearDownAborted(task)
}

function tearDownAborted(task: NodeTask): void {
  task.run(hasRamdisk(task) ? endRamdisk(task) : [{ kind: 'proceed' }], { flow: 'cleaning', after: 'abort-tear-down' })
}

export function afterAbortTearDown(task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok)
    return cleanFailed(task, 'Failed to tear down cleaning after aborting the operation', { tearDown: false })
  task.node.last_error = abortError(task)
  wipeCleaning(task)
  restoreDeployInterface(task)
  task.release()
}
