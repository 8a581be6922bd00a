import { IronicError, ironicErrors, textOf, type JsonObject } from '../../../../wire/index.js'
import { networkProblem, powerProblem } from '../../../drivers/requirements.js'
import { restoreDeployInterface, switchDeployInterface } from '../verify/autodetect.js'
import { disallowedStep } from '../../steps/disallowed-steps.js'
import { usesAgent } from '../../steps/driver-steps.js'
import type { EffectBody, Outcome } from '../../core/effects.js'
import { lookedAt } from '../../power/hardware-report.js'
import { checkUserSteps, type PlannedStep } from '../../steps/plan-steps.js'
import { bootInstance, startRamdisk } from '../../agents/ramdisk.js'
import { abortServiceAfter, serviceFailed, serviceFailedLogged, serviceStepFailed } from './servicing-failure.js'
import { recordEnd, recordStart, runSteps, type StepFlow } from '../../steps/step-flow.js'
import type { Turn } from '../../core/turn.js'
import { wipeServicing } from '../teardown/wipe.js'

export const SERVICING: StepFlow = {
  kind: 'service',
  name: 'servicing',
  title: () => 'servicing',
  plan: planService,
  failStart: (turn, problem) => serviceFailed(turn, `Node failed to start the first service step: ${problem}`),
  failRun: serviceFailedLogged,
  failWatch: serviceFailed,
  failStep: serviceStepFailed,
  finish,
  abortAfter: abortServiceAfter,
}

/**
 * `service`: the user's steps on a node in use.
 *
 * @throws IronicError 400 in maintenance, for a node that cannot be serviced or a step that the operator forbids
 */
export function startService(turn: Turn, steps: readonly PlannedStep[], disableRamdisk: boolean | null): void {
  const { node, policy } = turn
  if (node.maintenance) throw ironicErrors.nodeInMaintenance('service', node.uuid)
  const problem = powerProblem(node) ?? networkProblem(node)
  if (problem !== undefined)
    throw new IronicError(400, `Validation of node ${node.uuid} for servicing failed: ${problem}`)
  const disallowed = disallowedStep('service', steps, policy.disallowServiceSteps)
  if (disallowed) throw disallowed
  turn.begin('service')
  switchDeployInterface(turn)
  wipeServicing(turn)
  turn.setInfo({ service_steps: steps, service_disable_ramdisk: disableRamdisk })
  turn.run(lookedAt(node, { kind: 'proceed' }), 'servicing.planned')
}

/** Settles `service_steps`; gives what is wrong with them. */
function planService(turn: Turn): string | undefined {
  const { node, policy, info } = turn
  const wanted = (info.service_steps ?? []) as PlannedStep[]
  const disableRamdisk = info.service_disable_ramdisk === true
  const { errors, steps } = checkUserSteps(node, 'service', wanted, { policy, skipMissing: false, disableRamdisk })
  if (errors.length > 0) return errors.join('; ')
  const allowed = steps.filter(
    (step) => !policy.disallowServiceSteps.includes(`${textOf(step.interface)}.${textOf(step.step)}`),
  )
  node.service_step = {}
  turn.setInfo({ service_steps: allowed as JsonObject[], service_step_index: null })
  return undefined
}

/** Steps that nobody knows yet may be the agent's, so they are what a ramdisk is booted for. */
export function servicingPlanned(turn: Turn): void {
  const problem = planService(turn)
  if (problem !== undefined && turn.info.service_disable_ramdisk === true)
    // Upstream's worker dies of it and leaves the node in servicing for ever.
    return serviceFailed(turn, `Cannot service node ${turn.uuid}: ${problem}`)
  recordStart(SERVICING, turn)
  if (problem === undefined) turn.setInfo({ service_disable_ramdisk: true })
  if (problem === undefined || !usesAgent(turn.node)) return runSteps(SERVICING, turn, 0)
  turn.run([{ kind: 'power', target: 'power off' }], 'servicing.off')
}

/** That the machine is off in between does not show (recorded). */
export function servicingOff(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) return prepareFailed(turn, outcome.error)
  turn.node.power_state = 'power on'
  turn.setInfo({ agent_start_attempted: true })
  turn.run([startRamdisk(turn)], 'servicing.booted')
}

const prepareFailed = (turn: Turn, error: string): void =>
  serviceFailed(turn, `Failed to prepare node ${turn.uuid} for service: ${error}`)

export function servicingBooted(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) return prepareFailed(turn, outcome.error)
  turn.process('wait')
  turn.rest()
}

function finish(turn: Turn): void {
  const booted = usesAgent(turn.node) && turn.info.service_disable_ramdisk !== true
  wipeServicing(turn)
  recordEnd(SERVICING, turn)
  const last: [EffectBody, ...EffectBody[]] = booted ? bootInstance(turn) : [{ kind: 'proceed' }]
  turn.run(lookedAt(turn.node, ...last), 'servicing.serviced')
}

export function servicingServiced(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) {
    const error = `Failed to tear down from service for node ${turn.uuid}, reason: ${outcome.error}`
    return serviceFailed(turn, error, { tearDown: false })
  }
  restoreDeployInterface(turn)
  turn.process('done')
  turn.rest()
}
