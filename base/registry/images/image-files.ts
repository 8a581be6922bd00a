import { FormatError, readTar, type TarEntry } from '../../bytes/index.js'
import { UserError, type Clock } from '../../runtime/index.js'
import { layerArchive } from './layer.js'
import type { Descriptor } from './manifest.js'
import type { ImageStore } from './image-store.js'
import { parentsOf, splitPath, whiteoutOf } from './whiteouts.js'
import { ERRORS } from '../errors.js'

export interface WantedFiles {
  /** Paths without a slash at the beginning. */
  paths?: readonly string[]
  /** The files of these folders, not of those below them. All layers are read for it. */
  folders?: readonly string[]
}

export interface FileLimits {
  /** Bytes of one file, and of all files together. */
  file: number
  all: number
  /** Number of files. */
  files: number
  /** Bytes of a layer's archive. */
  layer?: number
}

const IMAGE_FILE_LIMITS: FileLimits = { file: 32 * 2 ** 20, all: 256 * 2 ** 20, files: 20_000 }

/**
 * Reads files out of an image: the layers from the top down, no further than needed, with the whiteouts of each for those
 * below it (OCI image spec 1.1, layer.md). Nothing but the files is kept. Missing files are missing in the result.
 *
 * @throws UserError `image-layers` for archives that cannot be read, links and sizes beyond the limits; as the store does
 */
export async function imageFiles(
  { store, layers, name }: { store: ImageStore; layers: readonly Descriptor[]; name: string },
  wanted: WantedFiles,
  { clock, signal, limits }: { clock: Clock; signal: AbortSignal; limits?: Partial<FileLimits> },
): Promise<Map<string, Buffer>> {
  const reading = new Reading(wanted, { ...IMAGE_FILE_LIMITS, ...limits })
  for (const layer of [...layers].reverse()) {
    if (reading.isDone) break
    const where = `the layer ${layer.digest} of ${name}`
    await using blob = await store.blob(layer, signal)
    try {
      const archive = layerArchive(blob, clock, reading.limits.layer)
      for await (const entry of readTar(archive)) await reading.take(entry)
      // Behind the end of the archive there may be padding; the digest is known at the end of all.
      while (await archive.next()) signal.throwIfAborted()
      while (await blob.next()) signal.throwIfAborted()
    } catch (cause) {
      if (!(cause instanceof FormatError)) throw cause
      throw new UserError('image-layers', `${where} cannot be read: ${cause.message}`, {
        cause,
        remedy: ERRORS['image-layers'].remedy,
      })
    }
    reading.endLayer()
  }
  const { files, links } = reading
  const [link] = links
  if (link !== undefined)
    throw new UserError('image-layers', `${link} in ${name} is a link or a device, which is not followed`, {
      remedy: 'put the file itself into the image',
    })
  return files
}

class Reading {
  readonly files = new Map<string, Buffer>()
  /** Wanted paths, or folders of them, that are no files or folders. */
  readonly links = new Set<string>()
  readonly limits: FileLimits
  readonly #paths: ReadonlySet<string>
  readonly #folders: ReadonlySet<string>
  /** Everything above a wanted path. */
  readonly #parents: ReadonlySet<string>
  /** Paths that the layers above hide, and folders whose contents in lower layers they hide. */
  readonly #gone = new Set<string>()
  readonly #opaque = new Set<string>()
  /** The same of the layer that is being read, for those below it. */
  #layer = emptyLayer()
  /** Folders above wanted paths that a layer above has as such. */
  readonly #known = new Set<string>()
  #bytes = 0

  constructor({ paths = [], folders = [] }: WantedFiles, limits: FileLimits) {
    this.limits = limits
    this.#paths = new Set(paths)
    this.#folders = new Set(folders)
    this.#parents = new Set([...folders, ...[...paths, ...folders].flatMap(parentsOf)])
  }

  /** True if no layer below can bring or hide anything that is wanted. */
  get isDone(): boolean {
    const all = [...this.#paths, ...this.#folders]
    return all.every(
      (path) => this.files.has(path) || this.links.has(path) || this.#isHidden(path, this.#folders.has(path)),
    )
  }

  async take({ path, kind, content, size }: TarEntry): Promise<void> {
    const [folder] = splitPath(path)
    const whiteout = whiteoutOf(path)
    if (whiteout?.hides === 'folder') return void this.#remember(this.#layer.opaque, whiteout.path)
    if (whiteout) {
      if (whiteout.path !== null) this.#remember(this.#layer.gone, whiteout.path)
      return
    }
    const isWanted = this.#paths.has(path) || (this.#folders.has(folder) && path !== '')
    if (this.#parents.has(path)) {
      if (kind === 'directory') this.#layer.folders.add(path)
      else if (!this.#isFolderAbove(path)) this.#found(path, null)
      if (!isWanted) return
    }
    if (!isWanted || this.files.has(path) || this.#isHidden(path)) return
    if (kind === 'directory') {
      if (this.#paths.has(path)) this.#layer.gone.add(path)
      return
    }
    if (kind !== 'file') return void this.#found(path, null)
    if (size > this.limits.file) throw new FormatError(`${path} has ${size} bytes, more than ${this.limits.file}`)
    this.#bytes += size
    if (this.#bytes > this.limits.all)
      throw new FormatError(`its files have more than ${this.limits.all} bytes together`)
    const parts: Uint8Array[] = []
    for await (const part of content()) parts.push(part)
    this.#found(path, Buffer.concat(parts))
  }

  /** Only what concerns a wanted path is kept: a layer can have millions of whiteouts. */
  #remember(where: Set<string>, path: string): void {
    const [folder] = splitPath(path)
    if (path === '' || this.#parents.has(path) || this.#paths.has(path) || this.#folders.has(folder)) where.add(path)
    if (where.size > this.limits.files) throw new FormatError(`it hides more than ${this.limits.files} files`)
  }

  #found(path: string, content: Buffer | null): void {
    if (this.#isHidden(path)) return
    this.#layer.files.set(path, content)
    if (this.#layer.files.size + this.files.size > this.limits.files)
      throw new FormatError(`it has more than ${this.limits.files} files where some are wanted`)
  }

  endLayer(): void {
    const { files, gone, opaque, folders } = this.#layer
    for (const [path, content] of files) {
      if (this.files.has(path) || this.links.has(path)) continue
      if (content) this.files.set(path, content)
      else this.links.add(path)
    }
    for (const path of gone) this.#gone.add(path)
    for (const path of opaque) this.#opaque.add(path)
    for (const path of folders) this.#known.add(path)
    this.#layer = emptyLayer()
  }

  #isFolderAbove(path: string): boolean {
    return this.#known.has(path) || [...this.files.keys()].some((one) => one.startsWith(`${path}/`))
  }

  #isHidden(path: string, isFolder = false): boolean {
    const above = parentsOf(path)
    return (
      this.#gone.has(path) ||
      (isFolder && this.#opaque.has(path)) ||
      this.#opaque.has('') ||
      above.some((parent) => this.#gone.has(parent) || this.#opaque.has(parent) || this.links.has(parent))
    )
  }
}

const emptyLayer = () => ({
  files: new Map<string, Buffer | null>(),
  gone: new Set<string>(),
  opaque: new Set<string>(),
  folders: new Set<string>(),
})
