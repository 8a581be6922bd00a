import type { JsonObject } from '../../wire/index.js'
import { adoptionPower } from './adoption.js'
import { cleaningAborted, cleaningFailedOff, cleaningLogged, cleaningTimedOut } from './cleaning-failure.js'
import {
  cleaningCleaned,
  cleaningPolled,
  cleaningRebooted,
  cleaningRefreshed,
  cleaningSent,
  cleaningSteps,
} from './cleaning-steps.js'
import { cleaningBooted, cleaningPlanned } from './cleaning.js'
import { deploymentLogged } from './deployment-failure.js'
import {
  deploymentAgentOff,
  deploymentBooted,
  deploymentPolled,
  deploymentRebooted,
  deploymentRefreshed,
  deploymentSent,
  deploymentStepped,
  deploymentSteps,
  deploymentToldOff,
} from './deployment-steps.js'
import { deploymentPrepared } from './deployment.js'
import type { Job, Outcome, Then } from './effects.js'
import { inspectionAborted, inspectionBooted, inspectionEnded, inspectionFake, inspectionHooks } from './inspection.js'
import type { PlannedStep } from './plan-steps.js'
import { applyPower, powerChanged } from './power.js'
import { rescueEnded } from './rescue.js'
import { teardownOff } from './teardown.js'
import type { Turn } from './turn.js'
import { verificationPower } from './verification.js'

/** What each flow remembers over its work outside; whoever starts the work writes it. */
interface Memos {
  'cleaning.failed': { error: string; maintenance: boolean }
  'cleaning.logged': { error: string }
  'deployment.logged': { error: string }
  'deployment.prepared': { user: PlannedStep[] }
  'inspection.ended': { error?: string; inventory?: JsonObject; plugin_data?: JsonObject }
  'inspection.hooks': { data: JsonObject }
  'power.changed': { target: string }
}

type Continuations = {
  [T in Then]: (turn: Turn, outcome: Outcome, memo: T extends keyof Memos ? Memos[T] : JsonObject) => void
}

const CONTINUATIONS: Continuations = {
  'adoption.power': adoptionPower,
  'cleaning.aborted': cleaningAborted,
  'cleaning.booted': cleaningBooted,
  'cleaning.cleaned': cleaningCleaned,
  'cleaning.failed': cleaningFailedOff,
  'cleaning.logged': (turn, _, memo) => cleaningLogged(turn, memo),
  'cleaning.planned': cleaningPlanned,
  'cleaning.polled': cleaningPolled,
  'cleaning.rebooted': cleaningRebooted,
  'cleaning.refreshed': cleaningRefreshed,
  'cleaning.sent': cleaningSent,
  'cleaning.steps': cleaningSteps,
  'cleaning.timed-out': cleaningTimedOut,
  'deployment.agent-off': deploymentAgentOff,
  'deployment.booted': deploymentBooted,
  'deployment.logged': (turn, _, memo) => deploymentLogged(turn, memo),
  'deployment.polled': deploymentPolled,
  'deployment.prepared': deploymentPrepared,
  'deployment.rebooted': deploymentRebooted,
  'deployment.refreshed': deploymentRefreshed,
  'deployment.sent': deploymentSent,
  'deployment.stepped': deploymentStepped,
  'deployment.steps': deploymentSteps,
  'deployment.told-off': deploymentToldOff,
  'inspection.aborted': inspectionAborted,
  'inspection.booted': inspectionBooted,
  'inspection.ended': inspectionEnded,
  'inspection.fake': inspectionFake,
  'inspection.hooks': inspectionHooks,
  'power.changed': powerChanged,
  'rescue.fake': rescueEnded,
  'teardown.off': teardownOff,
  'unrescue.fake': rescueEnded,
  'verification.power': verificationPower,
}

/** Work outside has ended: the next of its chain, or the flow that began it. */
export function continueJob(turn: Turn, job: Job, outcome: Outcome): void {
  applyPower(turn, job.effect, outcome)
  const [next, ...rest] = job.rest
  if (outcome.ok && next) return turn.run([next, ...rest], job.then, job.memo)
  const proceed = CONTINUATIONS[job.then] as (turn: Turn, outcome: Outcome, memo: JsonObject) => void
  proceed(turn, outcome, job.memo)
}
