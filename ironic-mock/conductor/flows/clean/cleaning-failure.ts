import { restoreDeployInterface } from '../verify/autodetect.js'
import { usesAgent } from '../../steps/driver-steps.js'
import type { EffectBody, Outcome } from '../../core/effects.js'
import { fastTracked } from '../../agents/fast-track.js'
import { stepName } from '../../steps/step-name.js'
import type { Turn } from '../../core/turn.js'
import { wipeAgentAccess, wipeCleaning, wipeFlags } from '../teardown/wipe.js'

const OFF: EffectBody = { kind: 'power', target: 'power off' }

/** Whether there is a ramdisk to switch off, on a machine that may be off. */
const hasRamdisk = ({ node }: Turn): boolean => usesAgent(node) && !node.disable_power_off

interface Leaving {
  /** Switch the ramdisk off first, unless somebody should look at what a step left behind. */
  tearDown: boolean
}

/**
 * The end of a cleaning that went wrong. When a step had begun nobody knows what it left behind: the node goes out of
 * service as it is, powered, until somebody looks.
 */
export function cleanFailed(turn: Turn, error: string, { tearDown }: Leaving = { tearDown: true }): void {
  const { node, policy } = turn
  const begun = node.clean_step.step !== undefined
  if (begun) {
    node.fault = 'clean failure'
    node.maintenance = true
    node.maintenance_reason ??= error
  }
  const memo = { error }
  const off = tearDown && hasRamdisk(turn) && node.fault !== 'clean failure' && !fastTracked(turn)
  if (off || policy.powerOffInCleanFail) return turn.run([OFF], 'cleaning.failed', memo)
  settle(turn, memo)
}

export function cleaningFailedOff(turn: Turn, outcome: Outcome, memo: Failed): void {
  const also = outcome.ok ? '' : `. Also Failed to tear down cleaning on node ${turn.uuid}, reason: ${outcome.error}`
  settle(turn, { error: memo.error + also })
}

interface Failed {
  error: string
}

function settle(turn: Turn, { error }: Failed): void {
  const { node } = turn
  turn.fail(error, 'cleaning')
  restoreDeployInterface(turn)
  node.clean_step = {}
  wipeFlags(turn, 'clean')
  wipeAgentAccess(turn)
  if (node.provision_state !== 'clean failed') turn.process('fail')
  turn.rest()
}

/** The agent's logs are fetched first, as far as it can be reached. */
export function cleanFailedLogged(turn: Turn, error: string): void {
  if (turn.info.cleaning_disable_ramdisk === true) return cleanFailed(turn, error)
  turn.run([{ kind: 'agent-logs' }], 'cleaning.logged', { error })
}

export const cleaningLogged = (turn: Turn, memo: { error: string }): void => cleanFailed(turn, memo.error)

/** Nobody reported: the state says so at once. */
export function timeOutCleaning(turn: Turn, error: string): void {
  turn.node.last_error = error
  turn.process('fail')
  cleanFailed(turn, error)
}

export function abortError(turn: Turn): string {
  const step = turn.node.clean_step
  const during = step.step ? ` during or after the completion of step "${stepName(step)}"` : ''
  return `By request, the clean operation was aborted${during}`
}

/** `abort`, when nothing forbids it: the state says so at once, the machine is switched off after. */
export function abortCleaning(turn: Turn): void {
  turn.node.last_error = abortError(turn)
  turn.process('abort')
  tearDownAborted(turn)
}

/** The same once a step has ended that could not be interrupted. */
export function abortCleaningAfter(turn: Turn): void {
  turn.node.last_error = abortError(turn)
  turn.process('fail')
  tearDownAborted(turn)
}

function tearDownAborted(turn: Turn): void {
  turn.run([hasRamdisk(turn) ? OFF : { kind: 'proceed' }], 'cleaning.aborted')
}

export function cleaningAborted(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok)
    return cleanFailed(turn, 'Failed to tear down cleaning after aborting the operation', { tearDown: false })
  turn.node.last_error = abortError(turn)
  wipeCleaning(turn)
  restoreDeployInterface(turn)
  turn.rest()
}
