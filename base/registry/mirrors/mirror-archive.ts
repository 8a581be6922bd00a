import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import {
  ByteReader,
  FormatError,
  openFileSource,
  readTar,
  streamFrom,
  streamSource,
  type ByteSource,
  type ByteStream,
  type TarEntry,
} from '../../bytes/index.js'
import { UserError, withClockHeld, type Clock } from '../../runtime/index.js'
import { blobDigestOf, checkContent, isDigest, verifiedStream } from '../digest.js'
import { MAX_MANIFEST_BYTES, type Descriptor } from '../images/manifest.js'
import type { ImageStore, StoredManifest } from '../images/image-store.js'
import { referenceText, type ImageReference } from '../places/reference.js'
import { mirrorsError } from './mirrors-error.js'

// Layouts: openshift/oc-mirror 855b64a internal/pkg/archive (v2: the storage of a registry, working-dir, isc_TIME at the end;
// parts mirror_000001.tar ...) and v1/pkg/archive, v1/pkg/bundle (v1: v2/REPOSITORY/manifests, blobs; parts
// mirror_seq1_000000.tar ..., and those of later sequences, which have only what is new).

/** Parts by their names: the sequence of v1 and the number. */
const PART_NAME = /^mirror_(?:seq(\d+)_)?(\d{6})\.tar$/
/** A writer of Go ends an archive with two empty blocks. */
const TAR_END_BYTES = 1024
/** The last entry of a whole archive of v2. */
const LAST_ENTRY = /^isc_/
/** Mirror sets that oc-mirror has made before, with the archive's own paths. */
const CLUSTER_RESOURCE = /^working-dir\/cluster-resources\/[^/]+\.(?:ya?ml|json)$/
const MAX_TEXT_BYTES = 2 ** 20

/** Names under which oc-mirror keeps the images of releases (internal/pkg/release/const.go). */
const RELEASE_REPOSITORIES: Readonly<Record<string, string>> = {
  'openshift-release-dev/ocp-release': 'openshift/release-images',
  'openshift-release-dev/ocp-v4.0-art-dev': 'openshift/release',
}

const archiveError = (sentence: string, cause?: unknown): UserError =>
  mirrorsError(sentence, cause, 'copy the archive again, with all of its parts in one folder')

/** Content of an entry, in one of the parts. */
interface ArchivePlace {
  part: string
  offset: number
  size: number
}

interface ArchivePart {
  path: string
  /** Number of the sequence in the layout of v1; null in that of v2. */
  sequence: number | null
  number: number
}

/** Image of an archive, by its digest, or by the place of a manifest that has no digest of its own. */
interface ArchivedImage {
  digest: string
  store: ImageStore
}

/** The disk archive of `oc-mirror ... file://`: an index of its parts, of which only headers are read. */
export class MirrorArchive {
  /** For messages: the folder. */
  readonly name: string
  /** Texts of the mirror sets in it. */
  readonly manifests: { readonly file: string; readonly text: string }[] = []
  readonly #clock: Clock
  readonly #parts: readonly ArchivePart[]
  readonly #contents = new Map<string, ArchivePlace>()
  /** Digests by `REPOSITORY:TAG`. */
  readonly #tags = new Map<string, string>()
  #isWhole = false

  private constructor(folder: string, parts: readonly ArchivePart[], clock: Clock) {
    this.name = folder
    this.#parts = parts
    this.#clock = clock
  }

  /**
   * Opens the archive in a folder, or that of which one part is named; undefined where there is none.
   *
   * @throws UserError `image-mirrors` (usage) for parts that are missing, cut off or damaged
   */
  static async open(path: string, clock: Clock): Promise<MirrorArchive | undefined> {
    const parts = await withClockHeld(clock, `reading ${path}`, () => archiveParts(path))
    if (parts.length === 0) return undefined
    checkSequence(parts)
    const archive = new MirrorArchive(dirname(parts[0]!.path), parts, clock)
    for (const part of parts) await archive.#index(part)
    archive.#checkEnd()
    return archive
  }

