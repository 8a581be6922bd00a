import { agentConfig, findLiveImages, openImageService } from '../../../../coreos/index.js'
import { defined, errorChain, withClockHeld, urlSafeToken, UserError } from '../../../../base/runtime/index.js'
import type { Behaviour } from '../behaviours.js'
import { runActor, type ActorParts, type Next } from '../actor.js'
import { isTrue } from '../../kube/conditions.js'
import type { PreprovisioningImage } from '../../kube/kinds/metal3-kinds.js'
import {
  isSameConfig,
  notReady,
  retryDelay,
  withError,
  withImage,
  type BuiltImage,
  type ImageConfig,
  type ImageStatus,
} from './image-status.js'
import { networkKeyfiles } from './network-keyfiles.js'

const IMAGE_CUSTOMIZATION_CONTROLLER = 'image-customization-controller'

export const EMBEDS_THE_AGENT: Behaviour = {
  name: 'icc/embeds-the-agent',
  story: 'agent-container',
  says: 'hosts boot the live ISO as it is published: no agent starts, and their inspection fails after its time limit',
}
export const REMAKES_IMAGES: Behaviour = {
  name: 'icc/remakes-images',
  story: 'agent-container',
  says: 'images keep the URLs that the image service had before its update: no host can boot its deploy image any more',
}
export const ONE_IMAGE_A_HOST: Behaviour = {
  name: 'icc/makes-an-image-for-each-host',
  story: 'own-network',
  says: 'all hosts boot one image, so that none has network settings of its own before it is provisioned',
}

export interface ImageCustomizationParts extends ActorParts {
  /** Folder with the release's live ISOs, as machine-os-images has copied them. */
  images: string
  /** `IRONIC_BASE_URL` */
  ironicUrl: string
  /** `IRONIC_AGENT_IMAGE` */
  agentImage: string
  /** Contents of the registries.conf of its host, which names the mirrors. */
  registriesConf?: string
  /** Port of the image service; 0 takes a free one. */
  port: number
}

/** A pod of the image customization controller, with the web server of its images. */
export interface ImageCustomizationController extends AsyncDisposable {
  readonly port: number
}

const PREPROVISIONING_FINALIZER = 'preprovisioningimage.metal3.io'
/** Images that the assisted installer makes itself (image-customization-controller eacc65f cmd/controller/main.go). */
const INFRA_ENV = 'infraenvs.agent-install.openshift.io'

/**
 * Makes an image for each PreprovisioningImage: the live ISO, or its files for the network, with an Ignition config that
 * starts the agent. Names of images are random and in memory, as in the real controller, so that a new pod has new URLs.
 */
