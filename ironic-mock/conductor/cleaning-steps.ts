import type { JsonObject, RequestedStep } from '../../wire/index.js'
import { abortCleaning, cleanFailedOff, cleanStepFailed, stepName } from './cleaning-failure.js'
import { isManual, planCleaning } from './cleaning-plan.js'
import { agentProgress } from './agent-progress.js'
import { isOutOfBand, usesAgent } from './driver-steps.js'
import { valueOf, type EffectBody, type Outcome } from './effects.js'
import { rememberSteps } from './in-band-steps.js'
import { bootRamdisk } from './ramdisk.js'
import type { Turn } from './turn.js'
import { wipeCleaning } from './wipe.js'

/** Runs the steps from `index` on, until one needs the agent or all are done. */
export function runCleanStep(turn: Turn, index: number): void {
  const steps = (turn.info.clean_steps ?? []) as JsonObject[]
  for (let at = index; at < steps.length; at++) {
    const step = steps[at]!
    turn.node.clean_step = step
    turn.setInfo({ clean_step_index: at })
    // A fake interface's step is done when it is asked for.
    if (!isOutOfBand(turn.node, 'clean', step as RequestedStep)) return send(turn, step)
  }
  finish(turn)
}

function send(turn: Turn, step: JsonObject): void {
  turn.run([{ kind: 'agent-step', of: 'clean', step: step as RequestedStep }], 'cleaning.sent')
}

export function cleaningSent(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok && outcome.reason === 'agent busy') turn.setInfo({ skip_current_clean_step: false })
  else if (!outcome.ok)
    return cleanStepFailed(turn, `Node ${turn.uuid} failed step ${stepName(turn.node.clean_step)}: ${outcome.error}`)
  turn.process('wait')
  turn.rest()
}

/** An agent reports to a node in `clean wait`. */
export function cleaningHeartbeat(turn: Turn): void {
  if (turn.node.clean_step.step === undefined && turn.info.cleaning_reboot !== true) {
    turn.process('resume')
    turn.run([{ kind: 'agent-steps', of: 'clean' }], 'cleaning.steps')
  } else turn.run([{ kind: 'agent-commands' }], 'cleaning.polled')
}

export function cleaningSteps(turn: Turn, outcome: Outcome): void {
  const failing = (problem: string): void =>
    cleanFailedOff(turn, `Node failed to start the first cleaning step: ${problem}`)
  if (!outcome.ok) return failing(outcome.error)
  rememberSteps(turn, 'clean', valueOf(outcome, 'agent-steps'))
  const problem = planCleaning(turn)
  if (problem !== undefined) return failing(problem)
  runCleanStep(turn, 0)
}

export function cleaningPolled(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) {
    // Not reachable just now; the next heartbeat tries again until the time limit.
    turn.warn(`the agent of node ${turn.uuid} cannot be asked about its commands: ${outcome.error}`)
    return turn.rest()
  }
  const step = turn.node.clean_step
  const { names, last } = valueOf(outcome, 'agent-commands')
  // The agent was busy with something else when the step was sent.
  if (turn.info.skip_current_clean_step === false && last?.command_status !== 'RUNNING') return repeat(turn)
  const progress = agentProgress('clean', step, names, last)
  switch (progress.kind) {
    case 'running':
      turn.touch()
      return turn.rest()
    case 'fresh':
      return fresh(turn, progress.empty)
    case 'done':
      return stepDone(turn)
    case 'mismatch':
      return turn.run([{ kind: 'agent-steps', of: 'clean' }], 'cleaning.refreshed')
    case 'failed':
      return cleanStepFailed(turn, `Clean step ${stepName(step)} failed on node ${turn.uuid}. ${progress.error}`)
    case 'unknown':
      return cleanStepFailed(
        turn,
        `Agent returned unknown status for clean step ${stepName(step)} on node ${turn.uuid} : ${progress.error}.`,
      )
  }
}

/** The agent knows of no step: it was booted for the next one, or lost its memory, which upstream takes for the same. */
function fresh(turn: Turn, empty: boolean): void {
  if (turn.info.cleaning_reboot !== true && empty) {
    const lost = `the agent of node ${turn.uuid} has an empty command list in the middle of clean step ${stepName(turn.node.clean_step)}`
    if (turn.policy.strictSteps) return cleanStepFailed(turn, `${lost}; its outcome is unknown`)
    turn.warn(`${lost}; going on with the next one, as Ironic does`)
  }
  turn.process('resume')
  turn.dropInfo('cleaning_reboot')
  runCleanStep(turn, index(turn) + 1)
}

function repeat(turn: Turn): void {
  turn.process('resume')
  turn.dropInfo('skip_current_clean_step')
  runCleanStep(turn, index(turn))
}

function stepDone(turn: Turn): void {
  const step = turn.node.clean_step
  if (step.abort_after === true) return abortCleaning(turn)
  if (step.reboot_requested === true) {
    turn.setInfo({ cleaning_reboot: true })
    return turn.run(bootRamdisk(turn), 'cleaning.rebooted')
  }
  turn.process('resume')
  runCleanStep(turn, index(turn) + 1)
}

export function cleaningRebooted(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok)
    return cleanStepFailed(
      turn,
      `Reboot requested by clean step ${stepName(turn.node.clean_step)} failed for node ${turn.uuid}: ${outcome.error}`,
    )
  turn.touch()
  turn.rest()
}

/** The agent's managers changed under way: manual cleaning repeats the step, automated begins anew. */
export function cleaningRefreshed(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) return cleanStepFailed(turn, `Could not restart cleaning on node ${turn.uuid}: ${outcome.error}.`)
  rememberSteps(turn, 'clean', valueOf(outcome, 'agent-steps'))
  turn.process('resume')
  if (isManual(turn)) return runCleanStep(turn, index(turn))
  const problem = planCleaning(turn)
  if (problem !== undefined)
    return cleanFailedOff(turn, `Could not restart automated cleaning on node ${turn.uuid}: ${problem}.`)
  runCleanStep(turn, 0)
}

const index = (turn: Turn): number => Number(turn.info.clean_step_index ?? 0)

function finish(turn: Turn): void {
  const booted = usesAgent(turn.node) && turn.info.cleaning_disable_ramdisk !== true
  const last: EffectBody = booted ? { kind: 'power', target: 'power off' } : { kind: 'proceed' }
  wipeCleaning(turn)
  turn.run([last], 'cleaning.cleaned')
}

export function cleaningCleaned(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok)
    return cleanFailedOff(turn, `Failed to tear down from cleaning for node ${turn.uuid}: ${outcome.error}`, {
      maintenance: true,
    })
  const manual = isManual(turn)
  const [what, type] = manual ? ['Manual', 'manual_cleaning_end'] : ['Automated', 'automated_cleaning_end']
  // The list is empty by then in Ironic too.
  turn.record('INFO', `${what} Cleaning completed successfully with steps=[]`, type!)
  turn.process(manual || turn.node.retired ? 'manage' : 'done')
  turn.rest()
}
