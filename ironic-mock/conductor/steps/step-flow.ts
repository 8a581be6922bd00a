import { pythonRepr, textOf, type CommandResult, type JsonObject, type RequestedStep } from '../../../wire/index.js'
import { agentProgress } from './agent-progress.js'
import { finishRaid, prepareRaid } from './agent-raid.js'
import { runDriverStep, type DrivenFlow } from './driver-step-work.js'
import { isOutOfBand, usesAgent } from './driver-steps.js'
import { valueOf, type Outcome } from '../core/effects.js'
import { rememberSteps } from './in-band-steps.js'
import { bootRamdisk } from '../agents/ramdisk.js'
import { runReserved } from './reserved-step-work.js'
import { isReserved } from './reserved-steps.js'
import { stepName } from './step-name.js'
import type { NodeTask } from '../core/node-task.js'

/** What cleaning and servicing have in common: the user's or planned steps, one after the other. */
export interface StepFlow {
  readonly kind: 'clean' | 'service'
  /** Prefix of the flow's continuations and of its marks in `driver_internal_info`. */
  readonly name: 'cleaning' | 'servicing'
  /** What the history calls it. */
  title(task: NodeTask): string
  /** Settles the list of steps now that all are known; gives what is wrong with the user's. */
  plan(task: NodeTask): string | undefined
  /** The first step could not begin; an agent is there. */
  failStart(task: NodeTask, error: string): void
  /** A step could not be run; the agent's logs are fetched first. */
  failRun(task: NodeTask, error: string): void
  /** A step could not be looked after. */
  failWatch(task: NodeTask, error: string): void
  /** The agent says that a step failed; its logs are fetched first. */
  failStep(task: NodeTask, error: string): void
  finish(task: NodeTask): void
  /** A step has ended that was to be the last, because somebody asked for an abort meanwhile. */
  abortAfter(task: NodeTask): void
}

const currentStep = (flow: StepFlow, task: NodeTask): JsonObject => task.node[`${flow.kind}_step`]
const stepsOf = (flow: StepFlow, task: NodeTask): JsonObject[] =>
  (task.info[`${flow.kind}_steps`] ?? []) as JsonObject[]
const indexOf = (flow: StepFlow, task: NodeTask): number => Number(task.info[`${flow.kind}_step_index`] ?? 0)
const rebooted = (flow: StepFlow): string => `${flow.name}_reboot`
const skipped = (flow: StepFlow): string => `skip_current_${flow.kind}_step`

/** Runs the steps from `index` on, until one has to wait for something or all are done. */
export function runSteps(flow: StepFlow, task: NodeTask, index: number): void {
  const steps = stepsOf(flow, task)
  for (let at = index; at < steps.length; at++) {
    const step = steps[at]!
    task.node[`${flow.kind}_step`] = step
    task.setInfo({ [`${flow.kind}_step_index`]: at })
    if (isReserved(step)) return runReserved(flow.name, task, step)
    if (!isOutOfBand(task.node, flow.kind, step as RequestedStep)) return send(flow, task, step)
    if (stepName(step) === 'vendor.trigger_servicewait') {
      task.process('wait')
      return task.rest()
    }
    if (runDriverStep(driven(flow), task, step)) return
  }
  flow.finish(task)
}

function send(flow: StepFlow, task: NodeTask, step: JsonObject): void {
  if (!usesAgent(task.node)) return failedRun(flow, task, noAttribute(task, step))
  const problem = prepareRaid(task, flow.kind, step)
  if (problem !== undefined) return failedRun(flow, task, problem)
  task.run([{ kind: 'agent-step', of: flow.kind, step: step as RequestedStep }], `${flow.name}.sent`)
}

/** Without an agent an unknown step is looked for in the interface's class; Python says so, as recorded. */
function noAttribute(task: NodeTask, step: JsonObject): string {
  const named = { vendor: 'VendorB', bios: 'BIOS', raid: 'RAID' } as Record<string, string>
  const name = textOf(step.interface)
  const kind = named[name] ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  const fake = task.node[`${name}_interface` as 'deploy_interface'] === 'fake'
  return `'${fake ? `Fake${kind}` : `No${kind.replace(/B$/, '')}`}' object has no attribute '${textOf(step.step)}'`
}

