import { defined, errorChain } from '../../../../base/runtime/index.js'
import {
  isTrue,
  type Secret,
  type PreprovisioningImage,
  type ObjectName,
  runController,
  type ReconcileResult,
  type ResourceController,
  type WatchedKind,
} from '../../../../base/kubernetes/index.js'
import { HostImages, type ImageCustomizationParts } from './host-images.js'
import { REMAKES_IMAGES } from './image-behaviours.js'
import {
  isSameConfig,
  notReady,
  retryDelay,
  withError,
  withImage,
  type ImageConfig,
  type ImageStatus,
} from './image-status.js'

const IMAGE_CUSTOMIZATION_CONTROLLER = 'image-customization-controller'

/** A pod of the image customization controller, with the web server of its images. */
export interface ImageCustomizationController extends AsyncDisposable {
  readonly port: number
}

const PREPROVISIONING_FINALIZER = 'preprovisioningimage.metal3.io'
/** Images that the assisted installer makes itself (image-customization-controller eacc65f cmd/controller/main.go). */
const INFRA_ENV = 'infraenvs.agent-install.openshift.io'

/** Opens the image service, and runs the controller that makes its images. */
export async function runImageCustomizationController(
  parts: ImageCustomizationParts,
): Promise<ImageCustomizationController> {
  const images = await HostImages.open(parts)
  const running = runController(new PreprovisioningImageController(parts, images), parts)
  return {
    port: images.port,
    [Symbol.asyncDispose]: async () => {
      await running[Symbol.asyncDispose]()
      await images[Symbol.asyncDispose]()
    },
  }
}

/**
 * Makes an image for each PreprovisioningImage: the live ISO, or its files for the network, with an Ignition config that
 * starts the agent.
 */
class PreprovisioningImageController implements ResourceController {
  readonly name = IMAGE_CUSTOMIZATION_CONTROLLER
  readonly watches: readonly WatchedKind[] = [
    { kind: 'PreprovisioningImage' },
    { kind: 'Secret', keysOf: (at) => this.#imagesWith(at) },
  ]
  readonly #parts: ImageCustomizationParts
  readonly #images: HostImages

  constructor(parts: ImageCustomizationParts, images: HostImages) {
    this.#parts = parts
    this.#images = images
  }

  async reconcile(at: ObjectName): Promise<ReconcileResult> {
    const image = await this.#parts.kube.find('PreprovisioningImage', at)
    if (!image || image.metadata.labels?.[INFRA_ENV] !== undefined) return
    if (image.metadata.deletionTimestamp !== undefined) return this.#release(image)
    const { finalizers = [] } = image.metadata
    if (!finalizers.includes(PREPROVISIONING_FINALIZER))
      return this.#setFinalizers(image, [...finalizers, PREPROVISIONING_FINALIZER])
    const status = image.status ?? {}
    const { next, again } = await this.#nextStatus(image, status)
    if (JSON.stringify(next) !== JSON.stringify(image.status)) {
      await this.#parts.kube.updateStatus<'PreprovisioningImage'>({ ...image, status: next })
      this.#announceChange(image, next)
    }
    if (again !== undefined) return { again }
  }

  /** Images whose network settings are in a Secret. */
  async #imagesWith({ name: secret, namespace }: ObjectName): Promise<ObjectName[]> {
    const { items } = await this.#parts.kube.list('PreprovisioningImage', defined({ namespace }))
    return items
      .filter(({ spec }) => spec.networkDataName === secret)
      .map(({ metadata }) => ({ name: metadata.name, ...defined({ namespace }) }))
  }

  /** Lets a deleted image go once no other finalizer keeps it. */
  async #release(image: PreprovisioningImage): Promise<void> {
    const { finalizers = [] } = image.metadata
    if (finalizers.length !== 1 || finalizers[0] !== PREPROVISIONING_FINALIZER) return
    this.#images.discard(image, image.status ?? {})
    await this.#setFinalizers(image, [])
  }

  async #setFinalizers(image: PreprovisioningImage, finalizers: string[]): Promise<void> {
    const metadata = { ...image.metadata, finalizers }
    await this.#parts.kube.update<'PreprovisioningImage'>({ ...image, metadata })
  }

  async #nextStatus(image: PreprovisioningImage, status: ImageStatus): Promise<{ next: ImageStatus; again?: number }> {
    const { clock } = this.#parts
    const { acceptFormats = [], architecture, networkDataName } = image.spec
    if (!this.#images.supports(architecture))
      return { next: withError(status, 'ConfigurationError', 'Architecture not supported', clock) }
    const [format] = acceptFormats
    if (format === undefined)
      return { next: withError(status, 'ConfigurationError', 'No acceptable image format supported', clock) }
    const network = networkDataName === undefined ? undefined : await this.#secretOf(image, networkDataName)
    if (networkDataName !== undefined && !network)
      return {
        next: withError(status, 'MissingNetworkData', 'NetworkData secret not found', clock),
        again: retryDelay(status, clock),
      }
    const networkData = network ? { name: network.metadata.name, version: network.metadata.resourceVersion } : undefined
    const config: ImageConfig = { format, ...defined({ architecture, networkData }) }
    return isSameConfig(status, config)
      ? { next: this.#makeImage(image, config, network?.data) }
      : { next: this.#takeConfig(image, config), again: 0 }
  }

  #secretOf({ metadata }: PreprovisioningImage, name: string): Promise<Secret | undefined> {
    const namespace = metadata.namespace || undefined
    return this.#parts.kube.find('Secret', { name, ...defined({ namespace }) })
  }

  /** Takes back an image that is ready, and then discards it: its config has changed. */
  #takeConfig(image: PreprovisioningImage, config: ImageConfig): ImageStatus {
    const { clock } = this.#parts
    const { status = {} } = image
    const message = 'Config changed'
    if (isTrue(status.conditions, 'Ready')) return notReady(status, message, clock)
    this.#images.discard(image, status)
    return withImage(status, {}, config, { message, clock })
  }

  #makeImage(image: PreprovisioningImage, config: ImageConfig, network?: Record<string, string>): ImageStatus {
    const { clock, behaviours } = this.#parts
    const { status = {} } = image
    if (isTrue(status.conditions, 'Ready') && !behaviours.has(REMAKES_IMAGES)) return status
    try {
      const built = this.#images.build(image, config, network)
      return withImage(status, built, config, { message: 'Generated image', clock })
    } catch (error) {
      return withError(status, 'ImageBuildInvalid', errorChain(error).join(': '), clock)
    }
  }

  #announceChange({ metadata, status: before }: PreprovisioningImage, next: ImageStatus): void {
    const { announce } = this.#parts
    const error = next.conditions?.find(({ type, status }) => type === 'Error' && status === 'True')
    if (error)
      announce({
        actor: IMAGE_CUSTOMIZATION_CONTROLLER,
        does: `cannot make an image for ${metadata.name}`,
        because: error.message ?? '',
      })
    else if (next.imageUrl !== undefined && next.imageUrl !== before?.imageUrl)
      announce({
        actor: IMAGE_CUSTOMIZATION_CONTROLLER,
        does: `makes the ${next.format} of ${metadata.name}`,
        because: 'it has a new live image',
      })
  }
}
