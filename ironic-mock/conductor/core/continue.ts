import type { JsonObject } from '../../../wire/index.js'
import { adoptionPrepared } from '../flows/verify/adoption.js'
import { cleaningAborted, cleaningFailedOff, cleaningLogged } from '../flows/clean/cleaning-failure.js'
import { CLEANING, cleaningCleaned } from '../flows/clean/cleaning-steps.js'
import { cleaningBooted, cleaningPlanned, cleaningTracked } from '../flows/clean/cleaning.js'
import { deploymentPartitions, switchAgentOff } from '../steps/core-steps.js'
import { deployFailed, deploymentLogged, deploymentSwitchedOff } from '../flows/deploy/deployment-failure.js'
import {
  DRIVEN_DEPLOYMENT,
  deploymentAgentOff,
  deploymentBooted,
  deploymentBootSet,
  deploymentPaused,
  deploymentPolled,
  deploymentRebooted,
  deploymentRefreshed,
  deploymentSent,
  deploymentStepped,
  deploymentSteps,
  deploymentToldOff,
  deploymentTracked,
  deploymentUnheld,
  deploymentUp,
} from '../flows/deploy/deployment-steps.js'
import { deploymentPrepared } from '../flows/deploy/deployment.js'
import type { Job, Outcome, Then } from './effects.js'
import { driverStepDriven, type DrivenMemo } from '../steps/driver-step-work.js'
import { hardwareChanged, type HardwareMemo } from '../power/hardware-change.js'
import { applyReport } from '../power/hardware-report.js'
import {
  inspectionAborted,
  inspectionBooted,
  inspectionCalled,
  inspectionEnded,
  inspectionFake,
  inspectionHooks,
  inspectionNics,
  inspectionReported,
  inspectionTimedOut,
  type Found,
} from '../flows/inspect/inspection.js'
import type { PlannedStep } from '../steps/plan-steps.js'
import { powerSynced } from '../power/power-sync.js'
import { applyPower, powerChanged } from '../power/power.js'
import {
  rescueBooted,
  rescueDone,
  rescueFailedEnd,
  rescueFinalized,
  rescueOff,
  unrescueBooted,
  unrescueOff,
} from '../flows/rescue/rescue.js'
import { servicingAborted, servicingFailedOff, servicingLogged } from '../flows/service/servicing-failure.js'
import {
  SERVICING,
  servicingBooted,
  servicingOff,
  servicingPlanned,
  servicingServiced,
} from '../flows/service/servicing.js'
import {
  driven,
  stepPaused,
  stepPolled,
  stepRebooted,
  stepRefreshed,
  stepSent,
  stepStepped,
  stepSteps,
  type StepFlow,
} from '../steps/step-flow.js'
import { teardownOff } from '../flows/teardown/teardown.js'
import type { Turn } from './turn.js'
import { verificationPower } from '../flows/verify/verification.js'

/** What each flow remembers over its work outside; whoever starts the work writes it. */
interface Memos {
  'cleaning.driven': DrivenMemo
  'deployment.driven': DrivenMemo
  'servicing.driven': DrivenMemo
  'hardware.changed': HardwareMemo
  'cleaning.failed': { error: string }
  'cleaning.logged': { error: string }
  'deployment.logged': { error: string; off: boolean }
  'deployment.prepared': { user: PlannedStep[] }
  'deployment.refused': { error: string }
  'inspection.ended': Found & { error?: string }
  'inspection.hooks': Found
  'power.changed': { target: string }
  'rescue.failed': { error: string }
  'servicing.failed': { error: string }
  'servicing.logged': { error: string; own: boolean }
}

type Continuations = {
  [T in Then]: (turn: Turn, outcome: Outcome, memo: T extends keyof Memos ? Memos[T] : JsonObject) => void
}

type Proceed = (turn: Turn, outcome: Outcome) => void
const of =
  (flow: StepFlow, proceed: (flow: StepFlow, turn: Turn, outcome: Outcome) => void): Proceed =>
  (turn, outcome) =>
    proceed(flow, turn, outcome)