export function stepStepped(flow: StepFlow, task: NodeTask, outcome: Outcome): void {
  if (!outcome.ok) return failedRun(flow, task, outcome.error)
  next(flow, task)
}

export function stepPaused(flow: StepFlow, task: NodeTask): void {
  task.process('resume')
  next(flow, task)
}

/** The flow as steps of the node's interfaces see it. */
export const driven = (flow: StepFlow): DrivenFlow => ({
  kind: flow.kind,
  name: flow.name,
  hasAgent: ({ node, info }) =>
    usesAgent(node) && info[flow.kind === 'clean' ? 'cleaning_disable_ramdisk' : 'service_disable_ramdisk'] !== true,
  next: (task) => next(flow, task),
  fail: (task, error) => failedRun(flow, task, error),
})

/** Upstream's history has an entry for the list besides the one for the error. */
function failedRun(flow: StepFlow, task: NodeTask, error: string): void {
  const step = currentStep(flow, task)
  task.record(
    'ERROR',
    `${titled(flow.title(task))} aborted at step '${textOf(step.step)}' with steps=${pythonRepr(stepsOf(flow, task))}`,
    `${flow.title(task).replace(' ', '_')}_end`,
  )
  flow.failRun(task, `Node ${task.uuid} failed step ${pythonRepr(step)}: ${error}`)
}

/** As Python's `title()`. */
const titled = (text: string): string => text.replace(/\b\w/g, (letter) => letter.toUpperCase())

export function recordStart(flow: StepFlow, task: NodeTask): void {
  const title = flow.title(task)
  const event = `Starting ${title} with steps=${pythonRepr(stepsOf(flow, task))}`
  task.record('INFO', event, `${title.replace(' ', '_')}_start`)
}

/** The list is empty by then in Ironic too. */
export function recordEnd(flow: StepFlow, task: NodeTask): void {
  const title = flow.title(task)
  task.record('INFO', `${titled(title)} completed successfully with steps=[]`, `${title.replace(' ', '_')}_end`)
}

export function stepSent(flow: StepFlow, task: NodeTask, outcome: Outcome): void {
  if (!outcome.ok) {
    const notUpYet = outcome.reason === 'agent unreachable' && task.info[rebooted(flow)] === true
    if (outcome.reason !== 'agent busy' && !notUpYet) return failedRun(flow, task, outcome.error)
    task.setInfo({ [skipped(flow)]: false })
  }
  task.process('wait')
  task.rest()
}

/** An agent reports to a node that waits for one. */
export function stepHeartbeat(flow: StepFlow, task: NodeTask): void {
  task.touch()
  const step = currentStep(flow, task)
  if (step.step === undefined && task.info[rebooted(flow)] !== true) {
    task.process('resume')
    return task.run([{ kind: 'agent-steps', of: flow.kind }], `${flow.name}.steps`)
  }
  // What holds or waits by request is done when it is over.
  if (isReserved(step)) {
    task.process('resume')
    return next(flow, task)
  }
  if (task.info[`${flow.name}_polling`] !== true) task.run([{ kind: 'agent-commands' }], `${flow.name}.polled`)
}

export function stepSteps(flow: StepFlow, task: NodeTask, outcome: Outcome): void {
  if (!outcome.ok && outcome.reason === 'agent busy') {
    // The next heartbeat asks again; upstream would go on without the agent's steps.
    task.process('wait')
    return task.rest()
  }
  if (!outcome.ok) return flow.failStart(task, outcome.error)
  rememberSteps(task, flow.kind, valueOf(outcome, 'agent-steps'))
  const problem = flow.plan(task)
  if (problem !== undefined) return flow.failStart(task, problem)
  runSteps(flow, task, 0)
}

