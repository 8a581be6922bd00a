import {
  reachesRelease,
  withConditions,
  type Condition,
  type ConditionChange,
} from '../../../../../base/kubernetes/index.js'
import type { Clock } from '../../../../../base/runtime/index.js'

/** How far the machine sets of one kind are. */
export interface SetCounts {
  total: number
  /** Without an error, those that are skipped among them. */
  done: number
  skipped: number
  failed: number
}

export const NO_SETS: SetCounts = { total: 0, done: 0, skipped: 0, failed: 0 }

/** Machine sets and the ControlPlaneMachineSet. */
export interface ImageCounts {
  sets: SetCounts
  controlPlane: SetCounts
}

/** Since when conditions count the ControlPlaneMachineSet, and name what is skipped (branches of the repository). */
const COUNTS_CONTROL_PLANE_SINCE = '4.21'
const COUNTS_SKIPPED_SINCE = '4.22'

export const UPDATE_PROGRESSING = 'BootImageUpdateProgressing'
export const UPDATE_DEGRADED = 'BootImageUpdateDegraded'

/** An account of a pass over the machine sets. */
export interface PassAccount {
  /** Event that began it: `BootImageConfigMapUpdated`. */
  event: string
  release: string
  counts: ImageCounts
  /** A sentence for each failure. */
  errors: readonly string[]
}

/**
 * Conditions of a MachineConfiguration after a pass. The kinds of Cluster API are in the messages and never looked at
 * (machine-config-operator 7ff337a pkg/controller/bootimage/boot_image_controller.go updateConditions).
 */
export function imageConditions(before: readonly Condition[] = [], account: PassAccount, clock: Clock): Condition[] {
  const { event, errors } = account
  const degraded = degradedMessage(account)
  const changes: ConditionChange[] = [
    { type: UPDATE_PROGRESSING, status: 'False', reason: event, message: progressMessage(account) },
    {
      type: UPDATE_DEGRADED,
      status: errors.length > 0 ? 'True' : 'False',
      reason: event,
      message: errors.length > 0 ? `${degraded} | Error(s): ${aggregate(errors)}` : degraded,
    },
  ]
  return withConditions(before, changes, clock)
}

function progressMessage({ release, counts }: PassAccount): string {
  const { sets, controlPlane } = counts
  const line = ({ total, done, skipped }: SetCounts, name: string): string =>
    skipped > 0 && reachesRelease(release, COUNTS_SKIPPED_SINCE)
      ? `Reconciled ${done - skipped} of ${total} ${name} (${skipped} skipped)`
      : `Reconciled ${done} of ${total} ${name}`
  return [
    line(sets, 'MAPI MachineSets'),
    ...(reachesRelease(release, COUNTS_CONTROL_PLANE_SINCE) ? [line(controlPlane, 'ControlPlaneMachineSets')] : []),
    line(NO_SETS, 'CAPI MachineSets'),
    line(NO_SETS, 'CAPI MachineDeployments'),
  ].join(' | ')
}

function degradedMessage({ release, counts }: PassAccount): string {
  const deployments = reachesRelease(release, COUNTS_SKIPPED_SINCE)
    ? '0 Degraded CAPI MachineDeployments'
    : '0 CAPI MachineDeployments'
  return [
    `${counts.sets.failed} Degraded MAPI MachineSets`,
    ...(reachesRelease(release, COUNTS_CONTROL_PLANE_SINCE)
      ? [`${counts.controlPlane.failed} Degraded ControlPlaneMachineSets`]
      : []),
    '0 Degraded CAPI MachineSets',
    deployments,
  ].join(' | ')
}

/** Several errors as one: k8s.io/apimachinery pkg/util/errors NewAggregate. */
const aggregate = (errors: readonly string[]): string => {
  const unique = [...new Set(errors)]
  return unique.length === 1 ? unique[0]! : `[${unique.join(', ')}]`
}
