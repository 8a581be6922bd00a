import { restoreDeployInterface } from '../verify/autodetect.js'
import { abortCleaningAfter, cleanFailed, cleanFailedLogged } from './cleaning-failure.js'
import { isManual, planCleaning } from './cleaning-plan.js'
import { usesAgent } from '../../steps/driver-steps.js'
import type { EffectBody, Outcome } from '../../core/effects.js'
import { fastTracked } from '../../agents/fast-track.js'
import { lookedAt } from '../../power/hardware-report.js'
import { recordEnd, type StepFlow } from '../../steps/step-flow.js'
import type { Turn } from '../../core/turn.js'
import { wipeCleaning } from '../teardown/wipe.js'

export const CLEANING: StepFlow = {
  kind: 'clean',
  name: 'cleaning',
  title: (turn) => (isManual(turn) ? 'manual cleaning' : 'automated cleaning'),
  plan: planCleaning,
  failStart: (turn, problem) => cleanFailed(turn, `Node failed to start the first cleaning step: ${problem}`),
  failRun: cleanFailedLogged,
  failWatch: cleanFailed,
  failStep: cleanFailedLogged,
  finish,
  abortAfter: abortCleaningAfter,
}

function finish(turn: Turn): void {
  const { node } = turn
  const booted = usesAgent(node) && turn.info.cleaning_disable_ramdisk !== true
  const kept = fastTracked(turn)
  node.clean_step = {}
  wipeCleaning(turn)
  turn.run(lookedAt(node, booted && !kept ? tearDown(turn) : { kind: 'proceed' }), 'cleaning.cleaned')
}

/** What ends a ramdisk: off, or where that is not allowed anew, into whatever the machine has. */
const tearDown = ({ node }: Turn): EffectBody =>
  node.disable_power_off
    ? { kind: 'power', target: 'rebooting', boot: { kind: 'disk' } }
    : { kind: 'power', target: 'power off' }

export function cleaningCleaned(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) {
    const error = `Failed to tear down from cleaning for node ${turn.uuid}, reason: ${outcome.error}`
    return cleanFailed(turn, error, { tearDown: false })
  }
  recordEnd(CLEANING, turn)
  restoreDeployInterface(turn)
  turn.process(isManual(turn) || turn.node.retired ? 'manage' : 'done')
  turn.rest()
}
