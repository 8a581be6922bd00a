import type { Clock } from '../../../../base/runtime/index.js'
import {
  conditionOf,
  kubeTime,
  withConditions,
  type ClusterOperator,
  type ConditionChange,
  type ClusterVersion,
} from '../../../../base/kubernetes/index.js'
import type { Applied } from './apply-release.js'
import type { LoadStep, DesiredUpdate } from './load-payload.js'

export type VersionStatus = NonNullable<ClusterVersion['status']>

/** Longest history; the first version always stays in it (cluster-version-operator 6e71933 pkg/cvo/status.go MaxHistory). */
const MAX_VERSION_HISTORY = 100

/** Status of a cluster without a channel, whose release has not been loaded yet. */
export const emptyStatus: VersionStatus = {
  desired: { version: '', image: '' },
  availableUpdates: null,
  history: [],
  conditions: [],
  observedGeneration: 0,
  versionHash: '',
}

/** Sets conditions that do not belong to the release that is applied. */
const withStatusConditions = (status: VersionStatus, clock: Clock, ...changes: ConditionChange[]): VersionStatus => ({
  ...status,
  conditions: withConditions(status.conditions, changes, clock),
})

const withoutCondition = (status: VersionStatus, type: string): VersionStatus => ({
  ...status,
  conditions: (status.conditions ?? []).filter((one) => one.type !== type),
})

/** Says whether `spec.desiredUpdate` can be used at all. */
export const withValidity = (status: VersionStatus, problem: string | undefined, clock: Clock): VersionStatus =>
  problem === undefined
    ? withoutCondition(status, 'Invalid')
    : withStatusConditions(status, clock, {
        type: 'Invalid',
        status: 'True',
        reason: 'InvalidClusterVersion',
        message: `The cluster version is invalid: ${problem}`,
      })

/**
 * Says that the cluster is to have no other minor release, while one of its operators says so; else nothing
 * (cluster-version-operator 6e71933 pkg/cvo/status.go setUpgradeableCondition, pkg/risk/upgradeable). Names of operators have
 * dashes, so none of them can be a reason.
 */
export function withUpgradeable(
  status: VersionStatus,
  operators: readonly ClusterOperator[],
  clock: Clock,
): VersionStatus {
  const messages = operators.flatMap(({ status: own }) => {
    const upgradeable = conditionOf(own?.conditions, 'Upgradeable')
    return upgradeable?.status === 'False' ? [upgradeable.message ?? ''] : []
  })
  const [first] = messages
  if (first === undefined) return withoutCondition(status, 'Upgradeable')
  const several = 'Cluster should not be upgraded between minor or major versions for multiple reasons:'
  return withStatusConditions(status, clock, {
    type: 'Upgradeable',
    status: 'False',
    reason: messages.length === 1 ? 'RiskNameNotCompatibleWithReasonProperty' : 'MultipleReasons',
    message: messages.length === 1 ? first : [several, ...messages].join('\n* '),
  })
}

/** Says that a release was accepted, or at which step it was not. */
export const withAcceptance = (
  status: VersionStatus,
  { version, image }: Pick<DesiredUpdate, 'version' | 'image'>,
  refused: { step: LoadStep; message: string } | undefined,
  clock: Clock,
): VersionStatus =>
  withStatusConditions(
    status,
    clock,
    refused
      ? { type: 'ReleaseAccepted', status: 'False', reason: refused.step, message: refused.message }
      : {
          type: 'ReleaseAccepted',
          status: 'True',
          reason: 'PayloadLoaded',
          message: `Payload loaded version=${JSON.stringify(version)} image=${JSON.stringify(image)}`,
        },
  )

/** Makes a release the one that the cluster is at: a new entry of its history, unless it is that of the last. */
export function withRelease(
  status: VersionStatus,
  { version, image }: Pick<DesiredUpdate, 'version' | 'image'>,
  clock: Clock,
): VersionStatus {
  const [last, ...before] = status.history
  const desired = { version, image }
  if (last?.version === version && last.image === image) return { ...status, desired }
  const now = kubeTime(clock.now())
  const entry = { state: 'Partial', ...desired, startedTime: now, completionTime: null, verified: false } as const
  const ended = last ? [{ ...last, completionTime: last.completionTime ?? now }] : []
  return { ...status, desired, history: pruned([entry, ...ended, ...before]) }
}

const pruned = (history: VersionStatus['history']): VersionStatus['history'] =>
  history.length <= MAX_VERSION_HISTORY ? history : [...history.slice(0, MAX_VERSION_HISTORY - 1), history.at(-1)!]

/** Says how far the release is applied, and completes its entry at the end. */
export function withProgress(status: VersionStatus, { done, total, waitsFor }: Applied, clock: Clock): VersionStatus {
  const { version } = status.desired
  const [first] = waitsFor
  if (!first) {
    const [current, ...before] = status.history
    const isDone = current!.state === 'Completed'
    const completed = { ...current!, state: 'Completed' as const, completionTime: kubeTime(clock.now()) }
    return withStatusConditions(
      { ...status, history: isDone ? status.history : [completed, ...before] },
      clock,
      { type: 'Available', status: 'True', message: `Done applying ${version}` },
      { type: 'Failing', status: 'False' },
      { type: 'Progressing', status: 'False', message: `Cluster version is ${version}` },
    )
  }
  const failing = waitsFor.find(({ failure }) => failure !== null)
  const { reason, progress } = failing ?? first
  const names =
    waitsFor.length > 1 && !failing ? `waiting on ${waitsFor.map(({ operator }) => operator).join(', ')}` : progress
  const share = `${done} of ${total} done (${Math.trunc((done / total) * 100)}% complete)`
  const isNew = !status.conditions?.some(({ type }) => type === 'Available')
  return withStatusConditions(
    status,
    clock,
    ...(isNew ? [{ type: 'Available', status: 'False' } as const] : []),
    failing
      ? { type: 'Failing', status: 'True', reason, message: failing.failure! }
      : { type: 'Failing', status: 'False' },
    {
      type: 'Progressing',
      status: 'True',
      reason,
      message: failing ? `Unable to apply ${version}: ${names}` : `Working towards ${version}: ${share}, ${names}`,
    },
  )
}
