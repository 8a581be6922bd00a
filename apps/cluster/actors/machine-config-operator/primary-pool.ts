import { isEmptySelector, selectsLabels, type LabelSelector } from '../../../../base/kubernetes/index.js'

/** As much of a pool as says which nodes are its own. */
interface SelectingPool {
  metadata: { name: string }
  spec: { nodeSelector?: LabelSelector | null }
}

/**
 * The pool that a node belongs to by its labels: the control plane's before a custom one, and that before the workers'
 * (machine-config-operator 7ff337a pkg/helpers/helpers.go GetPoolsForNode). Of several custom pools, which the operator
 * refuses for a node, none.
 */
export function primaryPool<P extends SelectingPool>(
  pools: readonly P[],
  labels: Record<string, string>,
): P | undefined {
  const fitting = pools.filter(
    ({ spec: { nodeSelector } }) =>
      nodeSelector && !isEmptySelector(nodeSelector) && selectsLabels(nodeSelector, labels),
  )
  const named = (name: string): P | undefined => fitting.find(({ metadata }) => metadata.name === name)
  const custom = fitting.filter(({ metadata }) => !['master', 'worker'].includes(metadata.name))
  if (custom.length > 1) return undefined
  return named('master') ?? custom[0] ?? named('worker')
}

/**
 * Nodes of a pool that may be away at once: a share is rounded down, and is at least one
 * (machine-config-operator 7ff337a pkg/controller/node/node_controller.go maxUnavailable).
 */
export function mostUnavailable(wanted: number | string | undefined, nodes: number): number {
  const text = String(wanted ?? 1)
  const number = text.endsWith('%') ? Math.floor((parseInt(text, 10) * nodes) / 100) : Number(text)
  return Math.max(1, number)
}