  /** The image of a name; undefined where the archive does not have it. */
  find(reference: ImageReference): ArchivedImage | undefined {
    const { repository, digest, tag = 'latest' } = reference
    const names = [RELEASE_REPOSITORIES[repository] ?? repository, repository]
    const found = digest ?? names.map((name) => this.#tags.get(`${name}:${tag}`)).find((one) => one !== undefined)
    if (found === undefined || !this.#contents.has(found)) return undefined
    return { digest: found, store: new ArchivedRepository(referenceText(reference), this) }
  }

  /** Reads a manifest. */
  async manifest(digest: string): Promise<Buffer> {
    const place = this.#placeOf(digest)
    if (place.size > MAX_MANIFEST_BYTES)
      throw archiveError(`${place.part} has a manifest of ${place.size} bytes: ${digest}`)
    return this.#bytes(place)
  }

  /** Opens a blob, which is read as it is taken. */
  async blob(digest: string): Promise<ByteStream> {
    const { part, offset, size } = this.#placeOf(digest)
    const source = await openFileSource(part, this.#clock)
    const bytes = streamFrom(streamSource(source, { start: offset, end: offset + size }))
    return {
      length: size,
      next: () => bytes.next(),
      [Symbol.asyncDispose]: async () => {
        await bytes[Symbol.asyncDispose]()
        await source[Symbol.asyncDispose]()
      },
    }
  }

  #placeOf(digest: string): ArchivePlace {
    const place = this.#contents.get(digest)
    if (place) return place
    const sequences = this.#parts.flatMap(({ sequence }) => sequence ?? [])
    const lowest = Math.min(...sequences)
    const hint =
      sequences.length === 0
        ? 'it may be in an archive of before, for an archive has only what is new'
        : lowest > 1
          ? `it may be in the sequences before mirror_seq${lowest}`
          : 'it may be in a part after the last one that is there'
    throw new UserError('image-not-found', `the archive ${this.name} has no ${digest}: ${hint}`, {
      remedy: 'copy all archives into one folder, or mirror again',
    })
  }

  async #index({ path, sequence }: ArchivePart): Promise<void> {
    const cutOff = (what: string, cause?: unknown): UserError =>
      archiveError(`the archive ${path} is cut off: ${what}`, cause)
    const source = await openFileSource(path, this.#clock)
    try {
      if (source.size === 0) throw cutOff('it is empty')
      const end = await source.read(Math.max(0, source.size - TAR_END_BYTES), TAR_END_BYTES)
      if (source.size < TAR_END_BYTES || end.some((byte) => byte !== 0)) throw cutOff('its end is missing')
      const reader = new ByteReader(seekingStream(source))
      for await (const entry of readTar(reader))
        await this.#take(entry, { part: path, offset: reader.position, size: entry.size }, sequence)
    } catch (error) {
      if (!(error instanceof FormatError)) throw error
      throw archiveError(`the archive ${path} cannot be read: ${error.message}`, error)
    } finally {
      await source[Symbol.asyncDispose]()
    }
  }

  /** Takes note of an entry; the text of a small one is read. */
  async #take(entry: TarEntry, place: ArchivePlace, sequence: number | null): Promise<void> {
    const { path, kind } = entry
    if (sequence === null) return this.#takeStored(entry, place)
    const [, repository = '', name = ''] = /^v2\/(.+)\/manifests\/([^/]+)$/.exec(path) ?? []
    const blob = /^(?:blobs|v2\/.+\/blobs)\/([^/]+)$/.exec(path)?.[1] ?? ''
    if (kind === 'file' && isDigest(blob)) this.#contents.set(blob, place)
    else if (name === '') return
    else if (isDigest(name)) this.#contents.set(name, place)
    else if (kind === 'symbolic link') this.#tags.set(`${repository}:${name}`, basename(entry.linkTarget))
    else if (kind === 'file' && place.size <= MAX_MANIFEST_BYTES) {
      const digest = blobDigestOf(await entryBytes(entry))
      this.#contents.set(digest, place)
      this.#tags.set(`${repository}:${name}`, digest)
    }
  }

  /** An entry of the layout of v2: the storage of a registry, and the workspace. */
  async #takeStored(entry: TarEntry, place: ArchivePlace): Promise<void> {
    const { path, kind } = entry
    if (kind !== 'file') return
    const [, algorithm, hex] = /^docker\/registry\/v2\/blobs\/(sha\d+)\/[^/]+\/([a-f\d]+)\/data$/.exec(path) ?? []
    if (hex !== undefined) {
      this.#contents.set(`${algorithm}:${hex}`, place)
      return
    }
    const [, repository, tag] =
      /^docker\/registry\/v2\/repositories\/(.+)\/_manifests\/tags\/([^/]+)\/current\/link$/.exec(path) ?? []
    if (tag !== undefined && place.size <= 200)
      this.#tags.set(`${repository}:${tag}`, (await entryBytes(entry)).toString().trim())
    else if (CLUSTER_RESOURCE.test(path) && place.size <= MAX_TEXT_BYTES)
      this.manifests.push({ file: `${place.part}:${path}`, text: (await entryBytes(entry)).toString() })
    else if (LAST_ENTRY.test(path)) this.#isWhole = true
  }

