import { isDeepStrictEqual } from 'node:util'
import {
  type ConfigMap,
  type ControlPlaneMachineSet,
  isBehaviourOf,
  type MachineConfiguration,
  type MachineManager,
  type MachineSet,
  type ReconcileResult,
  type ResourceController,
  watchObject,
  type WatchedKind,
} from '../../../../../base/kubernetes/index.js'
import { minutes, seconds } from '../../../../../base/runtime/index.js'
import { CLOUDS, type Cloud } from '../../../site/cloud-platforms.js'
import { platformOf, releaseOfOperator } from '../cluster-facts.js'
import {
  HONOURS_MANAGERS,
  SKIPS_BARE_METAL,
  UPDATES_CLOUD_IMAGES,
  WAITS_FOR_STABILITY,
  WAITS_FOR_STAMPS,
} from '../machine-config-behaviours.js'
import { BOOT_IMAGES, MACHINE_API, MACHINE_CONFIG_OPERATOR, OS_IMAGE, OWN_SETTINGS } from '../machine-config-names.js'
import { approvedByRelease } from './approved-image.js'
import { platformSupport } from './boot-image-platforms.js'
import { isStampedBy } from './boot-image-stamps.js'
import { machineSetArchitecture, offeredImage } from './boot-image-sources.js'
import { eventBetween, type SeenObjects } from './image-events.js'
import { imageConditions, UPDATE_DEGRADED, type ImageCounts } from './image-conditions.js'
import { recordedImage } from './image-record.js'
import { isEnrolled } from './managed-images.js'
import { UpdatedSets, type CloudParts, type ReleaseImages } from './updated-sets.js'

const BOOT_IMAGES_NAME = { name: 'boot-images' }
/** Pauses of a pass until the status is of the settings that are there (helpers.go waitForMachineConfigurationReady). */
const STATUS_POLL_INTERVAL = seconds(5)
const STATUS_TIMEOUT = minutes(2)

/**
 * The boot image controller as it is today: it gives machine sets of some clouds the image that the golden ConfigMap names, and
 * leaves those of all other platforms alone, bare metal among them (machine-config-operator 7ff337a pkg/controller/bootimage).
 * Each pass is about all machine sets; the conditions of the MachineConfiguration name the event that began it.
 */
export class PlatformBootImages implements ResourceController {
  readonly name = `${MACHINE_CONFIG_OPERATOR}: boot images`
  readonly watches: readonly WatchedKind[] = [
    { kind: 'ClusterVersion', keysOf: () => [BOOT_IMAGES_NAME] },
    { kind: 'MachineSet', keysOf: () => [BOOT_IMAGES_NAME] },
    { kind: 'ControlPlaneMachineSet', keysOf: () => [BOOT_IMAGES_NAME] },
    { kind: 'Infrastructure', keysOf: () => [BOOT_IMAGES_NAME] },
    watchObject('MachineConfiguration', OWN_SETTINGS, BOOT_IMAGES_NAME),
    watchObject('ConfigMap', BOOT_IMAGES, BOOT_IMAGES_NAME),
    watchObject('ConfigMap', OS_IMAGE, BOOT_IMAGES_NAME),
  ]
  readonly #parts: CloudParts
  readonly #sets: UpdatedSets
  /** Releases in which machine sets were skipped last, by name. */
  readonly #skipped = new Map<string, string>()
  /** Objects of the last pass. */
  #seen: SeenObjects | undefined
  /** Since when the status is behind the settings. */
  #behindSince: number | undefined

  constructor(parts: CloudParts) {
    this.#parts = parts
    this.#sets = new UpdatedSets(parts)
  }

