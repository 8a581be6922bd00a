import { isDeepStrictEqual } from 'node:util'
import {
  withCondition,
  type ConditionChange,
  type ClusterVersion,
  type MachineSet,
  type ObjectName,
  type ActorParts,
  watchObject,
  type ResourceController,
  type WatchedKind,
} from '../../../../../base/kubernetes/index.js'
import type { ContainerPuller } from '../../../site/site-releases.js'
import {
  KEEPS_PINNED,
  NAMES_SKEW,
  REFUSES_OLDER_BOOT_IMAGES,
  UPDATES_BOOT_IMAGES,
  WITHHOLDS_BOOT_IMAGES,
} from '../machine-config-behaviours.js'
import { BOOT_IMAGES, CLUSTER_OPERATOR, MACHINE_API, MACHINE_CONFIG_OPERATOR } from '../machine-config-names.js'
import {
  approvedByRelease,
  approvedImage,
  imageFileName,
  isPinned,
  presentImage,
  BOOT_IMAGE_REFUSED,
  withApprovedImage,
  type ApprovedImage,
} from './approved-image.js'
import { initialVersion, writeRecord } from './boot-image-record.js'
import {
  isOlder,
  machineSetArchitecture,
  offeredImage,
  payloadVersion,
  skewOf,
  versionOfSet,
  type BootImagePlace,
  type OfferedImage,
} from './boot-image-sources.js'
import { pendingUpgrade } from './pending-upgrade.js'

export interface BootImageParts extends ActorParts {
  registry: ContainerPuller
}

/** Versions of boot images, as far as they are known. */
interface ImageVersions {
  /** Version of the image that the machine set has now. */
  present: string | undefined
  /** Version of the image that the cluster was installed with. */
  initial: string | undefined
}

const BOOT_IMAGES_NAME = { name: 'boot-images' }

/**
 * Gives machine sets the boot image of the release, but only once the upgrade to it is complete and every node runs it: a
 * new machine must not be newer than the cluster that it joins. After pkg/controller/bootimage of
 * machine-config-operator 7ff337a, which does so for clouds and is content with the ClusterVersion.
 */
export class BootImageController implements ResourceController {
  readonly name = `${MACHINE_CONFIG_OPERATOR}: boot images`
  readonly watches: readonly WatchedKind[] = [
    { kind: 'ClusterVersion', keysOf: () => [BOOT_IMAGES_NAME] },
    { kind: 'MachineConfigPool', keysOf: () => [BOOT_IMAGES_NAME] },
    { kind: 'MachineConfig', keysOf: () => [BOOT_IMAGES_NAME] },
    { kind: 'MachineSet', keysOf: () => [BOOT_IMAGES_NAME] },
    watchObject('ClusterOperator', CLUSTER_OPERATOR, BOOT_IMAGES_NAME),
    watchObject('ConfigMap', BOOT_IMAGES, BOOT_IMAGES_NAME),
  ]
  readonly #parts: BootImageParts

  constructor(parts: BootImageParts) {
    this.#parts = parts
  }

  async reconcile(_at: ObjectName, signal: AbortSignal): Promise<void> {
    const { kube, behaviours } = this.#parts
    const cluster = await kube.find('ClusterVersion', { name: 'version' })
    const pending = await pendingUpgrade(cluster, this.#parts)
    for (const set of (await kube.list('MachineSet')).items)
      if (set.metadata.deletionTimestamp === undefined) await this.#reconcileSet(set, pending)
    if (pending === undefined && behaviours.has(NAMES_SKEW)) await this.#reportSkew(cluster!, signal)
  }

  async #reconcileSet(set: MachineSet, pending: string | undefined): Promise<void> {
    const { kube, behaviours } = this.#parts
    if (isPinned(set) && behaviours.has(KEEPS_PINNED)) return
    const offered = await offeredImage(kube, machineSetArchitecture(set))
    const present = versionOfSet(set, offered ? [offered] : [])
    const initial = await initialVersion(kube, present ?? offered?.version)
    if (pending !== undefined && behaviours.has(WITHHOLDS_BOOT_IMAGES)) await this.#withhold(set, present, pending)
    else if (offered && behaviours.has(UPDATES_BOOT_IMAGES)) await this.#offer(set, offered, { present, initial })
  }