export function stepPolled(flow: StepFlow, task: NodeTask, outcome: Outcome): void {
  if (!outcome.ok) return flow.failWatch(task, checkFailed(flow, outcome.error))
  const step = currentStep(flow, task)
  const { names, last } = valueOf(outcome, 'agent-commands')
  // The agent was busy with something else when the step was sent.
  if (task.info[skipped(flow)] === false && last?.command_status !== 'RUNNING') return repeat(flow, task)
  const progress = agentProgress(flow.kind, step, names, last)
  switch (progress.kind) {
    case 'running':
      return task.rest()
    case 'fresh':
      return fresh(flow, task, progress.empty)
    case 'done':
      return done(flow, task, last)
    case 'mismatch':
      return task.run([{ kind: 'agent-steps', of: flow.kind }], `${flow.name}.refreshed`)
    case 'failed':
      return flow.failStep(
        task,
        `${titled(flow.kind)} step ${stepName(step)} failed on node ${task.uuid}. ${progress.error}`,
      )
    case 'unknown':
      return flow.failStep(
        task,
        `Agent returned unknown status for ${flow.kind} step ${pythonRepr(step)} on node ${task.uuid} : ${progress.status}.`,
      )
  }
}

const checkFailed = (flow: StepFlow, error: string): string =>
  `Node failed to check ${flow.kind === 'clean' ? 'cleaning' : 'service'} progress: ${error}`

/** The agent knows of no step: it was booted for the next one, or lost its memory, which upstream takes for the same. */
function fresh(flow: StepFlow, task: NodeTask, empty: boolean): void {
  if (task.info[rebooted(flow)] !== true && empty) {
    const lost = `the agent of node ${task.uuid} has an empty command list in the middle of ${flow.kind} step ${stepName(currentStep(flow, task))}`
    if (task.policy.strictSteps) return flow.failStep(task, `${lost}; its outcome is unknown`)
    task.warn(`${lost}; going on with the next one, as Ironic does`)
  }
  task.process('resume')
  task.dropInfo(rebooted(flow))
  next(flow, task)
}

function repeat(flow: StepFlow, task: NodeTask): void {
  task.process('resume')
  task.dropInfo(skipped(flow))
  runSteps(flow, task, indexOf(flow, task))
}

function done(flow: StepFlow, task: NodeTask, last: CommandResult | null): void {
  const problem = last && finishRaid(task, flow.kind, currentStep(flow, task), last)
  if (problem) return flow.failStep(task, problem)
  // Only a planned step has it: what the user names is not followed by a reboot, even if its owner would have one.
  if (currentStep(flow, task).reboot_requested === true) {
    task.setInfo({ [rebooted(flow)]: true })
    return task.run(bootRamdisk(task), `${flow.name}.rebooted`)
  }
  task.process('resume')
  next(flow, task)
}

/** After a step, in the working state. */
export function next(flow: StepFlow, task: NodeTask): void {
  if (currentStep(flow, task).abort_after === true) return flow.abortAfter(task)
  runSteps(flow, task, indexOf(flow, task) + 1)
}

export function stepRebooted(flow: StepFlow, task: NodeTask, outcome: Outcome): void {
  if (!outcome.ok) {
    task.dropInfo(rebooted(flow))
    return flow.failWatch(
      task,
      `Reboot requested by ${flow.kind} step ${pythonRepr(currentStep(flow, task))} failed for node ${task.uuid}: ${outcome.error}`,
    )
  }
  task.touch()
  task.rest()
}

/**
 * The agent's managers changed under way: the user's steps go on with the current one, planned ones begin anew. Upstream
 * plans a cleaning in the middle of servicing, and leaves the current step out.
 */
export function stepRefreshed(flow: StepFlow, task: NodeTask, outcome: Outcome): void {
  if (!outcome.ok) return flow.failWatch(task, checkFailed(flow, outcome.error))
  rememberSteps(task, flow.kind, valueOf(outcome, 'agent-steps'))
  task.process('resume')
  if (task.info.declarative_cleaning === true || flow.kind === 'service')
    return runSteps(flow, task, indexOf(flow, task))
  const problem = flow.plan(task)
  if (problem !== undefined)
    return flow.failWatch(task, `Could not restart automated cleaning on node ${task.uuid}: ${problem}.`)
  runSteps(flow, task, 0)
}