  async reconcile(): Promise<ReconcileResult> {
    const { kube, behaviours } = this.#parts
    const release = await releaseOfOperator(kube)
    // Releases before it have no such controller.
    if (release === undefined || !isBehaviourOf(SKIPS_BARE_METAL, 'today', release)) return
    const platform = await platformOf(kube)
    const cloud = CLOUDS.find((one) => one === platform && platformSupport(one, release).isManaged)
    if (!cloud) return this.#passOver(platform, release)
    if (!behaviours.has(UPDATES_CLOUD_IMAGES)) return
    const settings = await kube.find('MachineConfiguration', OWN_SETTINGS)
    if (settings?.status?.observedGeneration !== settings?.metadata.generation || !settings)
      return this.#waitForStatus(settings, release)
    this.#behindSince = undefined
    if (behaviours.of(release).has(WAITS_FOR_STABILITY) && !(await this.#isClusterStable())) {
      if (this.#seen) this.#seen.isStable = false
      return
    }
    await this.#pass(cloud, settings, release)
  }

  /** Looks at all machine sets, unless nothing of what it depends on has changed. */
  async #pass(cloud: Cloud, settings: MachineConfiguration, release: string): Promise<void> {
    const { kube } = this.#parts
    const objects = {
      sets: (await kube.list('MachineSet', { namespace: MACHINE_API })).items,
      controlPlane: (await kube.list('ControlPlaneMachineSet', { namespace: MACHINE_API })).items,
      images: await kube.find('ConfigMap', BOOT_IMAGES),
      settings,
      release,
      isStable: true,
    }
    const event = eventBetween(this.#seen, objects)
    if (event === undefined) return
    this.#seen = objects
    const errors: string[] = []
    const images = objects.images && this.#imagesOf(objects.images, cloud, release)
    const sets = this.#enrolled(objects.sets, 'machinesets', settings)
    const controlPlane = platformSupport(cloud, release).managesControlPlane
      ? this.#enrolled(objects.controlPlane, 'controlplanemachinesets', settings)
      : []
    if (!images && sets.length + controlPlane.length > 0) {
      await this.#report(settings, { event, release, errors: [NO_IMAGES] })
      return
    }
    const counts: ImageCounts = {
      controlPlane: await this.#sets.update('ControlPlaneMachineSet', controlPlane, images, errors),
      sets: await this.#sets.update('MachineSet', sets, images, errors),
    }
    await this.#report(settings, { event, release, counts, errors })
  }

  /** Images that machine sets are to have; those of a release that no node runs yet, by the stamps, are not to be used. */
  #imagesOf(map: ConfigMap, cloud: Cloud, release: string): ReleaseImages {
    const waits = this.#parts.behaviours.of(release).has(WAITS_FOR_STAMPS) && !isStampedBy(map, release)
    return { map, cloud, release, isWithheld: waits }
  }

  #enrolled<T extends MachineSet | ControlPlaneMachineSet>(
    sets: readonly T[],
    resource: MachineManager['resource'],
    { status }: MachineConfiguration,
  ): T[] {
    if (!this.#parts.behaviours.has(HONOURS_MANAGERS)) return [...sets]
    return sets.filter(({ metadata }) => isEnrolled(status?.managedBootImagesStatus, resource, metadata.labels))
  }

  async #isClusterStable(): Promise<boolean> {
    const cluster = await this.#parts.kube.find('ClusterVersion', { name: 'version' })
    return cluster?.status?.history[0]?.state === 'Completed'
  }

  /** Waits for the status of the settings; after two minutes the conditions say that it is not there. */
  async #waitForStatus(settings: MachineConfiguration | undefined, release: string): Promise<ReconcileResult> {
    const { clock } = this.#parts
    this.#behindSince ??= clock.now()
    if (settings && clock.now() - this.#behindSince >= STATUS_TIMEOUT)
      await this.#report(settings, { event: 'BootImageUpdateConfigurationUpdated', release, errors: [NO_STATUS] })
    return { again: STATUS_POLL_INTERVAL }
  }

  /** Writes the conditions, and the version that the boot images have now. */
  async #report(
    settings: MachineConfiguration,
    account: { event: string; release: string; counts?: ImageCounts; errors: readonly string[] },
  ): Promise<void> {
    const { kube, clock, announce } = this.#parts
    const { status = {} } = settings
    const { counts = this.#sets.nothing, errors } = account
    const conditions = imageConditions(status.conditions, { ...account, counts }, clock)
    const enforcement = await recordedImage(status.bootImageSkewEnforcementStatus, { counts, errors }, kube)
    const next = { ...status, conditions, ...(enforcement && { bootImageSkewEnforcementStatus: enforcement }) }
    if (isDeepStrictEqual(next, status)) return
    await kube.updateStatus<'MachineConfiguration'>({ ...settings, status: next })
    const degraded = conditions.find(({ type }) => type === UPDATE_DEGRADED)
    const before = status.conditions?.find(({ type }) => type === UPDATE_DEGRADED)
    if (degraded?.status === 'True' && before?.message !== degraded.message)
      announce({
        actor: MACHINE_CONFIG_OPERATOR,
        does: 'reports that boot images cannot be updated',
        because: degraded.message ?? '',
      })
  }

  /** Machine sets of a platform that it does not manage. */
  async #passOver(platform: string, release: string): Promise<void> {
    const { kube, behaviours } = this.#parts
    if (!(await this.#isClusterStable())) return
    for (const set of (await kube.list('MachineSet')).items)
      if (behaviours.has(SKIPS_BARE_METAL)) this.#skip(set, platform, release)
      else await this.#offer(set)
  }

  #skip({ metadata }: MachineSet, platform: string, release: string): void {
    if (this.#skipped.get(metadata.name) === release) return
    this.#skipped.set(metadata.name, release)
    this.#parts.announce({
      actor: MACHINE_CONFIG_OPERATOR,
      does: `leaves the boot image of machine set ${metadata.name} as it is`,
      because: `Skipping machineset ${metadata.name}, unsupported platform ${platform}`,
    })
  }

  async #offer(set: MachineSet): Promise<void> {
    const { kube } = this.#parts
    const offered = await offeredImage(kube, machineSetArchitecture(set))
    if (!offered) return
    const { name, namespace = MACHINE_API } = set.metadata
    const value = approvedByRelease(offered)
    await kube.patch('MachineSet', { name, namespace }, { spec: { template: { spec: { providerSpec: { value } } } } })
  }
}

const NO_IMAGES = 'failed to fetch coreos-bootimages config map: configmap "coreos-bootimages" not found'
const NO_STATUS = 'MachineConfiguration was not ready: MachineConfiguration.Status is not up to date'
