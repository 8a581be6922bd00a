import { adoptionContinuations } from '../flows/verify/adoption.js'
import { cleaningContinuations } from '../flows/clean/cleaning.js'
import { deploymentContinuations } from '../flows/deploy/deployment.js'
import { hardwareContinuations, startHardwareChange } from '../hardware/hardware-change.js'
import { applyReport } from '../hardware/hardware-report.js'
import { inspectionContinuations, receiveInventory } from '../flows/inspect/inspection.js'
import { applyPower, powerContinuations, startPowerChange } from '../hardware/power.js'
import { rescueContinuations, unrescueContinuations } from '../flows/rescue/rescue.js'
import { servicingContinuations } from '../flows/service/servicing.js'
import { teardownContinuations } from '../flows/teardown/teardown.js'
import { verificationContinuations } from '../flows/verify/verification.js'
import type { Continuation, FlowName } from './continuation.js'
import type { Continuations } from './continuations.js'
import type { Job, EffectOutcome } from './effects.js'
import type { ConductorEvent } from './conductor-events.js'
import { applyBmcChange } from '../agents/boot-preparation.js'
import { followHeartbeat, receiveHeartbeat } from '../agents/heartbeat.js'
import { answerLookup } from '../agents/lookup.js'
import { setMaintenance } from '../records/maintenance.js'
import { warnOfMissingPort } from '../flows/clean/missing-port.js'
import { powerRecovered, powerSeen } from '../hardware/power-sync.js'
import { recover } from './restart.js'
import { deadlinePassed } from './deadline-passed.js'
import { NodeTask, type Reaction, type Situation } from './node-task.js'
import { applyVerb } from './verbs.js'
import { ironicErrors } from '../../../base/wire/index.js'

/**
 * Computes the reaction to an event: changes of the node, the job that follows, deadlines, history. A pure function, since
 * it runs again when the node changed before the reaction was committed.
 *
 * @throws IronicError for an impossible request of a client; then nothing changes
 */
export function react(situation: Situation, event: ConductorEvent): Reaction {
  const isBootc = event.kind === 'verb' && event.imageIsBootc
  const task = new NodeTask(isBootc ? { ...situation, imageIsBootc: true } : situation)
  applyEvent(task, event)
  warnOfMissingPort(task)
  return task.reaction()
}

function applyEvent(task: NodeTask, event: ConductorEvent): void {
  const { node } = task
  switch (event.kind) {
    case 'verb':
      return applyVerb(task, event.request)
    case 'power':
      if (node.reservation !== null) throw ironicErrors.nodeLocked(node.uuid, node.reservation)
      return startPowerChange(task, event.target, event.timeout)
    case 'maintenance':
      return setMaintenance(task, event.on, event.reason)
    case 'lookup':
      return answerLookup(task, event.token)
    case 'heartbeat':
      return receiveHeartbeat(task, event.heartbeat)
    case 'inventory':
      if (node.provision_state !== 'inspect wait') throw ironicErrors.resourceNotFound()
      if (node.reservation !== null) throw ironicErrors.nodeLocked(node.uuid, node.reservation)
      return receiveInventory(task, event.data, event.token)
    case 'hardware':
      return startHardwareChange(task, event.request)
    case 'outcome':
      return continueJob(task, event.job, event.outcome)
    case 'deadline':
      return deadlinePassed(task, event.deadline)
    case 'released':
      return followHeartbeat(task)
    case 'restarted':
      return recover(task, event.job, event.goesOn)
    case 'power-seen':
      return powerSeen(task, event)
    case 'power-recovered':
      return powerRecovered(task, event.power)
  }
}

const FLOWS: { readonly [Flow in FlowName]: Continuations<Flow> } = {
  adoption: adoptionContinuations,
  cleaning: cleaningContinuations,
  deployment: deploymentContinuations,
  hardware: hardwareContinuations,
  inspection: inspectionContinuations,
  power: powerContinuations,
  rescue: rescueContinuations,
  servicing: servicingContinuations,
  teardown: teardownContinuations,
  unrescue: unrescueContinuations,
  verification: verificationContinuations,
}

type AnyContinuation = (task: NodeTask, outcome: EffectOutcome, memo: Job['memo']) => void

/** Loses the type of each memo, which {@link NodeTask.run} has checked. */
const BY_NAME = FLOWS as unknown as Partial<Record<string, Partial<Record<string, AnyContinuation>>>>
const continuationOf = ({ flow, after }: Continuation): AnyContinuation | undefined => BY_NAME[flow]?.[after]

/** True when this version has a continuation for a job, which an earlier version may have stored. */
export const isKnownJob = ({ then }: Job): boolean => typeof then === 'object' && continuationOf(then) !== undefined

/** Reacts to the end of an effect: runs the next of its chain, or continues the flow. */
function continueJob(task: NodeTask, job: Job, outcome: EffectOutcome): void {
  applyPower(task, job.effect, outcome)
  if (outcome.ok && outcome.kind === 'hardware-report' && outcome.value) applyReport(task, outcome.value)
  if (outcome.ok && job.effect.kind === 'bmc-change') applyBmcChange(task, job.effect.change)
  const [next, ...rest] = job.rest
  if (outcome.ok && next) return task.runAgain({ ...job, effect: next, rest })
  const proceed = continuationOf(job.then)
  if (!proceed) throw new Error(`the ${job.then.flow} flow does not continue after ${job.then.after}`)
  proceed(task, outcome, job.memo)
}