  #checkEnd(): void {
    const stored = this.#parts.filter(({ sequence }) => sequence === null)
    if (stored.length === 0 || this.#isWhole) return
    const last = basename(stored.at(-1)!.path)
    throw archiveError(
      `the archive ${this.name} lacks its end: no image set configuration is in ${stored.length === 1 ? last : `its ${stored.length} parts`}, so parts after ${last} are missing`,
    )
  }

  async #bytes({ part, offset, size }: ArchivePlace): Promise<Buffer> {
    await using source = await openFileSource(part, this.#clock)
    return Buffer.from(await source.read(offset, size))
  }
}

/** Images of one name in an archive, where content is found by its digest alone. */
class ArchivedRepository implements ImageStore {
  readonly name: string
  readonly #archive: MirrorArchive

  constructor(named: string, archive: MirrorArchive) {
    this.name = `${archive.name}: ${named.replace(/(?:@.*|:[^/:]*)$/, '')}`
    this.#archive = archive
  }

  async manifest(digest: string): Promise<StoredManifest> {
    const bytes = await this.#archive.manifest(digest)
    checkContent(bytes, { digest }, `${this.name}@${digest}`)
    return { bytes, mediaType: undefined, digest }
  }

  async blob(descriptor: Descriptor): Promise<ByteStream> {
    const stream = await this.#archive.blob(descriptor.digest)
    return verifiedStream(stream, descriptor, `${this.name}@${descriptor.digest}`)
  }
}

/** Parts of an archive beside each other, in order; none in a folder without any. */
async function archiveParts(path: string): Promise<ArchivePart[]> {
  const isPart = PART_NAME.test(basename(path)) && (await stat(path).catch(() => undefined))?.isFile() === true
  const folder = isPart ? dirname(path) : path
  const names = await readdir(folder).catch(() => [])
  const parts = names.flatMap((name): ArchivePart[] => {
    const [, sequence, number] = PART_NAME.exec(name) ?? []
    if (number === undefined) return []
    return [
      { path: join(folder, name), sequence: sequence === undefined ? null : Number(sequence), number: Number(number) },
    ]
  })
  return parts.sort((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0) || a.number - b.number)
}

/** Names the first part that is missing: v2 counts from 1, each sequence of v1 from 0. */
function checkSequence(parts: readonly ArchivePart[]): void {
  const sequences = new Set(parts.map(({ sequence }) => sequence))
  for (const sequence of sequences) {
    const own = parts.filter((part) => part.sequence === sequence)
    const first = sequence === null ? 1 : 0
    for (const [index, { path, number }] of own.entries()) {
      if (number === index + first) continue
      const prefix = sequence === null ? 'mirror_' : `mirror_seq${sequence}_`
      const missing = `${prefix}${String(index + first).padStart(6, '0')}.tar`
      throw archiveError(`the archive ${dirname(path)} lacks the part ${missing}: ${basename(path)} is there`)
    }
  }
}

async function entryBytes(entry: TarEntry): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of entry.content()) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** Bytes of a header or two: what follows is content, which is skipped. */
const HEADER_READ_BYTES = 2048

/** A file as a stream that is not read where it is skipped. */
function seekingStream(source: ByteSource): ByteStream {
  let at = 0
  return {
    length: source.size,
    next: async () => {
      const bytes = await source.read(at, HEADER_READ_BYTES)
      at += bytes.length
      return bytes.length === 0 ? undefined : bytes
    },
    passOver: (length) => {
      const skipped = Math.min(length, source.size - at)
      at += skipped
      return Promise.resolve(skipped)
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}
