import { defined, type Clock } from '../../../base/runtime/index.js'
import type { Condition } from './object.js'

/** RFC 3339, in seconds, as Kubernetes writes its times. */
export const kubeTime = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z')

/**
 * Sets one condition in a list; the time of its last transition stays for as long as its status does
 * (k8s.io/apimachinery pkg/api/meta/conditions.go SetStatusCondition).
 */
export function withCondition(
  conditions: readonly Condition[] = [],
  { type, status, reason, message, observedGeneration }: Omit<Condition, 'lastTransitionTime'>,
  clock: Clock,
): Condition[] {
  const before = conditions.find((one) => one.type === type)
  const changed: Condition = {
    type,
    status,
    ...defined({ reason, message, observedGeneration }),
    lastTransitionTime: before?.status === status ? before.lastTransitionTime : kubeTime(clock.now()),
  }
  return before ? conditions.map((one) => (one === before ? changed : one)) : [...conditions, changed]
}

export const conditionOf = (conditions: readonly Condition[] | undefined, type: string): Condition | undefined =>
  conditions?.find((one) => one.type === type)

export const isTrue = (conditions: readonly Condition[] | undefined, type: string): boolean =>
  conditionOf(conditions, type)?.status === 'True'
