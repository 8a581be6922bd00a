import {
  conditionOf,
  withConditions,
  type ConditionChange,
  type KubeNode,
  type MachineConfigPool,
} from '../../../../base/kubernetes/index.js'
import { defined, type Clock } from '../../../../base/runtime/index.js'
import { CURRENT_CONFIG, DESIRED_CONFIG, REASON, STATE } from './machine-config-names.js'
import { primaryPool } from './primary-pool.js'

// As pkg/controller/node/status.go, node_controller.go and pkg/controller/common/layered_node_state.go of
// machine-config-operator 7ff337a.

const annotation = ({ metadata }: KubeNode, name: string): string => metadata.annotations?.[name] ?? ''

const isReady = ({ spec, status }: KubeNode): boolean =>
  conditionOf(status?.conditions, 'Ready')?.status === 'True' && spec?.unschedulable !== true

const isDegraded = (node: KubeNode): boolean => annotation(node, STATE) === 'Degraded'

/** True if it runs a configuration, by its daemon's own account. */
const isDoneWith = (node: KubeNode, config: string): boolean =>
  annotation(node, CURRENT_CONFIG) === config &&
  annotation(node, DESIRED_CONFIG) === config &&
  annotation(node, STATE) === 'Done'

const isDone = (node: KubeNode): boolean => {
  const current = annotation(node, CURRENT_CONFIG)
  return current !== '' && current === annotation(node, DESIRED_CONFIG) && annotation(node, STATE) === 'Done'
}

/** Failed to become what it is asked to be: it may be asked for something else. */
const isFailing = (node: KubeNode): boolean =>
  annotation(node, CURRENT_CONFIG) !== annotation(node, DESIRED_CONFIG) && isDegraded(node)

const isUnavailable = (node: KubeNode): boolean => !isReady(node) || (!isDone(node) && !isFailing(node))

/** The nodes of a pool, in the order of their names. */
export const nodesOf = (
  pool: MachineConfigPool,
  all: readonly KubeNode[],
  pools: readonly MachineConfigPool[],
): KubeNode[] =>
  all
    .filter(({ metadata }) => primaryPool(pools, metadata.labels ?? {})?.metadata.name === pool.metadata.name)
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))

/** The nodes that may begin to update now, so that no more than `most` are away. */
export function nodesToUpdate(pool: MachineConfigPool, nodes: readonly KubeNode[], most: number): KubeNode[] {
  const wanted = pool.spec.configuration?.name
  if (wanted === undefined) return []
  const targets = (node: KubeNode) => annotation(node, DESIRED_CONFIG) === wanted
  const failing = nodes.filter((node) => targets(node) && isFailing(node)).length
  const capacity = most - nodes.filter(isUnavailable).length - failing
  const waiting = nodes.filter((node) => annotation(node, CURRENT_CONFIG) !== '' && !targets(node) && isReady(node))
  return waiting.slice(0, Math.max(0, capacity))
}

/** Further account of a pool's configuration. */
interface PoolAccount {
  clock: Clock
  /** Why the configuration is not rendered, by the render controller. */
  refusal?: string
  /** The stream of the rendered configuration. */
  stream?: string
}

export function poolStatus(
  pool: MachineConfigPool,
  nodes: readonly KubeNode[],
  { clock, refusal, stream }: PoolAccount,
): NonNullable<MachineConfigPool['status']> {
  const { name = '' } = pool.spec.configuration ?? {}
  const updated = nodes.filter((node) => isDoneWith(node, name))
  const ready = updated.filter(isReady)
  const unavailable = nodes.filter(isUnavailable)
  const degraded = nodes.filter(isDegraded)
  const line = `MachineConfig ${name}`
  const all =
    name !== '' && updated.length === nodes.length && ready.length === nodes.length && unavailable.length === 0
  const updating = all
    ? { status: 'False' as const, message: '' }
    : pool.spec.paused
      ? { status: 'False' as const, message: `Pool is paused; will not update to ${line}` }
      : { status: 'True' as const, message: `All nodes are updating to ${line}` }
  const reasons = degraded.map((node) => {
    const { name: own } = node.metadata
    return `Node ${own} is reporting: ${JSON.stringify(annotation(node, REASON))}`
  })
  const isOneDegraded = degraded.length > 0
  const isRefused = refusal !== undefined
  const bad = {
    status: isOneDegraded ? ('True' as const) : ('False' as const),
    reason: isOneDegraded ? `${degraded.length} nodes are reporting degraded status on sync` : '',
    message: reasons.join(', '),
  }
  const changes: ConditionChange[] = [
    {
      type: 'Updated',
      reason: '',
      status: all ? 'True' : 'False',
      message: all ? `All nodes are updated with ${line}` : '',
    },
    { type: 'Updating', reason: '', ...updating },
    { type: 'NodeDegraded', ...bad },
    { type: 'RenderDegraded', status: isRefused ? 'True' : 'False', reason: '', message: refusal ?? '' },
    { type: 'Degraded', reason: '', status: isRefused ? 'True' : bad.status, message: bad.message },
  ]
  const runs = all && !isOneDegraded && !isRefused ? stream : undefined
  const before = pool.status?.configuration
  const configuration = all ? { name } : before
  return {
    ...defined({ configuration }),
    machineCount: nodes.length,
    readyMachineCount: ready.length,
    updatedMachineCount: updated.length,
    unavailableMachineCount: unavailable.length,
    degradedMachineCount: degraded.length,
    conditions: withConditions(pool.status?.conditions, changes, clock),
    ...defined({ osImageStream: runs === undefined ? undefined : { name: runs } }),
  }
}

/** True if all of a pool runs its configuration. */
export const isUpdated = ({ spec, status }: MachineConfigPool): boolean =>
  conditionOf(status?.conditions, 'Updated')?.status === 'True' &&
  status?.configuration?.name === spec.configuration?.name
