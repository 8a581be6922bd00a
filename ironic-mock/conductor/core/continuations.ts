import type { FlowMemos, FlowName } from './continuation.js'
import type { EffectOutcome } from './effects.js'
import type { NodeTask } from './node-task.js'

/** Continuations of a flow, by the effect that they follow. */
export type Continuations<Flow extends FlowName> = {
  readonly [After in keyof FlowMemos[Flow]]: (
    task: NodeTask,
    outcome: EffectOutcome,
    memo: FlowMemos[Flow][After],
  ) => void
}