export async function runImageCustomizationController(
  parts: ImageCustomizationParts,
): Promise<ImageCustomizationController> {
  const { kube, clock, random, logger, behaviours, announce } = parts
  const configs = new Map<string, string>()
  /** Names of images in the image service, by their keys: another one once an image is discarded. */
  const names = new Map<string, string>()
  const service = await withClockHeld(clock, 'opening the image service', async () =>
    openImageService({
      files: await liveImages(parts),
      config: configFor(parts, {}),
      configOf: (key) => configs.get(key),
      secret: urlSafeToken(random),
      host: '127.0.0.1',
      port: parts.port,
      clock,
      random,
      logger,
    }),
  )

  const reconcile = async (image: PreprovisioningImage): Promise<Next> => {
    const status = image.status ?? {}
    const { next, again } = await looked(image, status)
    if (JSON.stringify(next) !== JSON.stringify(image.status)) {
      await kube.updateStatus<'PreprovisioningImage'>({ ...image, status: next })
      announceChange(image, next)
    }
    if (again !== undefined) return { again }
  }

  const looked = async (
    image: PreprovisioningImage,
    status: ImageStatus,
  ): Promise<{ next: ImageStatus; again?: number }> => {
    const { acceptFormats = [], architecture, networkDataName } = image.spec
    if (!service.architectures.includes(architecture ?? 'x86_64'))
      return { next: withError(status, 'ConfigurationError', 'Architecture not supported', clock) }
    const [format] = acceptFormats
    if (format === undefined)
      return { next: withError(status, 'ConfigurationError', 'No acceptable image format supported', clock) }
    const network = networkDataName === undefined ? undefined : await secretOf(image, networkDataName)
    if (networkDataName !== undefined && !network)
      return {
        next: withError(status, 'MissingNetworkData', 'NetworkData secret not found', clock),
        again: retryDelay(status, clock),
      }
    const config: ImageConfig = {
      format,
      ...defined({
        architecture,
        networkData: network ? { name: network.metadata.name, version: network.metadata.resourceVersion } : undefined,
      }),
    }
    if (!isSameConfig(status, config)) {
      const message = 'Config changed'
      if (isTrue(status.conditions, 'Ready')) return { next: notReady(status, message, clock), again: 0 }
      discard(image, status)
      return { next: withImage(status, {}, config, { message, clock }), again: 0 }
    }
    if (isTrue(status.conditions, 'Ready') && !behaviours.has(REMAKES_IMAGES)) return { next: status }
    try {
      const built = build(image, config, network?.data)
      return { next: withImage(status, built, config, { message: 'Generated image', clock }) }
    } catch (error) {
      return { next: withError(status, 'ImageBuildInvalid', errorChain(error).join(': '), clock) }
    }
  }

  const secretOf = (image: PreprovisioningImage, name: string) =>
    kube.find('Secret', { name, ...defined({ namespace: image.metadata.namespace || undefined }) })

  const build = (image: PreprovisioningImage, config: ImageConfig, network?: Record<string, string>): BuiltImage => {
    const { format, architecture } = config
    const urls = behaviours.has(ONE_IMAGE_A_HOST)
      ? service.publish(own(image, config, network), architecture)
      : service.urls(architecture)
    if (format === 'iso' && urls?.iso) return { imageUrl: urls.iso }
    if (format !== 'initrd' || !urls?.pxe) throw new Error('Base Image not available')
    // In a real cluster CBO sets DEPLOY_KERNEL_URL of BareMetal Operator to the metal3 pod's own web server.
    return { imageUrl: urls.pxe.ramdisk, kernelUrl: urls.pxe.kernel, extraKernelParams: urls.pxe.append }
  }

  /** Makes the config of a host's own image. @returns the name that the image service finds it by */
  const own = (image: PreprovisioningImage, config: ImageConfig, network?: Record<string, string>): string => {
    const nmstate = network?.['nmstate']
    if (network && nmstate === undefined)
      throw new Error("network data Secret provided but missing required 'nmstate' key")
    const keyfiles = nmstate === undefined ? [] : networkKeyfiles(Buffer.from(nmstate, 'base64').toString())
    const key = imageKeyOf(image, config)
    const name = names.get(key) ?? urlSafeToken(random)
    names.set(key, name)
    configs.set(name, configFor(parts, { hostname: image.metadata.name, keyfiles }))
    return name
  }

  const discard = (image: PreprovisioningImage, { format, architecture }: ImageStatus): void => {
    if (format === undefined) return
    const key = imageKeyOf(image, { format, ...defined({ architecture }) })
    const name = names.get(key)
    if (name === undefined) return
    names.delete(key)
    configs.delete(name)
    service.withdraw(name)
  }

  const announceChange = ({ metadata, status: before }: PreprovisioningImage, next: ImageStatus): void => {
    const error = next.conditions?.find(({ type, status }) => type === 'Error' && status === 'True')
    if (error)
      announce({
        actor: IMAGE_CUSTOMIZATION_CONTROLLER,
        does: `makes no image for ${metadata.name}`,
        because: error.message ?? '',
      })
    else if (next.imageUrl !== undefined && next.imageUrl !== before?.imageUrl)
      announce({
        actor: IMAGE_CUSTOMIZATION_CONTROLLER,
        does: `makes the ${next.format} of ${metadata.name}`,
        because: 'it has a new live image',
      })
  }

  const actor = runActor(
    {
      name: IMAGE_CUSTOMIZATION_CONTROLLER,
      watches: [
        { kind: 'PreprovisioningImage' },
        { kind: 'Secret', keysOf: (at) => imagesWith(parts, at.name, at.namespace) },
      ],
      reconcile: async (at) => {
        const image = await kube.find('PreprovisioningImage', at)
        if (!image || image.metadata.labels?.[INFRA_ENV] !== undefined) return
        const { finalizers = [], deletionTimestamp } = image.metadata
        const others = finalizers.filter((one) => one !== PREPROVISIONING_FINALIZER)
        const metadata = { ...image.metadata, finalizers: others }
        if (deletionTimestamp !== undefined) {
          // Others may still need the image.
          if (others.length > 0 || others.length === finalizers.length) return
          discard(image, image.status ?? {})
          await kube.update<'PreprovisioningImage'>({ ...image, metadata })
        } else if (others.length === finalizers.length) {
          metadata.finalizers = [...finalizers, PREPROVISIONING_FINALIZER]
          await kube.update<'PreprovisioningImage'>({ ...image, metadata })
        } else return reconcile(image)
      },
    },
    parts,
  )
  return {
    port: service.port,
    [Symbol.asyncDispose]: async () => {
      await actor[Symbol.asyncDispose]()
      await service[Symbol.asyncDispose]()
    },
  }
}

/** image-customization-controller eacc65f pkg/imageprovider/rhcos.go imageKey */
const imageKeyOf = ({ metadata }: PreprovisioningImage, { format, architecture = '' }: ImageConfig): string =>
  `${metadata.namespace}-${metadata.name}-${metadata.uid}-${architecture}.${format}`

/** The ISOs in its folder. Without any it runs, and supports no architecture. */
const liveImages = ({ images, clock }: ImageCustomizationParts): ReturnType<typeof findLiveImages> =>
  findLiveImages(images, clock).catch((error: unknown) => {
    if (error instanceof UserError && error.code === 'live-files') return []
    throw error
  })

function configFor(
  { ironicUrl, agentImage, registriesConf, behaviours }: ImageCustomizationParts,
  own: { hostname?: string; keyfiles?: readonly { name: string; bytes: Uint8Array }[] },
): string {
  if (!behaviours.has(EMBEDS_THE_AGENT)) return JSON.stringify({ ignition: { version: '3.2.0' } })
  return JSON.stringify(
    agentConfig({
      ironicUrls: [ironicUrl],
      image: agentImage,
      ...own,
      ...defined({ registriesConf }),
    }),
  )
}

async function imagesWith({ kube }: ActorParts, secret: string, namespace?: string) {
  const { items } = await kube.list('PreprovisioningImage', namespace === undefined ? {} : { namespace })
  return items
    .filter(({ spec }) => spec.networkDataName === secret)
    .map(({ metadata }) => ({ name: metadata.name, ...defined({ namespace }) }))
}
