import { adoptionContinuations } from '../flows/verify/adoption.js'
import { cleaningContinuations } from '../flows/clean/cleaning.js'
import { deploymentContinuations } from '../flows/deploy/deployment.js'
import { hardwareContinuations } from '../power/hardware-change.js'
import { applyReport } from '../power/hardware-report.js'
import { inspectionContinuations } from '../flows/inspect/inspection.js'
import { applyPower, powerContinuations } from '../power/power.js'
import { rescueContinuations, unrescueContinuations } from '../flows/rescue/rescue.js'
import { servicingContinuations } from '../flows/service/servicing.js'
import { teardownContinuations } from '../flows/teardown/teardown.js'
import { verificationContinuations } from '../flows/verify/verification.js'
import type { Continuation, FlowName } from './continuation.js'
import type { Continuations } from './continuations.js'
import type { Job, Outcome } from './effects.js'
import type { NodeTask } from './node-task.js'

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

type AnyContinuation = (task: NodeTask, outcome: Outcome, memo: Job['memo']) => void

/** Loses the type of each memo, which {@link NodeTask.run} has checked. */
const BY_NAME = FLOWS as unknown as Partial<Record<string, Partial<Record<string, AnyContinuation>>>>
const continuationOf = ({ flow, after }: Continuation): AnyContinuation | undefined => BY_NAME[flow]?.[after]

/** True when this version has a continuation for a job, which an earlier version may have stored. */
export const isKnown = ({ then }: Job): boolean => typeof then === 'object' && continuationOf(then) !== undefined

/** Reacts to the end of an effect: runs the next of its chain, or continues the flow. */
export function continueJob(task: NodeTask, job: Job, outcome: Outcome): void {
  applyPower(task, job.effect, outcome)
  if (outcome.ok && outcome.kind === 'hardware-report' && outcome.value) applyReport(task, outcome.value)
  const [next, ...rest] = job.rest
  if (outcome.ok && next) return task.runAgain({ ...job, effect: next, rest })
  const proceed = continuationOf(job.then)
  if (!proceed) throw new Error(`the ${job.then.flow} flow does not continue after ${job.then.after}`)
  proceed(task, outcome, job.memo)
}
