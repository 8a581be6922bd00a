import { createHash } from 'node:crypto'
import { FormatError, isLoopback, type ByteStream } from '../../../base/bytes/index.js'
import {
  blobDigestOf,
  goArchitecture,
  ImageTree,
  imageFor,
  layerArchive,
  mirrorCandidates,
  parseReference,
  readManifest,
  readRegistriesConf,
  referenceText,
  type Descriptor,
  type ImageManifest,
  type ImageReference,
  type RegistriesConf,
} from '../../../base/registry/index.js'
import { defined, isObject, MIB, UserError } from '../../../base/runtime/index.js'
import type { Process } from '../machine-program.js'
import { ImageStorage, type StoredImage } from './image-storage.js'
import { duringPull, PodmanFailure } from './podman-failure.js'
import { goDuration, type PodmanOptions } from './podman-options.js'
import { PodmanRegistry } from './podman-registry.js'
import { pullCredentials } from './pull-credentials.js'

/** Limits on the files of an image that a machine stores: a few hundred thousand machines must fit into the memory of a host. */
const STORED_FILES = { nodes: 5000, file: MIB, all: 16 * MIB }

/** Paths that an installation of the image needs. */
const isNeededToInstall = (path: string): boolean =>
  /^(?:root|etc\/(?:passwd|machine-id|os-release)|usr\/lib\/os-release|usr\/(?:s?bin)\/(?:bootc|cloud-init)|usr\/lib\/bootc\/.*|usr\/lib\/modules\/[^/]+\/(?:vmlinuz|initramfs\.img))$/.test(
    path,
  )

/** Bytes of a config: containers/image, internal/iolimits MaxConfigBodySize. */
const MAX_CONFIG = 4 * MIB

/** podman's own: containers/common, pkg/config DefaultRetry. */
const DEFAULT_PULL_RETRIES = 3

/**
 * `podman pull`: asks mirrors and registry, again where the failure may pass, and keeps the image.
 *
 * @throws PodmanFailure
 */
export async function pullImage(process: Process, name: string, options: PodmanOptions): Promise<StoredImage> {
  const { clock, signal, stderr } = process
  const reference = imageReference(name)
  const text = referenceText(reference)
  const retries = Number(options.value('--retry') ?? DEFAULT_PULL_RETRIES)
  const delay = options.value('--retry-delay')
  stderr(`Trying to pull ${text}...\n`)
  for (let attempt = 0; ; attempt++) {
    try {
      return await pullOnce(process, reference, options)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof PodmanFailure) || !error.isRetryable || attempt >= retries) throw error
      const pause = delay === undefined ? 2 ** attempt * 1000 : goDuration(delay)
      const counted = `${attempt + 1}/${retries}`
      const message = `Failed, retrying in ${pause / 1000}s ... (${counted}). Error: ${error.message}`
      const time = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z')
      stderr(`time="${time}" level=warning msg=${JSON.stringify(message)}\n`)
      await clock.sleep(pause, { signal })
    }
  }
}

