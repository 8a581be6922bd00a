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
import type { Turn } from '../core/turn.js'

/** What cleaning and servicing have in common: the user's or planned steps, one after the other. */
export interface StepFlow {
  readonly kind: 'clean' | 'service'
  /** Prefix of the flow's continuations and of its marks in `driver_internal_info`. */
  readonly name: 'cleaning' | 'servicing'
  /** What the history calls it. */
  title(turn: Turn): string
  /** Settles the list of steps now that all are known; gives what is wrong with the user's. */
  plan(turn: Turn): string | undefined
  /** The first step could not begin; an agent is there. */
  failStart(turn: Turn, error: string): void
  /** A step could not be run; the agent's logs are fetched first. */
  failRun(turn: Turn, error: string): void
  /** A step could not be looked after. */
  failWatch(turn: Turn, error: string): void
  /** The agent says that a step failed; its logs are fetched first. */
  failStep(turn: Turn, error: string): void
  finish(turn: Turn): void
  /** A step has ended that was to be the last, because somebody asked for an abort meanwhile. */
  abortAfter(turn: Turn): void
}

const currentStep = (flow: StepFlow, turn: Turn): JsonObject => turn.node[`${flow.kind}_step`]
const stepsOf = (flow: StepFlow, turn: Turn): JsonObject[] => (turn.info[`${flow.kind}_steps`] ?? []) as JsonObject[]
const indexOf = (flow: StepFlow, turn: Turn): number => Number(turn.info[`${flow.kind}_step_index`] ?? 0)
const rebooted = (flow: StepFlow): string => `${flow.name}_reboot`
const skipped = (flow: StepFlow): string => `skip_current_${flow.kind}_step`

/** Runs the steps from `index` on, until one has to wait for something or all are done. */
export function runSteps(flow: StepFlow, turn: Turn, index: number): void {
  const steps = stepsOf(flow, turn)
  for (let at = index; at < steps.length; at++) {
    const step = steps[at]!
    turn.node[`${flow.kind}_step`] = step
    turn.setInfo({ [`${flow.kind}_step_index`]: at })
    if (isReserved(step)) return runReserved(flow.name, turn, step)
    if (!isOutOfBand(turn.node, flow.kind, step as RequestedStep)) return send(flow, turn, step)
    if (stepName(step) === 'vendor.trigger_servicewait') {
      turn.process('wait')
      return turn.rest()
    }
    if (runDriverStep(driven(flow), turn, step)) return
  }
  flow.finish(turn)
}

function send(flow: StepFlow, turn: Turn, step: JsonObject): void {
  if (!usesAgent(turn.node)) return failedRun(flow, turn, noAttribute(turn, step))
  const problem = prepareRaid(turn, flow.kind, step)
  if (problem !== undefined) return failedRun(flow, turn, problem)
  turn.run([{ kind: 'agent-step', of: flow.kind, step: step as RequestedStep }], `${flow.name}.sent`)
}

/** Without an agent an unknown step is looked for in the interface's class; Python says so, as recorded. */
function noAttribute(turn: Turn, step: JsonObject): string {
  const named = { vendor: 'VendorB', bios: 'BIOS', raid: 'RAID' } as Record<string, string>
  const name = textOf(step.interface)
  const kind = named[name] ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  const fake = turn.node[`${name}_interface` as 'deploy_interface'] === 'fake'
  return `'${fake ? `Fake${kind}` : `No${kind.replace(/B$/, '')}`}' object has no attribute '${textOf(step.step)}'`
}

export function stepStepped(flow: StepFlow, turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) return failedRun(flow, turn, outcome.error)
  next(flow, turn)
}

export function stepPaused(flow: StepFlow, turn: Turn): void {
  turn.process('resume')
  next(flow, turn)
}

/** The flow as steps of the node's interfaces see it. */
export const driven = (flow: StepFlow): DrivenFlow => ({
  kind: flow.kind,
  name: flow.name,
  hasAgent: ({ node, info }) =>
    usesAgent(node) && info[flow.kind === 'clean' ? 'cleaning_disable_ramdisk' : 'service_disable_ramdisk'] !== true,
  next: (turn) => next(flow, turn),
  fail: (turn, error) => failedRun(flow, turn, error),
})

/** Upstream's history has an entry for the list besides the one for the error. */
function failedRun(flow: StepFlow, turn: Turn, error: string): void {
  const step = currentStep(flow, turn)
  turn.record(
    'ERROR',
    `${titled(flow.title(turn))} aborted at step '${textOf(step.step)}' with steps=${pythonRepr(stepsOf(flow, turn))}`,
    `${flow.title(turn).replace(' ', '_')}_end`,
  )
  flow.failRun(turn, `Node ${turn.uuid} failed step ${pythonRepr(step)}: ${error}`)
}

/** As Python's `title()`. */
const titled = (text: string): string => text.replace(/\b\w/g, (letter) => letter.toUpperCase())

export function recordStart(flow: StepFlow, turn: Turn): void {
  const title = flow.title(turn)
  const event = `Starting ${title} with steps=${pythonRepr(stepsOf(flow, turn))}`
  turn.record('INFO', event, `${title.replace(' ', '_')}_start`)
}

/** The list is empty by then in Ironic too. */
export function recordEnd(flow: StepFlow, turn: Turn): void {
  const title = flow.title(turn)
  turn.record('INFO', `${titled(title)} completed successfully with steps=[]`, `${title.replace(' ', '_')}_end`)
}

export function stepSent(flow: StepFlow, turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) {
    const notUpYet = outcome.reason === 'agent unreachable' && turn.info[rebooted(flow)] === true
    if (outcome.reason !== 'agent busy' && !notUpYet) return failedRun(flow, turn, outcome.error)
    turn.setInfo({ [skipped(flow)]: false })
  }
  turn.process('wait')
  turn.rest()
}

