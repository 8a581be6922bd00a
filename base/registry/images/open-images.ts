import type { HttpClientOptions } from '../../bytes/index.js'
import { defined, type Clock, isObject, UserError } from '../../runtime/index.js'
import { findCredentials, type AuthFiles } from '../access/registry-credentials.js'
import { RegistryServer } from '../access/registry-server.js'
import { RegistryRepository } from '../access/repository.js'
import type { MirrorArchive } from '../mirrors/mirror-archive.js'
import { isInternalRegistry } from '../mirrors/internal-registry.js'
import { mirrorCandidates, type MirrorRule } from '../mirrors/mirrors.js'
import { OciLayout } from '../places/oci-layout.js'
import { ofDigest, referenceText, type ImagePlace, type ImageReference } from '../places/reference.js'
import { imageFiles, type FileLimits, type WantedFiles } from './image-files.js'
import {
  jsonObject,
  badManifest,
  readManifest,
  textsOf,
  type Descriptor,
  type ImageIndex,
  type ImageManifest,
} from './manifest.js'
import { imageFor, imagesByArchitecture, unameArchitecture } from './image-platforms.js'
import type { ImageSink, ImageStore } from './image-store.js'

export interface ImageAccess {
  /** How servers are reached: clock, proxies, certificate authorities, limits, and a rule for URLs. */
  http: HttpClientOptions
  /** Allows http to registries that are not on loopback. */
  insecure?: boolean
  auth?: AuthFiles
  mirrors?: readonly MirrorRule[]
  /** Images on a disk, which are looked for before any registry is asked. */
  archive?: MirrorArchive
  /** Hears of a server that has not answered, or has sent nothing more, for a while, in a sentence. */
  onWait?: (sentence: string) => void
}

/** An image for one platform. */
export interface Image {
  /** With its digest, for messages: `quay.io/openshift/release@sha256:...` */
  name: string
  digest: string
  /** As `uname -m` has it. */
  architecture: string
  labels: Readonly<Record<string, string>>
  /** When it was made; null where nothing says it. */
  created: string | null
  layers: readonly Descriptor[]
  store: ImageStore
}

/** An image that was found by its name, or an index of images. */
export interface OpenedImage {
  /** By digest: `quay.io/openshift/release@sha256:...`; `oci:FOLDER@sha256:...` */
  pullspec: string
  digest: string
  /** Architectures that it has images for; null for a single image, whose own only its config says. */
  architectures: readonly string[] | null
  /**
   * The image for an architecture; without one, the single image or that of the first architecture.
   *
   * @throws UserError `image-platform`
   */
  image(architecture?: string): Promise<Image>
}

const MAX_IMAGE_CONFIG_BYTES = 8 * 2 ** 20
/** An index may lead to another one. */
const MAX_INDEX_DEPTH = 3

/** Opens images of registries and folders; one for a command, so that each registry is asked for a token once. */
export class Images {
  readonly #access: ImageAccess
  readonly #servers = new Map<string, RegistryServer>()
  readonly #signal: AbortSignal

  constructor(access: ImageAccess, signal: AbortSignal) {
    this.#access = access
    this.#signal = signal
  }

