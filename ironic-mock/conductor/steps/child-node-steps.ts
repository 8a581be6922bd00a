import {
  ironicErrors,
  formatClientValue,
  type JsonObject,
  type NodeRecord,
  type RequestedStep,
} from '../../../base/wire/index.js'
import type { StoreView } from '../../store/open-store.js'
import type { Dispatcher } from '../core/dispatcher.js'
import { isOutOfBand } from './driver-steps.js'
import type { ConductorConf } from '../core/conductor-conf.js'
import { reservedWork } from './reserved-steps.js'

interface ChildStepParts {
  dispatcher: Pick<Dispatcher, 'dispatch' | 'idle'>
  store: StoreView
  conf: ConductorConf
}

/**
 * Runs a step on the child nodes of this node, or on those that the step names, one after the other. The step must end
 * at once: the parent does not wait for a child (ironic conductor/steps.py execute_step_on_child_nodes).
 *
 * @throws Error or IronicError of the first child where it cannot be done; 409 where that child is reserved
 */
export async function runStepOnChildNodes(
  { dispatcher, store, conf }: ChildStepParts,
  parent: Readonly<NodeRecord>,
  step: JsonObject,
  signal: AbortSignal,
): Promise<void> {
  const { execute_on_child_nodes: _, limit_child_node_execution: limit, ...own } = step
  const named = Array.isArray(limit) && limit.length > 0 ? (limit as unknown[]) : undefined
  const children = [...store.records.nodes.values()]
    .map(({ record }) => record)
    .filter(({ parent_node, uuid }) => parent_node === parent.uuid && (named?.includes(uuid) ?? true))
    .sort((a, b) => a.id - b.id)
  for (const { uuid } of children) {
    signal.throwIfAborted()
    const child = store.records.nodes.get(uuid)?.record
    if (child) await runOnChild({ dispatcher, store, conf }, child, own, signal)
  }
}

async function runOnChild(
  { dispatcher, store, conf }: ChildStepParts,
  child: Readonly<NodeRecord>,
  step: JsonObject,
  signal: AbortSignal,
) {
  const work = reservedWork(step, conf)
  if (work === null) {
    if (child.reservation !== null) throw ironicErrors.nodeLocked(child.uuid, child.reservation)
    // Out-of-band steps of the child's interfaces end at once.
    if (isOutOfBand(child, 'clean', step as unknown as RequestedStep)) return
    throw new Error(
      `node ${child.uuid} has no step ${formatClientValue(step.interface)}.${formatClientValue(step.step)} of its own`,
    )
  }
  if (work.do !== 'run' || work.effect.kind !== 'power')
    throw new Error(
      `Can not transition from state '${child.provision_state}' on event '${work.do === 'hold' ? 'hold' : 'wait'}' (no defined transition)`,
    )
  await dispatcher.dispatch(child.uuid, { kind: 'power', target: work.effect.target, timeout: null })
  await dispatcher.idle(child.uuid, signal)
  const error = store.records.nodes.get(child.uuid)?.record.last_error
  if (error) throw new Error(error)
}
