import { isDeepStrictEqual } from 'node:util'
import { minutes, randomUuid } from '../../../../base/runtime/index.js'
import { conditionOf } from '../../kube/conditions.js'
import type { ClusterVersion } from '../../kube/kinds/config-kinds.js'
import type { ContainerPuller, ReleasePayload } from '../../site/site-releases.js'
import { runActor, type ActorParts, type Next } from '../actor.js'
import { applyRelease } from './apply-release.js'
import { loadPayload, type DesiredUpdate } from './load-payload.js'
import { readVersion } from './release-version.js'
import {
  emptyStatus,
  withAcceptance,
  withProgress,
  withRelease,
  withValidity,
  type VersionStatus,
} from './version-status.js'

const CLUSTER_VERSION_OPERATOR = 'cluster-version-operator'
const CLUSTER_VERSION_NAME = { name: 'version' }
/** Time until a release that was not accepted is checked again. */
const RELEASE_RETRY_DELAY = minutes(2)

export interface VersionOperatorParts extends ActorParts {
  registry: ContainerPuller
  /** Pullspec of the release that the cluster is installed with. */
  release: string
}

/**
 * Brings the cluster to the release that its ClusterVersion asks for: pulls the payload, checks that the cluster may have
 * it, applies its manifests in their order, and waits for each operator to report the new version.
 */
export function runClusterVersionOperator(parts: VersionOperatorParts): AsyncDisposable {
  const { kube, clock, registry, behaviours, announce } = parts
  const payloads = new Map<string, ReleasePayload>()

  const reconcile = async (signal: AbortSignal): Promise<Next> => {
    const cluster = await kube.find('ClusterVersion', CLUSTER_VERSION_NAME)
    if (!cluster) return
    const before = cluster.status ?? emptyStatus
    const wanted = desiredUpdate(cluster)
    const isProblem = typeof wanted === 'string'
    const validated = withValidity(before, isProblem ? wanted : undefined, clock)
    const observed = { ...validated, observedGeneration: cluster.metadata.generation }
    const [current] = before.history
    const installed: DesiredUpdate = { version: '', image: parts.release, force: false }
    const stays: DesiredUpdate = current ? { ...current, force: false } : installed
    const update = isProblem ? stays : (wanted ?? stays)

    const known = payloads.get(update.image)
    const isCurrent = current !== undefined && update.image === current.image
    const loaded =
      known && isCurrent ? { payload: known } : await loadPayload(update, cluster, { registry, behaviours, signal })
    if ('payload' in loaded) {
      const { payload } = loaded
      payloads.set(update.image, payload)
      const accepted = { version: payload.version, image: update.image }
      if (!isCurrent)
        announce({
          actor: CLUSTER_VERSION_OPERATOR,
          does: `accepts ${payload.version}`,
          because: 'the payload is verified',
        })
      return apply(withRelease(withAcceptance(observed, accepted, undefined, clock), accepted, clock), payload, cluster)
    }
    const refused = withAcceptance(observed, update, loaded, clock)
    if (conditionOf(before.conditions, 'ReleaseAccepted')?.message !== loaded.message)
      announce({
        actor: CLUSTER_VERSION_OPERATOR,
        does: `refuses ${update.version || update.image}`,
        because: reasonIn(loaded.message),
      })
    const goesOn = current && payloads.get(current.image)
    if (goesOn) await apply(refused, goesOn, cluster)
    else await save(cluster, refused)
    return { again: RELEASE_RETRY_DELAY }
  }

  const apply = async (status: VersionStatus, payload: ReleasePayload, cluster: ClusterVersion): Promise<Next> => {
    const saved = await save(cluster, status)
    const applied = await applyRelease(payload, parts)
    const next = withProgress(status, applied, clock)
    await save(saved, next)
    announceChange(saved.status ?? emptyStatus, next)
    const times = applied.waitsFor.flatMap(({ until }) => until ?? [])
    if (times.length > 0) return { again: Math.max(0, Math.min(...times) - clock.now()) }
  }

  const save = async (cluster: ClusterVersion, status: VersionStatus): Promise<ClusterVersion> =>
    isDeepStrictEqual(cluster.status, status) ? cluster : kube.updateStatus<'ClusterVersion'>({ ...cluster, status })

  const announceChange = (before: VersionStatus, after: VersionStatus): void => {
    const { version } = after.desired
    const [was, is] = [before, after].map(({ conditions }) => conditionOf(conditions, 'Progressing'))
    if (after.history[0]?.state === 'Completed' && before.history[0]?.state !== 'Completed')
      announce({
        actor: CLUSTER_VERSION_OPERATOR,
        does: `completes the update to ${version}`,
        because: 'all operators have reported it',
      })
    else if (is?.status === 'True' && was?.message !== is.message)
      announce({
        actor: CLUSTER_VERSION_OPERATOR,
        does: `waits with the update to ${version}`,
        because: waitIn(is.message ?? ''),
      })
  }

  const actor = runActor(
    {
      name: CLUSTER_VERSION_OPERATOR,
      watches: [{ kind: 'ClusterVersion' }, { kind: 'ClusterOperator', keysOf: () => [CLUSTER_VERSION_NAME] }],
      reconcile: (_at, signal) => reconcile(signal),
    },
    parts,
  )
  const creating = createdOnce(parts)
  return {
    [Symbol.asyncDispose]: async () => {
      await creating
      await actor[Symbol.asyncDispose]()
    },
  }
}

/** Creates the ClusterVersion of a cluster that has none. */
async function createdOnce({ kube, random, logger }: ActorParts): Promise<void> {
  try {
    if (!(await kube.find('ClusterVersion', CLUSTER_VERSION_NAME)))
      await kube.create<'ClusterVersion'>(newClusterVersion(randomUuid(random)))
  } catch (error) {
    logger('error', 'the ClusterVersion cannot be created', { error })
  }
}

const newClusterVersion = (clusterID: string) => ({
  apiVersion: 'config.openshift.io/v1',
  kind: 'ClusterVersion' as const,
  metadata: CLUSTER_VERSION_NAME,
  spec: { clusterID },
})

/** The update that the administrator asks for; a sentence where it cannot be used (cluster-version-operator 6e71933 lib/validation). */
function desiredUpdate({ spec, status }: ClusterVersion): DesiredUpdate | string | undefined {
  const { version = '', image = '', force = false } = spec.desiredUpdate ?? {}
  if (!spec.desiredUpdate) return undefined
  if (version === '' && image === '') return 'spec.desiredUpdate: Required value: must specify version or image'
  const invalid = `spec.desiredUpdate.version: Invalid value: ${JSON.stringify(version)}:`
  if (version !== '' && !readVersion(version)) return `${invalid} must be a semantic version (1.2.3[-...])`
  if (image !== '') return { version, image, force }
  const images = [...new Set(status?.history.filter((one) => one.version === version).map((one) => one.image))]
  if (images.length === 1) return { version, image: images[0]!, force }
  return images.length === 0
    ? `${invalid} when image is empty the update must be an available update`
    : `${invalid} there are multiple possible payloads for this version, specify the exact image`
}

/** The end of a message of `ReleaseAccepted`, without the names before it. */
const reasonIn = (message: string): string =>
  /(?:failure=|failed because of "\w+": )(.*)$/s.exec(message)?.[1] ?? message

const waitIn = (message: string): string => message.split(', ').slice(1).join(', ') || message
