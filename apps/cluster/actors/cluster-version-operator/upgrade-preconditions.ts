import { conditionOf, type ClusterVersion } from '../../../../base/kubernetes/index.js'
import { isOlder, isSameMinor, readVersion } from './release-version.js'

/** A reason against a release. */
interface FailedPrecondition {
  /** `ClusterVersionRollback` */
  name: string
  reason: string
  message: string
  /** True if `spec.desiredUpdate.force` does not help. */
  isFinal: boolean
}

/**
 * Compares a release with those that the cluster had. Kinds of boot images and pinned machine sets make no difference: it
 * is the release that is too old (cluster-version-operator 6e71933 pkg/payload/precondition/clusterversion/rollback.go;
 * the first version is the rule of the design documents, which has no exception).
 */
export function rollbackProblem(
  { status }: Pick<ClusterVersion, 'status'>,
  version: string,
): FailedPrecondition | undefined {
  const name = 'ClusterVersionRollback'
  const history = status?.history ?? []
  const current = history[0]
  const first = history.at(-1)
  if (!status || !current || !first) return undefined
  if (!readVersion(version)) {
    const message = `${JSON.stringify(version)} is no semantic version`
    return { name, reason: 'InvalidDesiredVersion', message, isFinal: false }
  }
  const low = (message: string, isFinal = false): FailedPrecondition => ({
    name,
    reason: 'LowDesiredVersion',
    message,
    isFinal,
  })
  if (isOlder(version, first.version))
    return low(`${version} is older than ${first.version}, which the cluster was installed with`, true)
  if (!isOlder(version, current.version)) return undefined
  const previous = history.find((entry) => entry.version !== current.version || entry.image !== current.image)
  const target = `${version} is less than the current target ${current.version}`
  if (!previous) return low(`${target}, and the cluster has no previous Semantic Version`)
  if (previous.version !== version)
    return low(
      `${target}, and the only supported rollback is to the cluster's previous version ${previous.version} (${previous.image})`,
    )
  if (isSameMinor(previous.version, current.version)) return undefined
  return low(
    `${target} and matches the cluster's previous version, but rollbacks that change major or minor versions are not recommended`,
  )
}

/**
 * Refuses another minor release while the cluster is not upgradeable; the next patch of the present one is taken
 * (cluster-version-operator 6e71933 pkg/payload/precondition/clusterversion/upgradeable.go).
 */
export function upgradeableProblem(
  { status }: Pick<ClusterVersion, 'status'>,
  version: string,
): FailedPrecondition | undefined {
  const upgradeable = conditionOf(status?.conditions, 'Upgradeable')
  const current = status?.desired.version ?? ''
  if (upgradeable?.status !== 'False' || !isOlder(current, version) || isSameMinor(current, version)) return undefined
  const { reason = '', message = '' } = upgradeable
  return { name: 'ClusterVersionUpgradeable', reason, message, isFinal: false }
}

/** `precondition.Summarize`: undefined where the release may be applied. */
export function blockedBy(problem: FailedPrecondition | undefined, force: boolean): string | undefined {
  if (!problem || (force && !problem.isFinal)) return undefined
  return `Precondition "${problem.name}" failed because of "${problem.reason}": ${problem.message}`
}
