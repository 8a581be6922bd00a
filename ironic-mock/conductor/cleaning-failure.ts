import type { Outcome } from './effects.js'
import type { Turn } from './turn.js'
import { wipeAgent, wipeAgentAccess, wipeCleaning } from './wipe.js'

/** How a failure of cleaning leaves the node. */
interface Leaving {
  /** Out of service until somebody looks: a step had begun, and nobody knows what it left behind. */
  maintenance: boolean
}

/** The end of a cleaning that went wrong. */
export function cleanFailed(turn: Turn, error: string, { maintenance }: Leaving = { maintenance: false }): void {
  turn.fail(error, 'cleaning')
  if (maintenance) {
    turn.node.maintenance = true
    turn.node.maintenance_reason = error
    turn.node.fault = 'clean failure'
  }
  turn.node.clean_step = {}
  turn.dropInfo('clean_step_index')
  turn.process('fail')
  turn.rest()
}

/** The same after having switched the machine off. */
export function cleanFailedOff(turn: Turn, error: string, leaving: Leaving = { maintenance: false }): void {
  turn.run([{ kind: 'power', target: 'power off' }], 'cleaning.failed', { error, maintenance: leaving.maintenance })
}

export function cleaningFailedOff(turn: Turn, outcome: Outcome, memo: { error: string; maintenance: boolean }): void {
  wipeAgent(turn)
  const failure = outcome.ok ? '' : ` Failed to tear down from cleaning for node ${turn.uuid}: ${outcome.error}`
  cleanFailed(turn, memo.error + failure, { maintenance: memo.maintenance || !outcome.ok })
}

/** Nobody reported: the state says so at once, the machine is switched off after. */
export function timeOutCleaning(turn: Turn, error: string): void {
  cleanFailed(turn, error, { maintenance: true })
  turn.run([{ kind: 'power', target: 'power off' }], 'cleaning.timed-out')
}

export function cleaningTimedOut(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok)
    turn.warn(`node ${turn.uuid} could not be switched off after its cleaning timed out: ${outcome.error}`)
  wipeAgent(turn)
  turn.rest()
}

/** A step failed in the agent: its logs are fetched, then the node stays as it is, powered, for somebody to look. */
export function cleanStepFailed(turn: Turn, error: string): void {
  turn.run([{ kind: 'agent-logs' }], 'cleaning.logged', { error })
}

export function cleaningLogged(turn: Turn, memo: { error: string }): void {
  wipeAgentAccess(turn)
  cleanFailed(turn, memo.error, { maintenance: true })
}

/** `abort`, when nothing forbids it: the state says so at once, the machine is switched off after. */
export function abortCleaning(turn: Turn): void {
  const step = turn.node.clean_step
  const during = step.step ? ` during or after the completion of step "${stepName(step)}"` : ''
  turn.fail(`By request, the clean operation was aborted${during}`, 'cleaning')
  turn.process('abort')
  turn.run([{ kind: 'power', target: 'power off' }], 'cleaning.aborted')
}

export function cleaningAborted(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok)
    turn.fail(
      `Failed to tear down cleaning for node ${turn.uuid} after aborting the operation. Error: ${outcome.error}`,
      'cleaning',
    )
  wipeCleaning(turn)
  turn.rest()
}

export const stepName = (step: { interface?: unknown; step?: unknown }): string =>
  `${String(step.interface)}.${String(step.step)}`
