import {
  agentConfig,
  type AgentConfigOptions,
  linkedIsos,
  openImageService,
  type ImageService,
} from '../../../../coreos/index.js'
import { defined, urlSafeToken, withClockHeld } from '../../../../base/runtime/index.js'
import type { PreprovisioningImage, ActorParts } from '../../../../base/kubernetes/index.js'
import { EMBEDS_THE_AGENT, IMAGES_BY_STREAM, ONE_IMAGE_A_HOST } from './image-behaviours.js'
import { baseImageFor, HOST_ARCHITECTURE, namedFiles, STREAM_LABEL, type BaseImages } from './base-images.js'
import type { BuiltImage, ImageConfig, ImageStatus } from './image-status.js'
import { networkKeyfiles } from './network-keyfiles.js'

export interface ImageCustomizationParts extends ActorParts {
  /** Folder with the release's live ISOs, as machine-os-images has copied and linked them. */
  images: string
  /** `IRONIC_BASE_URL` */
  ironicUrl: string
  /** `IRONIC_AGENT_IMAGE` */
  agentImage: string
  /** Contents of the registries.conf of its host, which names the mirrors. */
  registriesConf?: string
  /** Further settings of its environment, which all deploy images follow. */
  site?: ImageSite
  /** Port of the image service; 0 takes a free one. */
  port: number
}

/** `ADDITIONAL_NTP_SERVERS`, `IP_OPTIONS`, `IRONIC_RAMDISK_SSH_KEY`, `HTTP_PROXY` ..., and the mounted pull secret. */
export type ImageSite = Pick<AgentConfigOptions, 'ntpServers' | 'ipOptions' | 'sshKeys' | 'proxies' | 'pullSecret'>

/**
 * The image service, and the images in it. Their names are random and in memory, as in the real controller, so that a new
 * pod has new URLs.
 */
export class HostImages implements AsyncDisposable {
  readonly #parts: ImageCustomizationParts
  readonly #service: ImageService
  readonly #bases: BaseImages
  /** Ignition configs by the name of their image. */
  readonly #configs: Map<string, string>
  /** Names of images by their keys: another one once an image is discarded. */
  readonly #names = new Map<string, string>()

  private constructor(
    parts: ImageCustomizationParts,
    opened: { service: ImageService; bases: BaseImages; configs: Map<string, string> },
  ) {
    this.#parts = parts
    this.#service = opened.service
    this.#bases = opened.bases
    this.#configs = opened.configs
  }

  static async open(parts: ImageCustomizationParts): Promise<HostImages> {
    const { clock, random, logger, port, images } = parts
    const configs = new Map<string, string>()
    const bases = await linkedIsos(images, clock)
    const service = await withClockHeld(clock, 'opening the image service', async () =>
      openImageService({
        files: namedFiles(bases),
        // Hosts have images of their own: a setting that cannot be used is the error of those.
        config: configFor({ ...parts, site: {} }, {}),
        configOf: (key) => configs.get(key),
        secret: urlSafeToken(random),
        host: '127.0.0.1',
        port,
        clock,
        random,
        logger,
      }),
    )
    return new HostImages(parts, { service, bases, configs })
  }

  get port(): number {
    return this.#service.port
  }

  /** True if there is an image for computers of an architecture, without a stream. */
  supports(architecture?: string): boolean {
    return baseImageFor(this.#bases, { architecture }) !== undefined
  }

  /** @throws Error when there is no base image, or the network settings cannot be read */
  build(image: PreprovisioningImage, config: ImageConfig, network?: Record<string, string>): BuiltImage {
    const { format, architecture } = config
    const stream = this.#parts.behaviours.has(IMAGES_BY_STREAM) ? streamOf(image) : undefined
    const base = baseImageFor(this.#bases, { stream, architecture })
    const urls =
      base &&
      (this.#parts.behaviours.has(ONE_IMAGE_A_HOST)
        ? this.#service.publish(this.#configure(image, config, network), base.target)
        : this.#service.urls(base.target))
    if (format === 'iso' && urls?.iso) return { imageUrl: urls.iso }
    if (format !== 'initrd' || !urls?.pxe) throw new Error('Base Image not available')
    // In a real cluster CBO sets DEPLOY_KERNEL_URL of BareMetal Operator to the metal3 pod's own web server.
    return { imageUrl: urls.pxe.ramdisk, kernelUrl: urls.pxe.kernel, extraKernelParams: urls.pxe.append }
  }

  discard(image: PreprovisioningImage, { format, architecture }: ImageStatus): void {
    if (format === undefined) return
    const key = imageKeyOf(image, { format, ...defined({ architecture }) })
    const name = this.#names.get(key)
    if (name === undefined) return
    this.#names.delete(key)
    this.#configs.delete(name)
    this.#service.withdraw(name)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service[Symbol.asyncDispose]()
  }

  /** Makes the config of a host's own image. @returns the name that the image service finds it by */
  #configure(image: PreprovisioningImage, config: ImageConfig, network?: Record<string, string>): string {
    const nmstate = network?.['nmstate']
    if (network && nmstate === undefined)
      throw new Error("network data Secret provided but missing required 'nmstate' key")
    const keyfiles = nmstate === undefined ? [] : networkKeyfiles(Buffer.from(nmstate, 'base64').toString())
    const key = imageKeyOf(image, config)
    const name = this.#names.get(key) ?? urlSafeToken(this.#parts.random)
    this.#names.set(key, name)
    this.#configs.set(name, configFor(this.#parts, { hostname: image.metadata.name, keyfiles }))
    return name
  }
}

/** Stream of CoreOS that a host asks for: BareMetal Operator gives its labels to its image. */
const streamOf = ({ metadata }: PreprovisioningImage): string | undefined =>
  metadata.labels?.[STREAM_LABEL] || undefined

/** imageKey of image-customization-controller pkg/imageprovider/rhcos.go, newer than eacc65f. */
const imageKeyOf = (image: PreprovisioningImage, { format, architecture = HOST_ARCHITECTURE }: ImageConfig): string =>
  `${image.metadata.namespace}-${image.metadata.name}-${image.metadata.uid}-${streamOf(image) ?? ''}-${architecture}.${format}`

function configFor(
  { ironicUrl, agentImage, registriesConf, site, behaviours }: ImageCustomizationParts,
  own: { hostname?: string; keyfiles?: readonly { name: string; bytes: Uint8Array }[] },
): string {
  if (!behaviours.has(EMBEDS_THE_AGENT)) return JSON.stringify({ ignition: { version: '3.2.0' } })
  return JSON.stringify(
    agentConfig({
      ironicUrls: [ironicUrl],
      image: agentImage,
      ...site,
      ...own,
      ...defined({ registriesConf }),
    }),
  )
}