const CONTINUATIONS: Continuations = {
  'adoption.prepared': adoptionPrepared,
  'cleaning.aborted': cleaningAborted,
  'cleaning.booted': cleaningBooted,
  'cleaning.cleaned': cleaningCleaned,
  'cleaning.driven': (turn, outcome, memo) => driverStepDriven(driven(CLEANING), turn, outcome, memo),
  'cleaning.failed': cleaningFailedOff,
  'cleaning.logged': (turn, _, memo) => cleaningLogged(turn, memo),
  'cleaning.paused': (turn) => stepPaused(CLEANING, turn),
  'cleaning.planned': cleaningPlanned,
  'cleaning.polled': of(CLEANING, stepPolled),
  'cleaning.rebooted': of(CLEANING, stepRebooted),
  'cleaning.refreshed': of(CLEANING, stepRefreshed),
  'cleaning.sent': of(CLEANING, stepSent),
  'cleaning.stepped': of(CLEANING, stepStepped),
  'cleaning.steps': of(CLEANING, stepSteps),
  'cleaning.tracked': cleaningTracked,
  'deployment.agent-off': deploymentAgentOff,
  'deployment.boot-set': deploymentBootSet,
  'deployment.booted': deploymentBooted,
  'deployment.collected': switchAgentOff,
  'deployment.driven': (turn, outcome, memo) => driverStepDriven(DRIVEN_DEPLOYMENT, turn, outcome, memo),
  'deployment.logged': (turn, _, memo) => deploymentLogged(turn, memo),
  'deployment.partitions': deploymentPartitions,
  'deployment.paused': deploymentPaused,
  'deployment.polled': deploymentPolled,
  'deployment.prepared': deploymentPrepared,
  'deployment.rebooted': deploymentRebooted,
  'deployment.refreshed': deploymentRefreshed,
  'deployment.refused': (turn, _, memo) => deployFailed(turn, memo.error),
  'deployment.sent': deploymentSent,
  'deployment.stepped': deploymentStepped,
  'deployment.steps': deploymentSteps,
  'deployment.switched-off': deploymentSwitchedOff,
  'deployment.told-off': deploymentToldOff,
  'deployment.tracked': deploymentTracked,
  'deployment.unheld': deploymentUnheld,
  'deployment.up': deploymentUp,
  'hardware.changed': hardwareChanged,
  'inspection.aborted': inspectionAborted,
  'inspection.booted': inspectionBooted,
  'inspection.called': inspectionCalled,
  'inspection.ended': inspectionEnded,
  'inspection.fake': inspectionFake,
  'inspection.hooks': inspectionHooks,
  'inspection.nics': inspectionNics,
  'inspection.reported': inspectionReported,
  'inspection.timed-out': inspectionTimedOut,
  'power.changed': powerChanged,
  'power.synced': powerSynced,
  'rescue.booted': rescueBooted,
  'rescue.done': rescueDone,
  'rescue.failed': rescueFailedEnd,
  'rescue.finalized': rescueFinalized,
  'rescue.off': rescueOff,
  'servicing.driven': (turn, outcome, memo) => driverStepDriven(driven(SERVICING), turn, outcome, memo),
  'servicing.aborted': servicingAborted,
  'servicing.booted': servicingBooted,
  'servicing.failed': servicingFailedOff,
  'servicing.logged': (turn, _, memo) => servicingLogged(turn, memo),
  'servicing.off': servicingOff,
  'servicing.paused': (turn) => stepPaused(SERVICING, turn),
  'servicing.planned': servicingPlanned,
  'servicing.polled': of(SERVICING, stepPolled),
  'servicing.rebooted': of(SERVICING, stepRebooted),
  'servicing.refreshed': of(SERVICING, stepRefreshed),
  'servicing.sent': of(SERVICING, stepSent),
  'servicing.serviced': servicingServiced,
  'servicing.stepped': of(SERVICING, stepStepped),
  'servicing.steps': of(SERVICING, stepSteps),
  'teardown.off': teardownOff,
  'unrescue.booted': unrescueBooted,
  'unrescue.off': unrescueOff,
  'verification.power': verificationPower,
}

/** Work outside has ended: the next of its chain, or the flow that began it. */
export function continueJob(turn: Turn, job: Job, outcome: Outcome): void {
  applyPower(turn, job.effect, outcome)
  if (outcome.ok && outcome.kind === 'hardware-report' && outcome.value) applyReport(turn, outcome.value)
  const [next, ...rest] = job.rest
  if (outcome.ok && next) return turn.run([next, ...rest], job.then, job.memo)
  const proceed = CONTINUATIONS[job.then] as (turn: Turn, outcome: Outcome, memo: JsonObject) => void
  proceed(turn, outcome, job.memo)
}