  /**
   * Finds an image, at its mirrors first.
   *
   * @throws UserError image-not-found, image-manifest, image-altered, oci-layout, registry-unreachable and the others of
   *   `registry/`
   */
  async open(place: ImagePlace): Promise<OpenedImage> {
    if (place.kind === 'registry') return this.#openFirst(place)
    const layout = new OciLayout(place.folder, this.#clock)
    const digest = place.digest ?? (await layout.digestOf(place.tag))
    return this.#opened(layout, digest, `oci:${place.folder}@${digest}`)
  }

  /** Another image where `place` is: in the same folder or repository. */
  async openBeside(place: ImagePlace, digest: string): Promise<OpenedImage> {
    if (place.kind === 'registry') return this.open({ kind: 'registry', ...ofDigest(place, digest) })
    return this.open({ kind: 'layout', folder: place.folder, digest })
  }

  /** Tags of a folder in the OCI layout. */
  layoutTags(folder: string): Promise<string[]> {
    return new OciLayout(folder, this.#clock).tags()
  }

  /** Where images of a place are put; mirrors are for pulls. */
  sink(place: ImagePlace): ImageSink {
    return place.kind === 'registry' ? this.#repository(place) : new OciLayout(place.folder, this.#clock)
  }

  /** Reads files out of an image. */
  files(image: Image, wanted: WantedFiles, limits?: Partial<FileLimits>): Promise<Map<string, Buffer>> {
    return imageFiles(image, wanted, { clock: this.#clock, signal: this.#signal, ...defined({ limits }) })
  }

  get #clock(): Clock {
    return this.#access.http.clock
  }

  async #openFirst(reference: ImageReference): Promise<OpenedImage> {
    const { archive, mirrors = [] } = this.#access
    const archived = archive?.find(reference)
    const named = referenceText(reference)
    if (archived) return this.#opened(archived.store, archived.digest, named)
    const { places, rule } = mirrorCandidates(reference, mirrors)
    if (places.length === 0)
      throw new UserError(
        'image-not-found',
        `${named} may be pulled from nowhere: ${rule?.isBlocked ? 'it is blocked' : 'its source may not be asked, and it has no mirrors for such a name'}`,
        {
          remedy: 'correct the file of --mirrors, or name the image by digest',
        },
      )
    const failures: UserError[] = []
    if (archive) failures.push(new UserError('image-not-found', `the archive ${archive.name} does not have it`))
    for (const place of places) {
      try {
        return await this.#opened(
          this.#repository(place),
          place.digest ?? place.tag ?? 'latest',
          referenceText(reference),
        )
      } catch (error) {
        if (!(error instanceof UserError)) throw error
        failures.push(error)
      }
    }
    const [only, ...more] = failures
    if (more.length === 0) throw only!
    const all = failures.map(({ message }) => message).join('; ')
    const inside = places.find(({ registry }) => isInternalRegistry(registry))?.registry
    throw new UserError(failures.at(-1)!.code, `${named} is at none of its mirrors: ${all}`, {
      cause: failures.at(-1),
      remedy:
        inside === undefined
          ? (failures.at(-1)!.remedy ?? 'copy it to a mirror')
          : `copy it to a registry or a folder that is reached here: ${inside} answers in the network of its cluster alone`,
    })
  }

  async #opened(store: ImageStore, reference: string, named: string): Promise<OpenedImage> {
    const { bytes, mediaType, digest } = await store.manifest(reference, this.#signal)
    const manifest = readManifest(bytes, mediaType, `${store.name}@${digest}`)
    const isIndex = manifest.kind === 'index'
    return {
      pullspec: /@[a-z\d]+:[a-f\d]+$/.test(named) ? named : `${named.replace(/:[^/:]*$/, '')}@${digest}`,
      digest,
      architectures: isIndex ? [...imagesByArchitecture(manifest).keys()] : null,
      image: async (architecture) => {
        if (isIndex) return this.#imageIn(store, manifest, architecture)
        const image = await this.#image(store, manifest, digest)
        if (architecture === undefined || unameArchitecture(architecture) === image.architecture) return image
        throw new UserError('image-platform', `${image.name} is for ${image.architecture}, not for ${architecture}`, {
          remedy: 'name the image for that architecture, or an index of several',
          kind: 'usage',
        })
      },
    }
  }

  async #imageIn(store: ImageStore, index: ImageIndex, architecture: string | undefined): Promise<Image> {
    let found: ImageIndex = index
    for (let depth = 0; depth < MAX_INDEX_DEPTH; depth++) {
      const first = imagesByArchitecture(found).keys().next().value
      const descriptor = imageFor(found, architecture ?? first ?? 'any architecture', store.name)
      const { bytes, mediaType, digest } = await store.manifest(descriptor.digest, this.#signal)
      const name = `${store.name}@${digest}`
      if (bytes.length !== descriptor.size)
        throw badManifest(name, `it has ${bytes.length} bytes, and its index says ${descriptor.size}`)
      const manifest = readManifest(bytes, descriptor.mediaType ?? mediaType, name)
      if (manifest.kind === 'image') return this.#image(store, manifest, digest)
      found = manifest
    }
    throw badManifest(store.name, `its indexes are nested more than ${MAX_INDEX_DEPTH} times`)
  }

  async #image(store: ImageStore, { config, layers }: ImageManifest, digest: string): Promise<Image> {
    const name = `${store.name}@${digest}`
    if (config.size > MAX_IMAGE_CONFIG_BYTES)
      throw badManifest(name, `its config has ${config.size} bytes, more than ${MAX_IMAGE_CONFIG_BYTES}`)
    await using blob = await store.blob(config, this.#signal)
    const parts: Uint8Array[] = []
    for (let part = await blob.next(); part; part = await blob.next()) parts.push(part)
    const value = jsonObject(Buffer.concat(parts), `the config of ${name}`)
    const { architecture, created, config: settings } = value
    if (typeof architecture !== 'string') throw badManifest(name, 'its config has no architecture')
    const labels = isObject(settings) && isObject(settings['Labels']) ? textsOf(settings['Labels']) : {}
    return {
      name,
      digest,
      labels,
      layers,
      store,
      architecture: unameArchitecture(architecture),
      created: typeof created === 'string' ? created : null,
    }
  }

  #repository({ registry, repository }: ImageReference): RegistryRepository {
    let server = this.#servers.get(registry)
    if (!server) {
      const { http, insecure = false, auth, onWait } = this.#access
      const credentials = (name: string) =>
        auth ? findCredentials(name, auth, this.#clock) : Promise.resolve({ credentials: null })
      server = new RegistryServer(registry, { http, insecure, credentials, ...defined({ onWait }) })
      this.#servers.set(registry, server)
    }
    return new RegistryRepository(registry, repository, server)
  }
}
