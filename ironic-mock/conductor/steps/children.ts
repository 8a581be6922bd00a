import { ironicErrors, textOf, type JsonObject, type NodeRecord, type RequestedStep } from '../../../wire/index.js'
import type { StoreView } from '../../store/open-store.js'
import type { Dispatcher } from '../core/dispatcher.js'
import { isOutOfBand } from './driver-steps.js'
import type { Policy } from '../core/policy.js'
import { reservedWork } from './reserved-steps.js'

interface Parts {
  dispatcher: Pick<Dispatcher, 'dispatch' | 'idle'>
  store: StoreView
  policy: Policy
}

/**
 * Runs a step on the nodes whose parent this one is, or on those of them that the step names, one after the other. It has
 * to be done when it returns: a child is not waited for (Ironic's source).
 *
 * @throws Error or IronicError of the first child where it cannot be done; 409 where that child is reserved
 */
export async function runOnChildren(
  { dispatcher, store, policy }: Parts,
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
    if (child) await runOnChild({ dispatcher, store, policy }, child, own)
  }
}

async function runOnChild({ dispatcher, store, policy }: Parts, child: Readonly<NodeRecord>, step: JsonObject) {
  const work = reservedWork(step, policy)
  if (work === null) {
    if (child.reservation !== null) throw ironicErrors.nodeLocked(child.uuid, child.reservation)
    // What an interface of the child does by itself is done when it is asked for.
    if (isOutOfBand(child, 'clean', step as unknown as RequestedStep)) return
    throw new Error(`node ${child.uuid} has no step ${textOf(step.interface)}.${textOf(step.step)} of its own`)
  }
  if (work.do !== 'run' || work.effect.kind !== 'power')
    throw new Error(
      `Can not transition from state '${child.provision_state}' on event '${work.do === 'hold' ? 'hold' : 'wait'}' (no defined transition)`,
    )
  await dispatcher.dispatch(child.uuid, { kind: 'power', target: work.effect.target, timeout: null })
  await dispatcher.idle(child.uuid)
  const error = store.records.nodes.get(child.uuid)?.record.last_error
  if (error) throw new Error(error)
}
