import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileSource, type ByteStream } from '../../bytes/index.js'
import {
  defined,
  type Clock,
  withClockHeld,
  isObject,
  makeFolder,
  takeLock,
  temporaryFolder,
  UserError,
} from '../../runtime/index.js'
import { algorithmOf, checkContent, blobDigestOf, isDigest, verifiedStream } from '../digest.js'
import { jsonObject, MAX_MANIFEST_BYTES, MEDIA_TYPES, readManifest, type Descriptor } from '../images/manifest.js'
import type { ImageSink, ImageStore, StoredManifest } from '../images/image-store.js'
import { ERRORS } from '../errors.js'

const TAG_ANNOTATION = 'org.opencontainers.image.ref.name'
const OCI_LAYOUT_VERSION = '1.0.0'

/** A folder in the OCI image layout 1.0.0: `oci-layout`, `index.json` and `blobs/sha256/...`. */
export class OciLayout implements ImageStore, ImageSink {
  readonly name: string
  readonly #folder: string
  readonly #clock: Clock

  constructor(folder: string, clock: Clock) {
    this.name = `oci:${folder}`
    this.#folder = folder
    this.#clock = clock
  }

  /** Digest of the image with a tag; without a tag, of the only image. */
  async digestOf(tag: string | undefined): Promise<string> {
    const entries = await this.#entries()
    const found = tag === undefined ? entries : entries.filter((one) => tagOf(one) === tag)
    const tags = entries.map(tagOf).filter((one) => one !== undefined)
    const has = tags.length === 0 ? 'no tags' : `the tags ${[...tags].sort().join(', ')}`
    // A tag that was moved by appending is the last one of its name.
    const [last, ...others] = found.reverse()
    if (!last)
      throw imageNotFoundError(
        tag === undefined ? `${this.name} has no images` : `${this.name} has no tag ${tag}; it has ${has}`,
      )
    if (tag === undefined && others.length > 0)
      throw imageNotFoundError(
        `${this.name} has ${found.length} images, and ${has}`,
        `name one of them: ${this.name}:TAG`,
      )
    return last.digest
  }

  /** Tags of the layout, in order. */
  async tags(): Promise<string[]> {
    return (await this.#entries()).map(tagOf).filter((one) => one !== undefined)
  }

  async manifest(reference: string): Promise<StoredManifest> {
    const digest = isDigest(reference) ? reference : await this.digestOf(reference)
    const what = `${this.name}@${digest}`
    const path = this.#blobPath(digest)
    const bytes = await withClockHeld(this.#clock, `reading ${path}`, async () => {
      const { size } = await stat(path).catch(() => ({ size: -1 }))
      if (size < 0) throw imageNotFoundError(`${this.name} has no ${digest}`)
      if (size > MAX_MANIFEST_BYTES) throw notLayout(this.#folder, `${path} is too large for a manifest`)
      return readFile(path)
    })
    checkContent(bytes, { digest }, what)
    return { bytes, mediaType: undefined, digest }
  }

  async blob(descriptor: Descriptor): Promise<ByteStream> {
    const path = this.#blobPath(descriptor.digest)
    const stream = await fileSource(path, this.#clock).catch((cause: unknown) => {
      throw imageNotFoundError(`${this.name} has no ${descriptor.digest}`, undefined, cause)
    })
    return verifiedStream(stream, descriptor, path)
  }

  async putBlob(bytes: Uint8Array, digest: string): Promise<void> {
    const path = this.#blobPath(digest)
    await withClockHeld(this.#clock, `writing ${path}`, async () => {
      const there = await readFile(path).catch(() => null)
      if (there && blobDigestOf(there, algorithmOf(digest)) === digest) return
      await makeFolder(join(this.#folder, 'blobs', algorithmOf(digest)))
      await using beside = await temporaryFolder(this.#folder)
      await writeFile(join(beside.path, 'blob'), bytes)
      await rename(join(beside.path, 'blob'), path)
    })
  }

  async putManifest(
    manifest: { bytes: Uint8Array; mediaType: string; digest: string },
    tag: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    await this.putBlob(manifest.bytes, manifest.digest)
    if (tag === undefined) return
    const lock = join(this.#folder, '.ironstage-lock')
    {
      // Another command may add its tag at this moment.
      using _ = await takeLock(lock, 'exclusive', { clock: this.#clock, signal })
      const others = (await this.#entries({ mayBeNew: true })).filter((one) => tagOf(one) !== tag)
      const { digest, mediaType, bytes } = manifest
      const own: Descriptor = { mediaType, digest, size: bytes.length, annotations: { [TAG_ANNOTATION]: tag } }
      const index = { schemaVersion: 2, mediaType: MEDIA_TYPES.index, manifests: [...others, own] }
      await this.#replace('oci-layout', { imageLayoutVersion: OCI_LAYOUT_VERSION })
      await this.#replace('index.json', index)
    }
    await withClockHeld(this.#clock, `removing ${lock}`, () => rm(lock, { force: true }))
  }

  async #replace(name: string, value: unknown): Promise<void> {
    await withClockHeld(this.#clock, `writing ${join(this.#folder, name)}`, async () => {
      await using beside = await temporaryFolder(this.#folder)
      await writeFile(join(beside.path, name), JSON.stringify(value))
      await rename(join(beside.path, name), join(this.#folder, name))
    })
  }

  /** Images of the layout, in order. */
  async #entries({ mayBeNew = false } = {}): Promise<Descriptor[]> {
    const version = await this.#json('oci-layout')
    const index = await this.#json('index.json')
    if (mayBeNew && version === null && index === null) return []
    if (version === null) throw notLayout(this.#folder, 'it has no oci-layout')
    if (version.value['imageLayoutVersion'] !== OCI_LAYOUT_VERSION)
      throw notLayout(this.#folder, `its oci-layout is not of ${OCI_LAYOUT_VERSION}`)
    if (index === null) throw notLayout(this.#folder, 'it has no index.json')
    const manifest = readManifest(index.bytes, MEDIA_TYPES.index, index.path)
    if (manifest.kind !== 'index') throw notLayout(this.#folder, 'its index.json is no index')
    return [...manifest.manifests]
  }

  async #json(name: string): Promise<{ path: string; bytes: Buffer; value: Record<string, unknown> } | null> {
    const path = join(this.#folder, name)
    const bytes = await withClockHeld(this.#clock, `reading ${path}`, () => readFile(path).catch(() => null))
    if (bytes === null) return null
    if (bytes.length > MAX_MANIFEST_BYTES) throw notLayout(this.#folder, `its ${name} is too large`)
    const value = jsonObject(bytes, path)
    return isObject(value) ? { path, bytes, value } : null
  }

  #blobPath(digest: string): string {
    return join(this.#folder, 'blobs', digest.replace(':', '/'))
  }
}

const tagOf = ({ annotations }: Descriptor): string | undefined => annotations?.[TAG_ANNOTATION]

const imageNotFoundError = (what: string, remedy = 'correct the name, tag or digest', cause?: unknown): UserError =>
  new UserError('image-not-found', what, { remedy, ...defined({ cause }) })

const notLayout = (folder: string, what: string): UserError =>
  new UserError('oci-layout', `${folder} is not a folder in the OCI layout: ${what}`, {
    kind: 'usage',
    remedy: ERRORS['oci-layout'].remedy,
  })
