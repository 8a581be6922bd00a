import { restoreDeployInterface } from '../verify/autodetect-interface.js'
import type { FlowMemos } from '../../core/continuation.js'
import type { EffectBody, EffectOutcome } from '../../core/effects.js'
import { bootInstance } from '../../agents/boot-ramdisk.js'
import { ejectRamdisk } from '../../agents/eject-ramdisk.js'
import { formatStepName } from '../../steps/step-name.js'
import type { NodeTask } from '../../core/node-task.js'
import { wipeAgentAccess, wipeFlags, wipeServicing } from '../teardown/wipe.js'

const OFF: EffectBody = { kind: 'power', target: 'power off' }

interface FailureOptions {
  /** Boots the instance first; false leaves the result of a step for inspection by an operator. */
  tearDown: boolean
}

/** Fails the servicing; after a step had started the node goes into maintenance. */
export function serviceFailed(task: NodeTask, error: string, { tearDown }: FailureOptions = { tearDown: true }): void {
  const { node, conf } = task
  const begun = node.service_step.step !== undefined
  if (begun) {
    node.fault = 'service failure'
    node.maintenance = true
    node.maintenance_reason ??= error
  }
  const memo = { error }
  if (conf.powerOffInServiceFail) return task.run([OFF], { flow: 'servicing', after: 'failure-tear-down' }, memo)
  if (!tearDown || task.info.agent_start_attempted !== true) return endFailedServicing(task, memo)
  const last: [EffectBody, ...EffectBody[]] = begun ? ejectRamdisk(task) : bootInstance(task)
  task.run(last, { flow: 'servicing', after: 'failure-tear-down' }, memo)
}

interface Failed {
  error: string
}

export function afterFailureTearDown(task: NodeTask, outcome: EffectOutcome, memo: Failed): void {
  const also = outcome.ok ? '' : '. Also failed to tear down servicing.'
  endFailedServicing(task, { error: memo.error + also })
}

function endFailedServicing(task: NodeTask, { error }: Failed): void {
  const { node } = task
  if (['servicing', 'service wait', 'service failed'].includes(node.provision_state)) {
    node.service_step = {}
    wipeFlags(task, 'service')
    wipeAgentAccess(task)
  }
  task.fail(error, 'servicing')
  restoreDeployInterface(task)
  if (node.provision_state === 'servicing' || node.provision_state === 'service wait') task.process('fail')
  task.release()
}

/** Fails the servicing for an error of the conductor, after the agent's logs are collected. */
export function serviceFailedLogged(task: NodeTask, error: string): void {
  if (task.info.service_disable_ramdisk === true) return serviceFailed(task, error)
  task.run([{ kind: 'agent-logs' }], { flow: 'servicing', after: 'failure-logs' }, { error, agentFailed: false })
}

/**
 * Fails the servicing for an error of the agent. Upstream uses the handler of deployments, so that the node keeps its step
 * and agent and does not go into maintenance, as recorded.
 */
export function serviceStepFailed(task: NodeTask, error: string): void {
  task.run([{ kind: 'agent-logs' }], { flow: 'servicing', after: 'failure-logs' }, { error, agentFailed: true })
}

export function afterFailureLogs(task: NodeTask, _: EffectOutcome, memo: FlowMemos['servicing']['failure-logs']): void {
  if (!memo.agentFailed) return serviceFailed(task, memo.error)
  task.fail(memo.error, 'deploying')
  task.process('fail')
  task.release()
}

/** Fails the servicing after the callback timeout; the state changes at once. */
export function timeOutService(task: NodeTask, error: string): void {
  task.node.last_error = error
  task.process('fail')
  serviceFailed(task, error)
}

function abortError(task: NodeTask): string {
  const step = task.node.service_step
  const during = step.step ? ` during or after the completion of step "${formatStepName(step)}"` : ''
  return `By request, the service operation was aborted${during}`
}

/** `abort`: boots the instance. From a waiting state the node passes through `service failed`. */
export function abortService(task: NodeTask): void {
  if (task.node.provision_state !== 'service failed') task.process('fail')
  task.begin('abort')
  bringBack(task)
}

/** `abort` after the end of a step that is not abortable: the node stays in `service failed`. */
export function abortServiceAfter(task: NodeTask): void {
  task.node.last_error = abortError(task)
  task.process('fail')
  bringBack(task)
}

function bringBack(task: NodeTask): void {
  const booted = task.info.agent_start_attempted === true
  task.run(booted ? bootInstance(task) : [{ kind: 'proceed' }], { flow: 'servicing', after: 'abort-tear-down' })
}

export function afterAbortTearDown(task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok)
    return serviceFailed(task, 'Failed to tear down service after aborting the operation', { tearDown: false })
  task.node.last_error = abortError(task)
  wipeServicing(task)
  restoreDeployInterface(task)
  task.release()
}
