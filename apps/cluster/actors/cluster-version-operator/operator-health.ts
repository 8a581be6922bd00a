import { minutes, type Clock } from '../../../../base/runtime/index.js'
import { conditionOf } from '../../kube/conditions.js'
import type { ClusterOperator } from '../../kube/kinds/config-kinds.js'

/** Why an operator keeps an upgrade waiting. */
export interface UnhealthyOperator {
  operator: string
  reason: 'ClusterOperatorNotAvailable' | 'ClusterOperatorDegraded' | 'ClusterOperatorUpdating'
  /** `waiting on baremetal` */
  progress: string
  /** Sentence of `Failing`; null while waiting is all that there is to do. */
  failure: string | null
  /** When the reason changes by itself, in milliseconds since the epoch. */
  until?: number
}

/** Time that an operator may be degraded in an upgrade before the upgrade counts as failing. */
const DEGRADED_TIMEOUT = minutes(40)

/**
 * Compares an operator with the versions that its manifest asks for (cluster-version-operator 6e71933
 * pkg/cvo/internal/operatorstatus.go checkOperatorHealth, pkg/cvo/status.go convertErrorToProgressing).
 */
export function operatorProblem(
  name: string,
  actual: ClusterOperator | undefined,
  versions: readonly { name: string; version: string }[],
  clock: Clock,
): UnhealthyOperator | undefined {
  const conditions = actual?.status?.conditions
  const available = conditionOf(conditions, 'Available')
  const degraded = conditionOf(conditions, 'Degraded')
  const isNew = actual?.status === undefined
  if (!isNew && available?.status !== 'True') {
    const failure = `Cluster operator ${name} is not available`
    const progress = `the cluster operator ${name} is not available`
    return { operator: name, reason: 'ClusterOperatorNotAvailable', progress, failure }
  }
  if (degraded?.status === 'True') {
    const until = Date.parse(degraded.lastTransitionTime) + DEGRADED_TIMEOUT
    const isOver = clock.now() >= until
    const over = `wait has exceeded 40 minutes for these operators: ${name}`
    return {
      operator: name,
      reason: 'ClusterOperatorDegraded',
      progress: isOver ? over : `waiting up to 40 minutes on ${name}`,
      ...(isOver ? { failure: `Cluster operator ${name} is degraded` } : { failure: null, until }),
    }
  }
  const has = new Map(actual?.status?.versions.map((one) => [one.name, one.version]))
  if (isNew || versions.some((one) => has.get(one.name) !== one.version))
    return {
      operator: name,
      reason: 'ClusterOperatorUpdating',
      progress: `waiting on ${name}`,
      failure: null,
    }
  return undefined
}