/** An agent reports to a node that waits for one. */
export function stepHeartbeat(flow: StepFlow, turn: Turn): void {
  turn.touch()
  const step = currentStep(flow, turn)
  if (step.step === undefined && turn.info[rebooted(flow)] !== true) {
    turn.process('resume')
    return turn.run([{ kind: 'agent-steps', of: flow.kind }], `${flow.name}.steps`)
  }
  // What holds or waits by request is done when it is over.
  if (isReserved(step)) {
    turn.process('resume')
    return next(flow, turn)
  }
  if (turn.info[`${flow.name}_polling`] !== true) turn.run([{ kind: 'agent-commands' }], `${flow.name}.polled`)
}

export function stepSteps(flow: StepFlow, turn: Turn, outcome: Outcome): void {
  if (!outcome.ok && outcome.reason === 'agent busy') {
    // The next heartbeat asks again; upstream would go on without the agent's steps.
    turn.process('wait')
    return turn.rest()
  }
  if (!outcome.ok) return flow.failStart(turn, outcome.error)
  rememberSteps(turn, flow.kind, valueOf(outcome, 'agent-steps'))
  const problem = flow.plan(turn)
  if (problem !== undefined) return flow.failStart(turn, problem)
  runSteps(flow, turn, 0)
}

export function stepPolled(flow: StepFlow, turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) return flow.failWatch(turn, checkFailed(flow, outcome.error))
  const step = currentStep(flow, turn)
  const { names, last } = valueOf(outcome, 'agent-commands')
  // The agent was busy with something else when the step was sent.
  if (turn.info[skipped(flow)] === false && last?.command_status !== 'RUNNING') return repeat(flow, turn)
  const progress = agentProgress(flow.kind, step, names, last)
  switch (progress.kind) {
    case 'running':
      return turn.rest()
    case 'fresh':
      return fresh(flow, turn, progress.empty)
    case 'done':
      return done(flow, turn, last)
    case 'mismatch':
      return turn.run([{ kind: 'agent-steps', of: flow.kind }], `${flow.name}.refreshed`)
    case 'failed':
      return flow.failStep(
        turn,
        `${titled(flow.kind)} step ${stepName(step)} failed on node ${turn.uuid}. ${progress.error}`,
      )
    case 'unknown':
      return flow.failStep(
        turn,
        `Agent returned unknown status for ${flow.kind} step ${pythonRepr(step)} on node ${turn.uuid} : ${progress.status}.`,
      )
  }
}

const checkFailed = (flow: StepFlow, error: string): string =>
  `Node failed to check ${flow.kind === 'clean' ? 'cleaning' : 'service'} progress: ${error}`

/** The agent knows of no step: it was booted for the next one, or lost its memory, which upstream takes for the same. */
function fresh(flow: StepFlow, turn: Turn, empty: boolean): void {
  if (turn.info[rebooted(flow)] !== true && empty) {
    const lost = `the agent of node ${turn.uuid} has an empty command list in the middle of ${flow.kind} step ${stepName(currentStep(flow, turn))}`
    if (turn.policy.strictSteps) return flow.failStep(turn, `${lost}; its outcome is unknown`)
    turn.warn(`${lost}; going on with the next one, as Ironic does`)
  }
  turn.process('resume')
  turn.dropInfo(rebooted(flow))
  next(flow, turn)
}

function repeat(flow: StepFlow, turn: Turn): void {
  turn.process('resume')
  turn.dropInfo(skipped(flow))
  runSteps(flow, turn, indexOf(flow, turn))
}

function done(flow: StepFlow, turn: Turn, last: CommandResult | null): void {
  const problem = last && finishRaid(turn, flow.kind, currentStep(flow, turn), last)
  if (problem) return flow.failStep(turn, problem)
  // Only a planned step has it: what the user names is not followed by a reboot, even if its owner would have one.
  if (currentStep(flow, turn).reboot_requested === true) {
    turn.setInfo({ [rebooted(flow)]: true })
    return turn.run(bootRamdisk(turn), `${flow.name}.rebooted`)
  }
  turn.process('resume')
  next(flow, turn)
}

/** After a step, in the working state. */
export function next(flow: StepFlow, turn: Turn): void {
  if (currentStep(flow, turn).abort_after === true) return flow.abortAfter(turn)
  runSteps(flow, turn, indexOf(flow, turn) + 1)
}

export function stepRebooted(flow: StepFlow, turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) {
    turn.dropInfo(rebooted(flow))
    return flow.failWatch(
      turn,
      `Reboot requested by ${flow.kind} step ${pythonRepr(currentStep(flow, turn))} failed for node ${turn.uuid}: ${outcome.error}`,
    )
  }
  turn.touch()
  turn.rest()
}

/**
 * The agent's managers changed under way: the user's steps go on with the current one, planned ones begin anew. Upstream
 * plans a cleaning in the middle of servicing, and leaves the current step out.
 */
export function stepRefreshed(flow: StepFlow, turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) return flow.failWatch(turn, checkFailed(flow, outcome.error))
  rememberSteps(turn, flow.kind, valueOf(outcome, 'agent-steps'))
  turn.process('resume')
  if (turn.info.declarative_cleaning === true || flow.kind === 'service')
    return runSteps(flow, turn, indexOf(flow, turn))
  const problem = flow.plan(turn)
  if (problem !== undefined)
    return flow.failWatch(turn, `Could not restart automated cleaning on node ${turn.uuid}: ${problem}.`)
  runSteps(flow, turn, 0)
}
