import type { FlowMemos, FlowName } from './continuation.js'
import type { Outcome } from './effects.js'
import type { NodeTask } from './node-task.js'

/** The functions by which a flow continues, one for each effect. */
export type Continuations<Flow extends FlowName> = {
  readonly [After in keyof FlowMemos[Flow]]: (task: NodeTask, outcome: Outcome, memo: FlowMemos[Flow][After]) => void
}
