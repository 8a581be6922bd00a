import { sha256Hex } from '../../base/bytes/index.js'
import { defined, minutes, type Clock } from '../../base/runtime/index.js'
import { PullFailure, type ImageRegistry, type NodeImageManifest } from '../../machine/index.js'

/** A node image: a base, and a cluster's additions. */
export interface NodeImage {
  /** `quay.io/openshift/node` */
  repository: string
  /** Version of the OS: `9.2.20220510.1`. */
  version: string
  /** Version of the image's base. */
  base: string
  /** Added paths below /usr. Default: the kubelet and its runtime. */
  files?: readonly string[]
  /** Whether disk images of the same version contain all of it. Default: they contain the base. */
  inDiskImages?: boolean
}

/** How a registry fails. */
export type RegistryFault = Parameters<NodeImageRegistry['fail']>[1]

const NODE_FILES = ['/usr/bin/kubelet', '/usr/bin/crio', '/usr/lib/systemd/system/kubelet.service']
const BASE_SIZE = 900 * 2 ** 20
const LAYER_SIZE = 200 * 2 ** 20
const IMAGE_PULL_TIMEOUT = minutes(2)

/** The container registry of a lab, from which the systems on simulated machines pull node images. */
export interface NodeImageRegistry {
  /** Makes an image available, and returns its pullspec by digest. Adding an image again changes nothing. */
  publish(image: NodeImage): string
  /**
   * Makes the next pulls of an image fail, `times` times. Default: all of them. With `wrong-digest` the registry
   * sends another image under the name.
   */
  fail(
    image: string,
    fault: 'not-found' | 'unauthorized' | 'timeout' | 'wrong-digest' | 'broken-layer',
    times?: number,
  ): void
  /** Pulled layers with their sizes in bytes, in order. */
  readonly fetched: readonly { image: string; layer: string; size: number }[]
}

/** A layer that a machine pulled. */
interface FetchedLayer {
  image: string
  layer: string
  /** In bytes. */
  size: number
}

/** A change that a caller makes to a registry. */
export type RegistryChange =
  | { readonly do: 'publish'; readonly image: NodeImage }
  | { readonly do: 'fail pulls'; readonly image: string; readonly fault: RegistryFault; readonly times: number }

interface RegistryOptions {
  pullable?: (image: string) => void
  rate?: number
  changed?: (change: RegistryChange) => void
}

/** A registry at one moment. */
export interface RegistryState {
  readonly images: readonly (readonly [image: string, manifest: Buffer])[]
  readonly faults: readonly (readonly [
    image: string,
    fault: { readonly fault: RegistryFault; readonly left: number },
  ])[]
  readonly fetched: readonly FetchedLayer[]
}

/**
 * A container registry with node images, for the systems on simulated machines. Images are found by digest; images of one
 * base share its layer.
 */
export class SimulatedRegistry implements ImageRegistry, NodeImageRegistry {
  readonly #clock: Clock
  readonly #images = new Map<string, Buffer>()
  readonly #faults = new Map<string, { fault: RegistryFault; left: number }>()
  readonly #fetched: FetchedLayer[] = []
  readonly #pullable: ((image: string) => void) | undefined
  readonly #rate: number
  readonly #changed: NonNullable<RegistryOptions['changed']>

  /**
   * @param options.pullable throws a PullFailure for an image that machines do not reach
   * @param options.rate bytes a second of a pull; by default it takes no time
   * @param options.changed called before a caller changes the registry
   */
  constructor(clock: Clock, { pullable, rate = 0, changed = () => {} }: RegistryOptions = {}) {
    this.#clock = clock
    this.#changed = changed
    this.#pullable = pullable
    this.#rate = rate
  }

  publish(published: NodeImage): string {
    const { repository, version, base, files = NODE_FILES, inDiskImages } = published
    this.#changed({ do: 'publish', image: published })
    const manifest: NodeImageManifest = {
      version,
      base,
      files: [...files],
      layers: [
        { digest: sha256(`base ${base}`), size: BASE_SIZE },
        { digest: sha256(`node ${version} ${files.join(' ')}`), size: LAYER_SIZE },
      ],
      ...defined({ inDiskImages: inDiskImages || undefined }),
    }
    const bytes = Buffer.from(JSON.stringify(manifest))
    const image = `${repository}@${sha256(bytes)}`
    this.#images.set(image, bytes)
    return image
  }

  fail(image: string, fault: RegistryFault, times = Infinity): void {
    this.#changed({ do: 'fail pulls', image, fault, times })
    this.#faults.set(image, { fault, left: times })
  }

  get fetched(): readonly FetchedLayer[] {
    return this.#fetched
  }

  take(): RegistryState {
    return {
      images: [...this.#images],
      faults: [...this.#faults].map(([image, fault]) => [image, { ...fault }]),
      fetched: [...this.#fetched],
    }
  }

  restore({ images, faults, fetched }: RegistryState): void {
    this.#images.clear()
    for (const [image, manifest] of images) this.#images.set(image, manifest)
    this.#faults.clear()
    for (const [image, fault] of faults) this.#faults.set(image, { ...fault })
    this.#fetched.splice(0, Infinity, ...fetched)
  }

  async manifest(image: string, signal: AbortSignal): Promise<{ manifest: Uint8Array }> {
    this.#pullable?.(image)
    const name = image.split('@')[0]!
    const fault = this.#next(image, (kind) => kind !== 'broken-layer')
    if (fault === 'timeout') {
      await this.#clock.sleep(IMAGE_PULL_TIMEOUT, { signal })
      throw new PullFailure(`pinging container registry ${name.split('/')[0]}: i/o timeout`)
    }
    if (fault === 'unauthorized') throw new PullFailure(`reading manifest in ${name}: unauthorized: access denied`)
    const manifest = this.#images.get(image)
    if (!manifest || fault === 'not-found')
      throw new PullFailure(`reading manifest ${image.split('@')[1] ?? ''} in ${name}: manifest unknown`)
    return { manifest: fault === 'wrong-digest' ? Buffer.concat([manifest, Buffer.from(' ')]) : manifest }
  }

  async layer(image: string, digest: string, signal: AbortSignal): Promise<void> {
    if (this.#next(image, (kind) => kind === 'broken-layer'))
      throw new PullFailure(`fetching blob ${digest}: unexpected EOF`)
    const { layers } = JSON.parse(this.#images.get(image)!.toString()) as NodeImageManifest
    const { size } = layers.find((layer) => layer.digest === digest)!
    if (this.#rate > 0) await this.#clock.sleep((1000 * size) / this.#rate, { signal })
    this.#fetched.push({ image, layer: digest, size })
  }

  #next(image: string, applies: (fault: RegistryFault) => boolean): RegistryFault | undefined {
    const entry = this.#faults.get(image)
    if (!entry || entry.left <= 0 || !applies(entry.fault)) return undefined
    entry.left--
    return entry.fault
  }
}

const sha256 = (content: string | Uint8Array): string => `sha256:${sha256Hex(content)}`
