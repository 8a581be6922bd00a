import { pythonRepr, formatClientValue, type JsonObject, type RequestedStep } from '../../../base/wire/index.js'
import { bootRamdisk } from '../agents/boot-ramdisk.js'
import type { EffectBody } from '../core/effects.js'
import type { NodeTask } from '../core/node-task.js'
import { withMaskedArgs } from '../records/secret-keys.js'
import { prepareRaid } from './agent-raid.js'
import { isOutOfBand, usesAgent } from './driver-steps.js'
import { interfaceStepWork } from './interface-steps.js'
import { isReserved, reservedWork } from './reserved-steps.js'
import { currentStep, rebootFlag, skipFlag, stepIndex, flowStepsOf, type StepFlow } from './step-flow.js'
import { formatStepName } from './step-name.js'

/** Runs the steps from `index` on, until one has to wait or all are done. */
export function runSteps(flow: StepFlow, task: NodeTask, index: number): void {
  const steps = flowStepsOf(flow, task)
  for (let at = index; at < steps.length; at++) {
    const step = steps[at]!
    task.node[`${flow.kind}_step`] = step
    task.setInfo({ [`${flow.kind}_step_index`]: at })
    if (isReserved(step)) return startReservedStep(flow, task, step)
    if (!isOutOfBand(task.node, flow.kind, { interface: step.interface, step: step.step }))
      return sendToAgent(flow, task, step)
    if (startOutOfBandStep(flow, task, step)) return
  }
  flow.finish(task)
}

/** Continues after a step, in the working state. */
export function runNextStep(flow: StepFlow, task: NodeTask): void {
  if (currentStep(flow, task).abort_after === true) return flow.abortAfter(task)
  if (flow.checkPlan?.(task) === false) return
  runSteps(flow, task, stepIndex(flow, task) + 1)
}

/** Runs the current step once more, in the working state. */
export function runCurrentStep(flow: StepFlow, task: NodeTask): void {
  if (flow.checkPlan?.(task) === false) return
  runSteps(flow, task, stepIndex(flow, task))
}

/** Moves the node from its waiting state to the working state. */
export function resume(flow: StepFlow, task: NodeTask): void {
  task.process('resume')
  task.dropInfo(rebootFlag(flow), skipFlag(flow))
}

function sendToAgent(flow: StepFlow, task: NodeTask, step: JsonObject): void {
  if (!usesAgent(task.node)) return failRun(flow, task, noAttribute(task, step))
  const problem = prepareRaid(task, flow.kind, step)
  if (problem !== undefined) return failRun(flow, task, problem)
  task.run([{ kind: 'agent-step', of: flow.kind, step: step as RequestedStep }], {
    flow: flow.name,
    after: 'agent-step',
  })
}

/** Python's error for a step that the interface's class does not have, as recorded of nodes without an agent. */
function noAttribute(task: NodeTask, step: JsonObject): string {
  const classes: Partial<Record<string, string>> = { vendor: 'VendorB', bios: 'BIOS', raid: 'RAID' }
  const name = formatClientValue(step.interface)
  const kind = classes[name] ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  const fake = task.node[`${name}_interface` as 'deploy_interface'] === 'fake'
  return `'${fake ? `Fake${kind}` : `No${kind.replace(/B$/, '')}`}' object has no attribute '${formatClientValue(step.step)}'`
}

/** Starts a reserved step, which the conductor runs on any interface. */
function startReservedStep(flow: StepFlow, task: NodeTask, step: JsonObject): void {
  const work = reservedWork(step, task.conf)
  if (work === null) throw new Error(`${formatStepName(step)} is no reserved step`)
  switch (work.do) {
    case 'run':
      return task.run([work.effect], { flow: flow.name, after: 'reserved-step' })
    case 'hold':
    case 'wait':
      task.process(work.do)
      return task.release()
    case 'pause':
      if (work.capped !== null) task.record('INFO', work.capped, task.node.provision_state)
      task.process('wait')
      return task.run([work.effect], { flow: flow.name, after: 'pause' })
  }
}

/** Starts a step of one of the node's interfaces; returns whether the flow has to wait for it. */
function startOutOfBandStep(flow: StepFlow, task: NodeTask, step: JsonObject): boolean {
  if (flow.startDeployStep && step.interface === 'deploy')
    return flow.startDeployStep(task, formatClientValue(step.step))
  if (formatStepName(step) === 'vendor.trigger_servicewait') {
    task.process('wait')
    task.release()
    return true
  }
  const work = interfaceStepWork(task, step)
  switch (work.do) {
    case 'nothing':
      return false
    case 'fail':
      failRun(flow, task, work.error)
      return true
    case 'change': {
      const [first, ...others] = work.changes.map((change): EffectBody => ({ kind: 'bmc-change', change }))
      const reboot = work.reboot ? rebootEffects(flow, task) : []
      task.run(
        [first!, ...others, ...reboot],
        { flow: flow.name, after: 'interface-step' },
        { phase: 'changed', reboot: work.reboot },
      )
      return true
    }
  }
}

const rebootEffects = (flow: StepFlow, task: NodeTask): EffectBody[] =>
  flow.hasAgent(task) ? bootRamdisk(task) : [{ kind: 'power', target: 'rebooting' }]

/** Fails the operation because its current step could not be run. */
export function failRun(flow: StepFlow, task: NodeTask, error: string): void {
  const step = currentStep(flow, task)
  const aborted = `aborted at step '${formatClientValue(step.step)}' with steps=${formatSteps(flow, task)}`
  task.record('ERROR', `${pythonTitle(flow.title(task))} ${aborted}`, eventType(flow, task, 'end'))
  flow.failRun(task, error)
}

/** History entry, as of ironic 39.0.0 conductor/utils.py `log_step_flow_history`. */
export function recordStart(flow: StepFlow, task: NodeTask): void {
  const event = `Starting ${flow.title(task)} with steps=${formatSteps(flow, task)}`
  task.record('INFO', event, eventType(flow, task, 'start'))
}

/** History entry with the list as it is then: cleaning and servicing have emptied it. */
export function recordEnd(flow: StepFlow, task: NodeTask): void {
  const event = `${pythonTitle(flow.title(task))} completed successfully with steps=${formatSteps(flow, task)}`
  task.record('INFO', event, eventType(flow, task, 'end'))
}

const formatSteps = (flow: StepFlow, task: NodeTask): string => pythonRepr(withMaskedArgs(flowStepsOf(flow, task)))

const eventType = (flow: StepFlow, task: NodeTask, moment: 'start' | 'end'): string =>
  `${flow.title(task).replace(' ', '_')}_${moment}`

/** Python's `str.title()`. */
export const pythonTitle = (text: string): string => text.replace(/\b\w/g, (letter) => letter.toUpperCase())
