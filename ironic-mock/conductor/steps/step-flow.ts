import type { JsonObject, StepKind } from '../../../base/wire/index.js'
import type { NodeTask } from '../core/node-task.js'

/** An operation that runs a list of steps: cleaning, servicing or a deployment. */
export interface StepFlow {
  readonly kind: StepKind
  /** Name of its continuations, and of its flags in `driver_internal_info`. */
  readonly name: 'cleaning' | 'servicing' | 'deployment'
  /** Name in the node's history. */
  title(task: NodeTask): string
  /** Whether an agent runs steps, so that the machine has to boot its ramdisk again after a reboot. */
  hasAgent(task: NodeTask): boolean
  /** Whether the agent that has just sent a heartbeat has to list its steps first. */
  needsAgentSteps(task: NodeTask): boolean
  /** The state in which the agent lists its steps (ironic 39.0.0 drivers/modules/agent_base.py `_heartbeat_*_wait`). */
  readonly listsAgentStepsIn: 'working' | 'waiting'
  /** Replaces the list of steps once the agent has listed its own; returns why it cannot. A deployment has its list before. */
  plan?(task: NodeTask): string | undefined
  /** Checks the list before the next step; returns false, with the failure queued, when it is not valid. */
  checkPlan?(task: NodeTask): boolean
  /** Starts a step of the deploy interface; returns whether the flow has to wait for it. */
  startDeployStep?(task: NodeTask, step: string): boolean
  /** Fails because the agent's steps could not be listed or planned. */
  failStart(task: NodeTask, error: string): void
  /** Fails because the current step could not be run. */
  failRun(task: NodeTask, error: string): void
  /** Fails because the agent could not be asked for the progress of a step. */
  failCheck(task: NodeTask, error: string): void
  /** Fails because the agent reports that a step failed; fetches its logs first. */
  failStep(task: NodeTask, sentence: string): void
  /** Fails with the machine left as it is. */
  fail(task: NodeTask, sentence: string): void
  finish(task: NodeTask): void
  /** Ends the operation after a step that could not be interrupted by `abort`. */
  abortAfter(task: NodeTask): void
}

export const currentStep = ({ kind }: StepFlow, { node }: NodeTask): JsonObject => node[`${kind}_step`]

export const flowStepsOf = ({ kind }: StepFlow, { info }: NodeTask): JsonObject[] =>
  (info[`${kind}_steps`] ?? []) as JsonObject[]

export const stepIndex = ({ kind }: StepFlow, { info }: NodeTask): number => Number(info[`${kind}_step_index`] ?? 0)

/** Flag: the machine was rebooted for the next step. */
export const rebootFlag = ({ name }: StepFlow): string => `${name}_reboot`

/** Flag: false when the current step has yet to be sent to the agent. */
export const skipFlag = ({ kind }: StepFlow): string => `skip_current_${kind}_step`
