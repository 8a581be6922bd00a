import { PullFailure } from '../../../machine/index.js'
import type { SiteNetwork } from './site-network.js'
import { payloadDigest, type PodImage, type ContainerPuller } from './site-releases.js'

/** Repositories that are pulled from elsewhere, as an ImageContentSourcePolicy lists them. */
export interface RepositoryMirrors {
  /** `quay.io/openshift-release-dev/ocp-release`, or what such names begin with. */
  source: string
  mirrors: readonly string[]
}

/** The container registries that a site knows: those of the Internet, and its mirrors. */
export class SiteRegistry implements ContainerPuller {
  readonly #network: SiteNetwork
  readonly #mirrors: readonly RepositoryMirrors[]
  readonly #images = new Map<string, PodImage>()
  readonly #pulled: string[] = []

  constructor(network: SiteNetwork, mirrors: readonly RepositoryMirrors[]) {
    this.#network = network
    this.#mirrors = mirrors
  }

  /** Pullspecs of what was pulled, by the names under which it was found, in order. */
  get pulled(): readonly string[] {
    return this.#pulled
  }

  publish(pullspec: string, image: PodImage = {}): void {
    this.#images.set(pullspec, image)
  }

  /** Deletes an image everywhere. */
  lose(pullspec: string): void {
    for (const place of this.#placesOf(pullspec)) this.#images.delete(place)
  }

  /** Copies an image to all mirrors of its repository, as `oc adm release mirror` does. */
  mirror(pullspec: string): void {
    const image = this.#images.get(pullspec) ?? {}
    for (const there of this.#mirrorsOf(pullspec)) this.#images.set(there, image)
  }

  /**
   * Finds a registry that serves an image: the mirrors first, in the order of a node's registries.conf.
   *
   * @throws PullFailure with the sentence of the last place
   */
  locate(pullspec: string): string {
    let failure: PullFailure | undefined
    for (const place of this.#placesOf(pullspec)) {
      const [registry] = place.split('/')
      const [repository, digest] = place.split('@')
      if (!this.#network.reaches(registry!, place))
        failure = new PullFailure(`pinging container registry ${registry}: Get "https://${registry}/v2/": i/o timeout`)
      else if (this.#images.has(place)) return place
      else failure = new PullFailure(`reading manifest ${digest ?? ''} in ${repository}: manifest unknown`)
    }
    throw failure!
  }

  /**
   * Takes note of an image that a live system pulls.
   *
   * @throws PullFailure
   */
  fetched(pullspec: string): void {
    this.#pulled.push(this.locate(pullspec))
  }

  async pull(pullspec: string, signal: AbortSignal): Promise<PodImage> {
    signal.throwIfAborted()
    const place = this.locate(pullspec)
    const image = this.#images.get(place)!
    const found = image.payload && payloadDigest(image.payload)
    const digest = pullspec.split('@')[1]
    if (found !== undefined && found !== digest)
      throw new PullFailure(`manifest digest ${found} does not match expected ${digest ?? 'one'}`)
    this.#pulled.push(place)
    return image
  }

  /** The mirrors as a host's /etc/containers/registries.conf names them; undefined without any. */
  get registriesConf(): string | undefined {
    if (this.#mirrors.length === 0) return undefined
    const text = (value: string): string => JSON.stringify(value)
    return this.#mirrors
      .map(({ source, mirrors }) => {
        const places = mirrors.map((mirror) => `\n  [[registry.mirror]]\n    location = ${text(mirror)}\n`)
        return `[[registry]]\n  location = ${text(source)}\n  mirror-by-digest-only = true\n${places.join('')}`
      })
      .join('\n')
  }

  /** Where an image is looked for, in this order. */
  #placesOf(pullspec: string): string[] {
    return [...this.#mirrorsOf(pullspec), pullspec]
  }

  #mirrorsOf(pullspec: string): string[] {
    const found = this.#mirrors.find(
      ({ source }) =>
        pullspec === source || (/^[/@:]/.test(pullspec.slice(source.length)) && pullspec.startsWith(source)),
    )
    return found ? found.mirrors.map((mirror) => mirror + pullspec.slice(found.source.length)) : []
  }
}
