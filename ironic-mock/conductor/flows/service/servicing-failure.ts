import { restoreDeployInterface } from '../verify/autodetect.js'
import type { EffectBody, Outcome } from '../../core/effects.js'
import { bootInstance } from '../../agents/ramdisk.js'
import { stepName } from '../../steps/step-name.js'
import type { Turn } from '../../core/turn.js'
import { wipeAgentAccess, wipeFlags, wipeServicing } from '../teardown/wipe.js'

const OFF: EffectBody = { kind: 'power', target: 'power off' }

interface Leaving {
  /** Bring the instance back first, unless somebody should look at what a step left behind. */
  tearDown: boolean
}

/** The end of a service that went wrong; with a step begun the node goes out of service as it is. */
export function serviceFailed(turn: Turn, error: string, { tearDown }: Leaving = { tearDown: true }): void {
  const { node, policy } = turn
  const begun = node.service_step.step !== undefined
  if (begun) {
    node.fault = 'service failure'
    node.maintenance = true
    node.maintenance_reason ??= error
  }
  const memo = { error }
  if (policy.powerOffInServiceFail) return turn.run([OFF], 'servicing.failed', memo)
  if (tearDown && !begun && turn.info.agent_start_attempted === true)
    return turn.run(bootInstance(turn), 'servicing.failed', memo)
  settle(turn, memo)
}

interface Failed {
  error: string
}

export function servicingFailedOff(turn: Turn, outcome: Outcome, memo: Failed): void {
  const also = outcome.ok ? '' : '. Also failed to tear down servicing.'
  settle(turn, { error: memo.error + also })
}

function settle(turn: Turn, { error }: Failed): void {
  const { node } = turn
  if (['servicing', 'service wait', 'service failed'].includes(node.provision_state)) {
    node.service_step = {}
    wipeFlags(turn, 'service')
    wipeAgentAccess(turn)
  }
  turn.fail(error, 'servicing')
  restoreDeployInterface(turn)
  if (node.provision_state === 'servicing' || node.provision_state === 'service wait') turn.process('fail')
  turn.rest()
}

/** What the conductor could not do; the agent's logs are fetched where there is an agent. */
export function serviceFailedLogged(turn: Turn, error: string): void {
  if (turn.info.service_disable_ramdisk === true) return serviceFailed(turn, error)
  turn.run([{ kind: 'agent-logs' }], 'servicing.logged', { error, own: true })
}

/**
 * What the agent says has failed. Upstream's handler is that of deployments, so the node keeps its step and its agent and
 * does not go into maintenance, as recorded.
 */
export function serviceStepFailed(turn: Turn, error: string): void {
  turn.run([{ kind: 'agent-logs' }], 'servicing.logged', { error, own: false })
}

export function servicingLogged(turn: Turn, memo: { error: string; own: boolean }): void {
  if (memo.own) return serviceFailed(turn, memo.error)
  turn.fail(memo.error, 'deploying')
  turn.process('fail')
  turn.rest()
}

/** Nobody reported: the state says so at once. */
export function timeOutService(turn: Turn, error: string): void {
  turn.node.last_error = error
  turn.process('fail')
  serviceFailed(turn, error)
}

function abortError(turn: Turn): string {
  const step = turn.node.service_step
  const during = step.step ? ` during or after the completion of step "${stepName(step)}"` : ''
  return `By request, the service operation was aborted${during}`
}

/** `abort`: back to the instance. From a waiting state the node passes through `service failed`. */
export function abortService(turn: Turn): void {
  if (turn.node.provision_state !== 'service failed') turn.process('fail')
  turn.begin('abort')
  bringBack(turn)
}

/** A step has ended that could not be interrupted: the node stays in `service failed`. */
export function abortServiceAfter(turn: Turn): void {
  turn.node.last_error = abortError(turn)
  turn.process('fail')
  bringBack(turn)
}

function bringBack(turn: Turn): void {
  const booted = turn.info.agent_start_attempted === true
  turn.run(booted ? bootInstance(turn) : [{ kind: 'proceed' }], 'servicing.aborted')
}

export function servicingAborted(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok)
    return serviceFailed(turn, 'Failed to tear down service after aborting the operation', { tearDown: false })
  turn.node.last_error = abortError(turn)
  wipeServicing(turn)
  restoreDeployInterface(turn)
  turn.rest()
}
