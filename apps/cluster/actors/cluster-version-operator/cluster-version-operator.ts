import { isDeepStrictEqual } from 'node:util'
import { defined, minutes, randomUuid } from '../../../../base/runtime/index.js'
import {
  conditionOf,
  type ClusterVersion,
  type ObjectName,
  type ActorParts,
  runController,
  type ReconcileResult,
  type ResourceController,
  type WatchedKind,
} from '../../../../base/kubernetes/index.js'
import type { ContainerPuller, ReleasePayload } from '../../site/site-releases.js'
import { applyRelease } from './apply-release.js'
import { HEEDS_UPGRADEABLE } from './cluster-version-behaviours.js'
import { loadPayload, type DesiredUpdate, type LoadedPayload, type LoadRefusal } from './load-payload.js'
import { readVersion } from './release-version.js'
import {
  emptyStatus,
  withAcceptance,
  withProgress,
  withRelease,
  withUpgradeable,
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

/** The cluster version operator; it creates the ClusterVersion if absent. */
export function runClusterVersionOperator(parts: VersionOperatorParts): AsyncDisposable {
  const running = runController(new ClusterVersionController(parts), parts)
  const creating = createdOnce(parts)
  return {
    [Symbol.asyncDispose]: async () => {
      await creating
      await running[Symbol.asyncDispose]()
    },
  }
}

/**
 * Brings the cluster to the release that its ClusterVersion asks for: pulls the payload, checks that the cluster may have
 * it, applies its manifests in their order, and waits for each operator to report the new version.
 */
class ClusterVersionController implements ResourceController {
  readonly name = CLUSTER_VERSION_OPERATOR
  readonly watches: readonly WatchedKind[] = [
    { kind: 'ClusterVersion' },
    { kind: 'ClusterOperator', keysOf: () => [CLUSTER_VERSION_NAME] },
  ]
  readonly #parts: VersionOperatorParts
  /** Payloads that were accepted, by image. */
  readonly #payloads = new Map<string, ReleasePayload>()

  constructor(parts: VersionOperatorParts) {
    this.#parts = parts
  }

  async reconcile(_at: ObjectName, signal: AbortSignal): Promise<ReconcileResult> {
    const { kube, clock, release } = this.#parts
    const cluster = await kube.find('ClusterVersion', CLUSTER_VERSION_NAME)
    if (!cluster) return
    const before = cluster.status ?? emptyStatus
    const wanted = desiredUpdate(cluster)
    const problem = typeof wanted === 'string' ? wanted : undefined
    const observed = {
      ...withValidity(await this.#upgradeability(before), problem, clock),
      observedGeneration: cluster.metadata.generation,
    }
    const update = typeof wanted === 'object' ? wanted : currentUpdate(before, release)
    const loaded = await this.#load(update, { ...cluster, status: observed }, signal)
    return 'payload' in loaded
      ? this.#accept(update, loaded.payload, { cluster, observed })
      : this.#refuse(update, loaded, { cluster, observed })
  }

  /** The status with what operators say about upgrades, which only today's operator asks them. */
  async #upgradeability(status: VersionStatus): Promise<VersionStatus> {
    const { kube, clock, behaviours } = this.#parts
    if (!behaviours.has(HEEDS_UPGRADEABLE)) return status
    return withUpgradeable(status, (await kube.list('ClusterOperator')).items, clock)
  }

  /** Pulls a payload and checks it; the payload that is applied already is neither pulled nor checked again. */
  async #load(update: DesiredUpdate, cluster: ClusterVersion, signal: AbortSignal): Promise<LoadedPayload> {
    const { registry, behaviours } = this.#parts
    const known = this.#payloads.get(update.image)
    return known && isCurrent(update, cluster)
      ? { payload: known }
      : loadPayload(update, cluster, { registry, behaviours, signal })
  }

  async #accept(
    update: DesiredUpdate,
    payload: ReleasePayload,
    { cluster, observed }: ObservedVersion,
  ): Promise<ReconcileResult> {
    const { clock, announce } = this.#parts
    this.#payloads.set(update.image, payload)
    const { version } = payload
    const accepted = { version, image: update.image }
    if (!isCurrent(update, cluster))
      announce({ actor: CLUSTER_VERSION_OPERATOR, does: `accepts ${version}`, because: 'the payload is verified' })
    const status = withRelease(withAcceptance(observed, accepted, undefined, clock), accepted, clock)
    return this.#apply(status, payload, cluster)
  }

  /** Says why a release is refused, and goes on with the present one. */
  async #refuse(
    update: DesiredUpdate,
    refusal: LoadRefusal,
    { cluster, observed }: ObservedVersion,
  ): Promise<ReconcileResult> {
    const { clock, announce } = this.#parts
    const refused = withAcceptance(observed, update, refusal, clock)
    if (conditionOf(cluster.status?.conditions, 'ReleaseAccepted')?.message !== refusal.message)
      announce({
        actor: CLUSTER_VERSION_OPERATOR,
        does: `refuses ${update.version || update.image}`,
        because: reasonIn(refusal.message),
        ...defined({ document: refusal.document }),
      })
    const [current] = cluster.status?.history ?? []
    const present = current && this.#payloads.get(current.image)
    if (present) await this.#apply(refused, present, cluster)
    else await this.#save(cluster, refused)
    return { again: RELEASE_RETRY_DELAY }
  }

  async #apply(status: VersionStatus, payload: ReleasePayload, cluster: ClusterVersion): Promise<ReconcileResult> {
    const { clock } = this.#parts
    const saved = await this.#save(cluster, status)
    const applied = await applyRelease(payload, this.#parts)
    const next = withProgress(status, applied, clock)
    await this.#save(saved, next)
    this.#announceChange(saved.status ?? emptyStatus, next)
    const times = applied.waitsFor.flatMap(({ until }) => until ?? [])
    if (times.length > 0) return { again: Math.max(0, Math.min(...times) - clock.now()) }
  }

  async #save(cluster: ClusterVersion, status: VersionStatus): Promise<ClusterVersion> {
    if (isDeepStrictEqual(cluster.status, status)) return cluster
    return this.#parts.kube.updateStatus<'ClusterVersion'>({ ...cluster, status })
  }

  #announceChange(before: VersionStatus, after: VersionStatus): void {
    const { announce } = this.#parts
    const { version } = after.desired
    const was = conditionOf(before.conditions, 'Progressing')
    const is = conditionOf(after.conditions, 'Progressing')
    if (after.history[0]?.state === 'Completed' && before.history[0]?.state !== 'Completed')
      announce({
        actor: CLUSTER_VERSION_OPERATOR,
        does: `completes the update to ${version}`,
        because: 'all operators have reported it',
      })
    else if (is?.status === 'True' && was?.message !== is.message)
      announce({
        actor: CLUSTER_VERSION_OPERATOR,
        does: `delays the update to ${version}`,
        because: waitIn(is.message ?? ''),
      })
  }
}

/** A ClusterVersion as it was read, and its status as far as a pass has come. */
interface ObservedVersion {
  cluster: ClusterVersion
  observed: VersionStatus
}

const isCurrent = ({ image }: DesiredUpdate, { status }: ClusterVersion): boolean => status?.history[0]?.image === image

/** The update to what the cluster runs, or was installed with. */
function currentUpdate({ history }: VersionStatus, installed: string): DesiredUpdate {
  const [current] = history
  return current ? { ...current, force: false } : { version: '', image: installed, force: false }
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
  const known = [...(status?.availableUpdates ?? []), ...(status?.history ?? [])]
  const images = [...new Set(known.filter((one) => one.version === version).map((one) => one.image))]
  if (images.length === 1) return { version, image: images[0]!, force }
  return images.length === 0
    ? `${invalid} when image is empty the update must be an available update`
    : `${invalid} there are multiple possible payloads for this version, specify the exact image`
}

/** The end of a message of `ReleaseAccepted`, without the names before it. */
const reasonIn = (message: string): string =>
  /(?:failure=|failed because of "\w+": )(.*)$/s.exec(message)?.[1] ?? message

const waitIn = (message: string): string => message.split(', ').slice(1).join(', ') || message
