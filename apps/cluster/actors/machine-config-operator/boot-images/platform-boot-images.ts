import {
  isBehaviourOf,
  type MachineSet,
  type ActorParts,
  watchObject,
  type ResourceController,
  type WatchedKind,
} from '../../../../../base/kubernetes/index.js'
import { platformOf, releaseOfOperator } from '../cluster-facts.js'
import { SKIPS_BARE_METAL } from '../machine-config-behaviours.js'
import { BOOT_IMAGES, MACHINE_API, MACHINE_CONFIG_OPERATOR, OS_IMAGE } from '../machine-config-names.js'
import { approvedByRelease } from './approved-image.js'
import { machineSetArchitecture, offeredImage } from './boot-image-sources.js'

const BOOT_IMAGES_NAME = { name: 'boot-images' }

/**
 * The boot image controller as it is today: it gives machine sets images on some clouds, and leaves those of all other
 * platforms alone, bare metal among them (machine-config-operator 7ff337a pkg/controller/bootimage/platform_helpers.go
 * checkMachineSet). It acts only while the last upgrade is complete (helpers.go isClusterStable). No cloud is simulated, so
 * that it changes nothing here.
 */
export class PlatformBootImages implements ResourceController {
  readonly name = `${MACHINE_CONFIG_OPERATOR}: boot images`
  readonly watches: readonly WatchedKind[] = [
    { kind: 'ClusterVersion', keysOf: () => [BOOT_IMAGES_NAME] },
    { kind: 'MachineSet', keysOf: () => [BOOT_IMAGES_NAME] },
    watchObject('ConfigMap', BOOT_IMAGES, BOOT_IMAGES_NAME),
    watchObject('ConfigMap', OS_IMAGE, BOOT_IMAGES_NAME),
  ]
  readonly #parts: ActorParts
  /** Releases in which machine sets were skipped last, by name. */
  readonly #skipped = new Map<string, string>()

  constructor(parts: ActorParts) {
    this.#parts = parts
  }

  async reconcile(): Promise<void> {
    const { kube, behaviours } = this.#parts
    const release = await releaseOfOperator(kube)
    // Releases before it have no such controller.
    if (release === undefined || !isBehaviourOf(SKIPS_BARE_METAL, 'today', release)) return
    const cluster = await kube.find('ClusterVersion', { name: 'version' })
    if (cluster?.status?.history[0]?.state !== 'Completed') return
    for (const set of (await kube.list('MachineSet')).items)
      if (behaviours.has(SKIPS_BARE_METAL)) await this.#skip(set, release)
      else await this.#offer(set)
  }

  async #skip({ metadata }: MachineSet, release: string): Promise<void> {
    const { kube, announce } = this.#parts
    if (this.#skipped.get(metadata.name) === release) return
    this.#skipped.set(metadata.name, release)
    announce({
      actor: MACHINE_CONFIG_OPERATOR,
      does: `leaves the boot image of machine set ${metadata.name} as it is`,
      because: `Skipping machineset ${metadata.name}, unsupported platform ${await platformOf(kube)}`,
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
