import { conditionOf, type Behaviours, type ClusterVersion } from '../../../../base/kubernetes/index.js'
import {
  HEEDS_UPGRADEABLE,
  KEEPS_FIRST_RELEASE,
  REFUSES_DOWNGRADES,
  REFUSES_GIANT_HOPS,
} from './cluster-version-behaviours.js'
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

/** Everything that is against a release, by the operator of the release that the cluster has. */
export function failedPreconditions(
  cluster: Pick<ClusterVersion, 'status'>,
  version: string,
  behaviours: Behaviours,
): FailedPrecondition[] {
  const own = behaviours.of(cluster.status?.history[0]?.version)
  const found = [
    own.has(REFUSES_DOWNGRADES) ? rollbackProblem(cluster, version, own.has(KEEPS_FIRST_RELEASE)) : undefined,
    own.has(REFUSES_GIANT_HOPS) ? giantHopProblem(cluster, version) : undefined,
    own.has(HEEDS_UPGRADEABLE) ? upgradeableProblem(cluster, version) : undefined,
  ]
  return found.filter((one) => one !== undefined)
}

/**
 * A release that is more than one minor release ahead (cluster-version-operator 6e71933
 * pkg/payload/precondition/clusterversion/gianthop.go); from 4 to 5.0 it may be any.
 */
function giantHopProblem({ status }: Pick<ClusterVersion, 'status'>, version: string): FailedPrecondition | undefined {
  const current = status?.history[0]?.version ?? ''
  const [major, minor] = readVersion(current)?.numbers ?? [0, 0]
  const [nextMajor, nextMinor] = readVersion(version)?.numbers ?? [0, 0]
  if (current === '' || nextMajor !== major || nextMinor <= minor + 1) return undefined
  const message =
    `${version} is more than one minor version beyond the current target ${current} (${nextMajor}.${nextMinor} > ${major}.(${minor}+1)), ` +
    'and only updates within the current minor version or to the next minor version are supported.'
  return { name: 'ClusterVersionGiantHop', reason: 'MultipleMinorVersionsUpdate', message, isFinal: false }
}

/** A next minor release while an operator says that the cluster is not to be upgraded (upgradeable.go there). */
function upgradeableProblem(
  { status }: Pick<ClusterVersion, 'status'>,
  version: string,
): FailedPrecondition | undefined {
  const found = conditionOf(status?.conditions, 'Upgradeable')
  const current = status?.desired.version ?? ''
  if (found?.status !== 'False' || !isOlder(current, version) || isSameMinor(current, version)) return undefined
  const { reason = '', message = '' } = found
  return { name: 'ClusterVersionUpgradeable', reason, message, isFinal: false }
}

/**
 * Compares a release with those that the cluster had. Kinds of boot images and pinned machine sets make no difference: it
 * is the release that is too old (cluster-version-operator 6e71933 pkg/payload/precondition/clusterversion/rollback.go;
 * the first version is the rule of the design documents, which has no exception).
 */
function rollbackProblem(
  { status }: Pick<ClusterVersion, 'status'>,
  version: string,
  keepsFirst: boolean,
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
  if (keepsFirst && isOlder(version, first.version))
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

/** `precondition.Summarize`: undefined where the release may be applied. */
export function blockedBy(problems: readonly FailedPrecondition[], force: boolean): string | undefined {
  const sentences = problems
    .filter(({ isFinal }) => isFinal || !force)
    .map(({ name, reason, message }) => `Precondition "${name}" failed because of "${reason}": ${message}`)
  return sentences.length > 1 ? `Multiple precondition checks failed:\n* ${sentences.join('\n* ')}` : sentences[0]
}