/** @throws PodmanFailure */
export function imageReference(name: string): ImageReference {
  try {
    return parseReference(name.replace(/^docker:\/\//, ''))
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    throw new PodmanFailure(`parsing reference ${JSON.stringify(name)}: invalid reference format`)
  }
}

async function pullOnce(process: Process, reference: ImageReference, options: PodmanOptions): Promise<StoredImage> {
  const conf = registriesConf(process)
  const { places, rule } = mirrorCandidates(reference, conf.rules)
  if (rule?.isBlocked)
    throw new PodmanFailure(`registry ${reference.registry} is blocked in /etc/containers/registries.conf`)
  let failure: unknown
  for (const place of places)
    try {
      return await new ImagePull(process, { reference, place, conf, options }).run()
    } catch (error) {
      if (!(error instanceof PodmanFailure)) throw error
      failure = error
    }
  throw failure
}

/** The machine's registries.conf, and the files beside it. */
function registriesConf({ inside: { files } }: Process): RegistriesConf {
  const folder = '/etc/containers/registries.conf.d'
  const beside = files.exists(folder) ? files.list(folder).map((name) => `${folder}/${name}`) : []
  const paths = ['/etc/containers/registries.conf', ...beside].filter((path) => files.exists(path))
  const read = (path: string): RegistriesConf => {
    try {
      return readRegistriesConf(Buffer.from(files.read(path)).toString(), path)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      throw new PodmanFailure(`loading registries configuration ${JSON.stringify(path)}: ${error.message}`)
    }
  }
  const all = paths.map(read)
  return { rules: all.flatMap(({ rules }) => rules), insecure: all.flatMap(({ insecure }) => insecure) }
}

interface PulledPlace {
  /** As the user names it. */
  reference: ImageReference
  /** Where it is asked for: a mirror, or itself. */
  place: ImageReference
  conf: RegistriesConf
  options: PodmanOptions
}

class ImagePull {
  readonly #process: Process
  readonly #pulled: PulledPlace
  #unpacked = 0

  constructor(process: Process, pulled: PulledPlace) {
    this.#process = process
    this.#pulled = pulled
  }

  async run(): Promise<StoredImage> {
    const { reference, place } = this.#pulled
    const asked = place.digest ?? place.tag ?? 'latest'
    const [registry, found] = await duringPull(`initializing source docker://${referenceText(place)}`, async () => {
      const opened = this.#registry()
      return [opened, await opened.manifest(asked, place)] as const
    })
    checkManifest(found.bytes, place)
    const manifest = this.#read(found.bytes, found.mediaType)
    const digest = blobDigestOf(found.bytes)
    if (manifest.kind === 'image') return this.#keep(registry, manifest, digest)
    const entry = this.#entryOf(manifest)
    return duringPull('copying system image from manifest list', async () => {
      const single = await registry.manifest(entry.digest, place)
      checkManifest(single.bytes, { ...place, digest: entry.digest })
      const image = this.#read(single.bytes, single.mediaType)
      if (image.kind !== 'image') throw new PodmanFailure(`unsupported manifest in ${referenceText(reference)}`)
      return this.#keep(registry, image, digest)
    })
  }

  #registry(): PodmanRegistry {
    const { inside, clock, signal, downloads } = this.#process
    const { place, conf, options } = this.#pulled
    const credentials = pullCredentials(inside.files, place, options.value('--authfile'))
    const { hostname } = new URL(`https://${place.registry}`)
    const isInsecure =
      options.value('--tls-verify') === 'false' || conf.insecure.includes(place.registry) || isLoopback(hostname)
    const http = { clock, ...defined({ through: downloads }) }
    return new PodmanRegistry(place, { http, clock, signal, isInsecure, credentials })
  }

  #read(bytes: Buffer, mediaType: string | undefined): ReturnType<typeof readManifest> {
    try {
      return readManifest(bytes, mediaType, referenceText(this.#pulled.place))
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      throw new PodmanFailure(`parsing image manifest: ${error.message}`)
    }
  }

  #entryOf(index: Parameters<typeof imageFor>[0]): Descriptor {
    const { architecture } = this.#process.inside.spec
    const name = referenceText(this.#pulled.place)
    try {
      return imageFor(index, architecture, name)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      throw new PodmanFailure(
        `choosing an image from manifest list docker://${name}: ` +
          `no image found in image index for architecture "${goArchitecture(architecture)}", variant "", OS "linux"`,
      )
    }
  }

  /** Layers come from the top down, so that of a large image the files that its makers put on top are stored. */
  async #keep(registry: PodmanRegistry, { config, layers }: ImageManifest, digest: string): Promise<StoredImage> {
    const { inside, stderr } = this.#process
    if (!/\.image\.config\.|\.container\.image\./.test(config.mediaType))
      throw new PodmanFailure(
        `parsing image configuration: unsupported image-specific operation on artifact with type "${config.mediaType}"`,
      )
    stderr('Getting image source signatures\n')
    const tree = new ImageTree(STORED_FILES, isNeededToInstall)
    for (const layer of [...layers].reverse()) {
      stderr(`Copying blob ${layer.digest}\n`)
      await this.#addLayer(registry, layer, tree)
    }
    stderr(`Copying config ${config.digest}\n`)
    const settings = readConfig(await this.#wholeBlob(registry, config))
    stderr('Writing manifest to image destination\n')
    const image = { id: config.digest.replace(/^sha\d+:/, ''), digest, ...settings }
    const storage = new ImageStorage(inside.files)
    const name = referenceText(this.#pulled.reference)
    storage.add(image, name, { nodes: tree.nodes, left: tree.left })
    return storage.find(name)!
  }

  async #addLayer(registry: PodmanRegistry, layer: Descriptor, tree: ImageTree): Promise<void> {
    await using blob = await this.#blob(registry, layer)
    try {
      const archive = this.#counted(layerArchive(blob, this.#process.clock), layer)
      await tree.addBelow(archive)
      // Behind the end of the archive there may be padding; the digest is known at the end of all.
      await drained(archive)
    } catch (error) {
      if (!(error instanceof FormatError)) throw error
      // The blob is stored before it is unpacked: another digest is seen first.
      await drained(blob)
      throw new PodmanFailure(`writing blob: adding layer with blob "${layer.digest}": ${error.message}`)
    }
    await drained(blob)
  }

  /** A live system has its storage in memory, of which a tmpfs takes half. */
  #counted(archive: ByteStream, { digest }: Descriptor): ByteStream {
    const room = (this.#process.inside.spec.memoryMib * MIB) / 2
    const next = async () => {
      const bytes = await archive.next()
      this.#unpacked += bytes?.length ?? 0
      if (this.#unpacked > room)
        throw new PodmanFailure(`writing blob: adding layer with blob "${digest}": write: no space left on device`)
      return bytes
    }
    return { length: undefined, next, [Symbol.asyncDispose]: () => archive[Symbol.asyncDispose]() }
  }

  async #wholeBlob(registry: PodmanRegistry, descriptor: Descriptor): Promise<Buffer> {
    await using blob = await this.#blob(registry, descriptor)
    const parts: Uint8Array[] = []
    let size = 0
    for (let part = await blob.next(); part; part = await blob.next()) {
      size += part.length
      if (size > MAX_CONFIG)
        throw new PodmanFailure(`parsing image configuration: exceeded maximum allowed size of ${MAX_CONFIG} bytes`)
      parts.push(part.slice())
    }
    return Buffer.concat(parts)
  }

  async #blob(registry: PodmanRegistry, descriptor: Descriptor): Promise<ByteStream> {
    const stream = await duringPull(`reading blob ${descriptor.digest}`, () => registry.blob(descriptor))
    return checkedBlob(stream, descriptor)
  }
}

/** A blob with the failure of containers/image at its end where it has another digest. */
function checkedBlob(stream: ByteStream, { digest }: Descriptor): ByteStream {
  const [algorithm = 'sha256'] = digest.split(':')
  const hash = createHash(algorithm)
  const storing = 'writing blob: storing blob to file "/var/tmp/container_images_storage1/1": happened during read'
  let isOver = false
  const next = async () => {
    if (isOver) return undefined
    const bytes = await duringPull(storing, () => stream.next())
    if (bytes) {
      hash.update(bytes)
      return bytes
    }
    isOver = true
    const found = `${algorithm}:${hash.digest('hex')}`
    if (found === digest) return undefined
    throw new PodmanFailure(`${storing}: Digest did not match, expected ${digest}, got ${found}`)
  }
  return { length: stream.length, next, [Symbol.asyncDispose]: () => stream[Symbol.asyncDispose]() }
}

async function drained(stream: ByteStream): Promise<void> {
  while (await stream.next());
}

function checkManifest(bytes: Buffer, { digest }: ImageReference): void {
  if (digest === undefined || blobDigestOf(bytes, digest.split(':')[0]) === digest) return
  throw new PodmanFailure(`Manifest does not match provided manifest digest ${digest}`)
}

function readConfig(config: Buffer): Pick<StoredImage, 'labels' | 'architecture'> {
  try {
    const value: unknown = JSON.parse(config.toString())
    const { architecture, config: settings } = isObject(value) ? value : {}
    const labels: unknown = isObject(settings) ? settings['Labels'] : undefined
    const all = isObject(labels) ? Object.entries(labels) : []
    return {
      labels: Object.fromEntries(all.filter((entry): entry is [string, string] => typeof entry[1] === 'string')),
      architecture: typeof architecture === 'string' ? architecture : undefined,
    }
  } catch {
    throw new PodmanFailure('parsing image configuration: invalid character in the configuration')
  }
}