  /** Keeps the image that a machine set had before the upgrade. */
  async #withhold(set: MachineSet, version: string | undefined, pending: string): Promise<void> {
    const present = presentImage(set)
    const approved = approvedImage(set)
    if (!approved) await this.#approve(set, present, version)
    else if (!isDeepStrictEqual(approved, present))
      await this.#putBack(set, approved, `the boot image ${version ?? imageFileName(present)} is withheld: ${pending}`)
  }

  /** Gives a machine set the image of the release, or takes away another that it was given. */
  async #offer(set: MachineSet, offered: OfferedImage, versions: ImageVersions): Promise<void> {
    const { behaviours, announce } = this.#parts
    const { present, initial } = versions
    const has = presentImage(set)
    const approved = approvedImage(set)
    const wanted = approvedByRelease(offered)
    const isApproved = isDeepStrictEqual(approved, has)
    if (isDeepStrictEqual(wanted, has)) {
      if (!isApproved) await this.#approve(set, has, offered.version)
      return
    }
    if (approved && !isApproved && isDeepStrictEqual(approved, wanted)) {
      if (!isOlderThan(present, initial))
        await this.#putBack(set, approved, `${present ?? imageFileName(has)} is not the boot image of the release`)
      else if (behaviours.has(REFUSES_OLDER_BOOT_IMAGES))
        await this.#putBack(set, approved, olderThanInstalled(present, initial))
      return
    }
    if (isOlderThan(offered.version, initial) && behaviours.has(REFUSES_OLDER_BOOT_IMAGES))
      return this.#refuse(set, olderThanInstalled(offered.version, initial))
    announce({
      actor: MACHINE_CONFIG_OPERATOR,
      does: `gives machine set ${set.metadata.name} the boot image ${offered.version}`,
      because: 'the upgrade is complete: every node runs the release',
      document: UPDATES_BOOT_IMAGES.document,
    })
    await this.#approve(set, wanted, offered.version)
  }

  async #approve(set: MachineSet, image: ApprovedImage, version: string | undefined): Promise<void> {
    await this.#parts.kube.update<'MachineSet'>(withApprovedImage(set, image, { version }))
  }

  async #putBack(set: MachineSet, approved: ApprovedImage, why: string): Promise<void> {
    const { kube, announce } = this.#parts
    announce({
      actor: MACHINE_CONFIG_OPERATOR,
      does: `reverts the boot image of machine set ${set.metadata.name}`,
      because: why,
      document: WITHHOLDS_BOOT_IMAGES.document,
    })
    await kube.update<'MachineSet'>(withApprovedImage(set, approved, { refused: why }))
  }

  async #refuse({ metadata }: MachineSet, why: string): Promise<void> {
    const { kube, announce } = this.#parts
    if (metadata.annotations?.[BOOT_IMAGE_REFUSED] === why) return
    announce({
      actor: MACHINE_CONFIG_OPERATOR,
      does: `refuses the boot image for machine set ${metadata.name}`,
      because: why,
      document: REFUSES_OLDER_BOOT_IMAGES.document,
    })
    const { name, namespace = MACHINE_API } = metadata
    await kube.patch('MachineSet', { name, namespace }, { metadata: { annotations: { [BOOT_IMAGE_REFUSED]: why } } })
  }

  /** Compares the versions of all places, and reports a difference in the ClusterOperator. */
  async #reportSkew(cluster: ClusterVersion, signal: AbortSignal): Promise<void> {
    const { kube, clock, announce } = this.#parts
    const places = await this.#places(cluster, signal)
    const skew = skewOf(places)
    await writeRecord(kube, { skew: skew === undefined ? null : JSON.stringify(places) })
    const operator = await kube.find('ClusterOperator', CLUSTER_OPERATOR)
    if (!operator?.status) return
    const conditions = withCondition(operator.status.conditions, skewCondition(skew), clock)
    if (isDeepStrictEqual(conditions, operator.status.conditions)) return
    await kube.updateStatus<'ClusterOperator'>({ ...operator, status: { ...operator.status, conditions } })
    if (skew !== undefined)
      announce({
        actor: MACHINE_CONFIG_OPERATOR,
        does: 'reports different boot images',
        because: skew,
        document: NAMES_SKEW.document,
      })
  }

  /** The places that name a version of the boot image. */
  async #places(cluster: ClusterVersion, signal: AbortSignal): Promise<BootImagePlace[]> {
    const { kube, registry } = this.#parts
    const { items: sets } = await kube.list('MachineSet')
    const offered = await offeredImage(kube, 'x86_64')
    const built = await payloadVersion(registry, cluster.status!.desired.image, signal)
    const places: BootImagePlace[] = []
    if (offered) places.push({ place: 'coreos-bootimages', version: offered.version })
    if (built !== undefined) places.push({ place: 'release payload', version: built })
    for (const set of sets) {
      if (isPinned(set)) continue
      const version = versionOfSet(set, offered ? [offered] : [])
      if (version !== undefined) places.push({ place: `machine set ${set.metadata.name}`, version })
    }
    return places
  }
}

const isOlderThan = (version: string | undefined, initial: string | undefined): boolean =>
  version !== undefined && initial !== undefined && isOlder(version, initial)

const olderThanInstalled = (version: string | undefined, initial: string | undefined): string =>
  `${version} is older than ${initial}, which the cluster was installed with`

const skewCondition = (skew: string | undefined): ConditionChange =>
  skew === undefined
    ? { type: 'BootImageUpdateDegraded', status: 'False', reason: 'AsExpected' }
    : { type: 'BootImageUpdateDegraded', status: 'True', reason: 'BootImageSkew', message: skew }
