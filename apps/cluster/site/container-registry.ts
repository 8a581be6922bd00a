import {
  isInternalRegistry,
  mergeMirrorRules,
  mirrorCandidates,
  referenceText,
  type MirrorRule,
} from '../../../base/registry/index.js'
import { defined } from '../../../base/runtime/index.js'
import { PullFailure } from '../../../machine/index.js'
import type { SiteNetwork } from './site-network.js'
import { payloadDigest, type PodImage, type ContainerPuller } from './site-releases.js'

/**
 * Repositories that are pulled from elsewhere, as an ImageContentSourcePolicy, an ImageDigestMirrorSet or an
 * ImageTagMirrorSet lists them.
 */
export interface RepositoryMirrors {
  /** `quay.io/openshift-release-dev/ocp-release`, or what such names begin with. */
  source: string
  mirrors: readonly string[]
  /** Names for which the mirrors are asked. Default: all. */
  pulls?: 'digest' | 'tag'
  /** False for `NeverContactSource`. Default: true. */
  isSourceAsked?: boolean
}

/** The container registries that a site knows: those of the Internet, and its mirrors. */
export class SiteRegistry implements ContainerPuller {
  readonly #network: SiteNetwork
  readonly #mirrors: readonly MirrorRule[]
  readonly #images = new Map<string, PodImage>()
  readonly #pulled: string[] = []
  /** Registries that answer at times, by their hosts. */
  readonly #answering = new Map<string, () => boolean>()

  constructor(network: SiteNetwork, mirrors: readonly RepositoryMirrors[]) {
    this.#network = network
    this.#mirrors = mergeMirrorRules(mirrors.map(mirrorRuleOf))
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

  /** Has a registry answer only while something holds. */
  serveWhile(host: string, isServed: () => boolean): void {
    this.#answering.set(host, isServed)
  }

  /**
   * Copies an image to all mirrors of its repository, as `oc adm release mirror` does; or into the registry of the control
   * plane, as an installation without another registry does.
   */
  mirror(pullspec: string, to: 'mirrors' | 'control plane' = 'mirrors'): void {
    const image = this.#images.get(pullspec) ?? {}
    for (const there of this.#mirrorsOf(pullspec))
      if (isInternalRegistry(there.split('/')[0]!) === (to === 'control plane')) this.#images.set(there, image)
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
      else if (!this.#answers(registry!))
        failure = new PullFailure(
          `pinging container registry ${registry}: Get "https://${registry}/v2/": dial tcp: connect: connection refused`,
        )
      else if (this.#images.has(place)) return place
      else failure = new PullFailure(`reading manifest ${digest ?? ''} in ${repository}: manifest unknown`)
    }
    throw failure ?? new PullFailure(`registry ${pullspec.split('/')[0]} is blocked in registries.conf`)
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

  /**
   * The mirrors as a host's /etc/containers/registries.conf names them; undefined without any. A source that is not to be
   * asked is blocked, as machine-config-operator writes it (openshift/runtime-utils pkg/registries).
   */
  get registriesConf(): string | undefined {
    if (this.#mirrors.length === 0) return undefined
    return this.#mirrors.map(registryTable).join('\n')
  }

  /** A registry on a node is reached at the address of the cluster, and not as the node's own. */
  #answers(host: string): boolean {
    return this.#answering.get(host)?.() ?? !isInternalRegistry(host)
  }

  /** Where an image is looked for, in this order. */
  #placesOf(pullspec: string): string[] {
    return mirrorCandidates(siteReference(pullspec), this.#mirrors).places.map(referenceText)
  }

  #mirrorsOf(pullspec: string): string[] {
    return this.#placesOf(pullspec).filter((place) => place !== pullspec)
  }
}

/** The parts of a pullspec; digests of a site may be shorter than real ones. */
function siteReference(pullspec: string): Parameters<typeof mirrorCandidates>[0] {
  const [, name = pullspec, tag, digest] = /^([^@]*?)(?::([^:/@]+))?(?:@(.*))?$/.exec(pullspec) ?? []
  const [registry = '', ...path] = name.split('/')
  return { registry, repository: path.join('/'), ...defined({ tag, digest }) }
}

/** A rule for registries that are really asked. */
export const mirrorRuleOf = ({ source, mirrors, pulls, isSourceAsked = true }: RepositoryMirrors): MirrorRule => ({
  source,
  mirrors: mirrors.map((place) => ({ place, pulls: pulls ?? ('all' as const) })),
  isSourceAsked,
  isBlocked: false,
})

function registryTable({ source, mirrors, isSourceAsked }: MirrorRule): string {
  const text = (value: string): string => JSON.stringify(value)
  const isPlain = mirrors.every(({ pulls }) => pulls === 'all')
  const places = mirrors.map(({ place, pulls }) => {
    const from = pulls === 'all' ? '' : `    pull-from-mirror = ${text(`${pulls}-only`)}\n`
    return `\n  [[registry.mirror]]\n    location = ${text(place)}\n${from}`
  })
  const head = `[[registry]]\n  location = ${text(source)}\n`
  const byDigest = isPlain ? '  mirror-by-digest-only = true\n' : ''
  const blocked = isSourceAsked ? '' : '  blocked = true\n'
  return `${head}${byDigest}${blocked}${places.join('')}`
}
