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
import type { NodeTask } from './node-task.js'
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
  [T in Then]: (task: NodeTask, outcome: Outcome, memo: T extends keyof Memos ? Memos[T] : JsonObject) => void
}

type Proceed = (task: NodeTask, outcome: Outcome) => void
const of =
  (flow: StepFlow, proceed: (flow: StepFlow, task: NodeTask, outcome: Outcome) => void): Proceed =>
  (task, outcome) =>
    proceed(flow, task, outcome)

const CONTINUATIONS: Continuations = {
  'adoption.prepared': adoptionPrepared,
  'cleaning.aborted': cleaningAborted,
  'cleaning.booted': cleaningBooted,
  'cleaning.cleaned': cleaningCleaned,
  'cleaning.driven': (task, outcome, memo) => driverStepDriven(driven(CLEANING), task, outcome, memo),
  'cleaning.failed': cleaningFailedOff,
  'cleaning.logged': (task, _, memo) => cleaningLogged(task, memo),
  'cleaning.paused': (task) => stepPaused(CLEANING, task),
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
  'deployment.driven': (task, outcome, memo) => driverStepDriven(DRIVEN_DEPLOYMENT, task, outcome, memo),
  'deployment.logged': (task, _, memo) => deploymentLogged(task, memo),
  'deployment.partitions': deploymentPartitions,
  'deployment.paused': deploymentPaused,
  'deployment.polled': deploymentPolled,
  'deployment.prepared': deploymentPrepared,
  'deployment.rebooted': deploymentRebooted,
  'deployment.refreshed': deploymentRefreshed,
  'deployment.refused': (task, _, memo) => deployFailed(task, memo.error),
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
  'servicing.driven': (task, outcome, memo) => driverStepDriven(driven(SERVICING), task, outcome, memo),
  'servicing.aborted': servicingAborted,
  'servicing.booted': servicingBooted,
  'servicing.failed': servicingFailedOff,
  'servicing.logged': (task, _, memo) => servicingLogged(task, memo),
  'servicing.off': servicingOff,
  'servicing.paused': (task) => stepPaused(SERVICING, task),
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
export function continueJob(task: NodeTask, job: Job, outcome: Outcome): void {
  applyPower(task, job.effect, outcome)
  if (outcome.ok && outcome.kind === 'hardware-report' && outcome.value) applyReport(task, outcome.value)
  const [next, ...rest] = job.rest
  if (outcome.ok && next) return task.run([next, ...rest], job.then, job.memo)
  const proceed = CONTINUATIONS[job.then] as (task: NodeTask, outcome: Outcome, memo: JsonObject) => void
  proceed(task, outcome, job.memo)
}
