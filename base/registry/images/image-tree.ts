import { readTar, type ByteStream, type TarEntry } from '../../bytes/index.js'
import { parentsOf, whiteoutOf } from './whiteouts.js'

/** A path of an image, all its layers merged. */
export interface ImageNode {
  /** Without a slash at the beginning. */
  path: string
  kind: 'file' | 'directory' | 'hard link' | 'symbolic link'
  mode: number
  uid: number
  gid: number
  /** Bytes of a file. */
  size: number
  /** Null for what is no file, and for a file whose bytes are left out. */
  content: Buffer | null
  /** Target of a link as the layer has it; that of a hard link is a path of the image. */
  target: string
}

export interface ImageTreeLimits {
  /** Nodes, and bytes of one file and of all files, that are kept. */
  nodes: number
  file: number
  all: number
}

/**
 * The files of an image, from its layers, which are added from the top down: where not all can be kept, those of the upper
 * layers are, which a user has put there.
 */
export class ImageTree {
  readonly nodes: ImageNode[] = []
  /** Number of paths that are left out, and of files whose bytes are. */
  left = { paths: 0, contents: 0 }
  readonly #limits: ImageTreeLimits
  readonly #isWanted: (path: string) => boolean
  /** Every path so far, true for a folder. */
  readonly #seen = new Map<string, boolean>()
  readonly #gone = new Set<string>()
  readonly #opaque = new Set<string>()
  #bytes = 0

  /** @param isWanted true for paths that are kept in any case, so that there should be few of them */
  constructor(limits: ImageTreeLimits, isWanted: (path: string) => boolean = () => false) {
    this.#limits = limits
    this.#isWanted = isWanted
  }

  /**
   * Adds the layer below those that were added.
   *
   * @throws FormatError for an archive that cannot be read
   */
  async addBelow(archive: ByteStream): Promise<void> {
    const gone: string[] = []
    const opaque: string[] = []
    const inLayer = new Map<string, boolean>()
    for await (const entry of readTar(archive)) {
      const whiteout = whiteoutOf(entry.path)
      if (whiteout?.hides === 'folder') opaque.push(whiteout.path)
      else if (whiteout) {
        if (whiteout.path !== null) gone.push(whiteout.path)
      } else await this.#add(entry, inLayer)
    }
    for (const [path, isFolder] of inLayer) this.#seen.set(path, isFolder)
    for (const path of gone) this.#gone.add(path)
    for (const path of opaque) this.#opaque.add(path)
  }

  async #add(entry: TarEntry, inLayer: Map<string, boolean>): Promise<void> {
    const { path, kind, mode, uid, gid, size, linkTarget: target } = entry
    if (path === '' || kind === 'other' || this.#seen.has(path) || this.#isHidden(path)) return
    if (inLayer.has(path)) this.#forget(path)
    inLayer.set(path, kind === 'directory')
    if (this.nodes.length >= this.#limits.nodes && !this.#isWanted(path)) return void this.left.paths++
    const content = kind === 'file' ? await this.#contentOf(entry) : null
    this.nodes.push({ path, kind, mode, uid, gid, size, content, target })
  }

  async #contentOf({ path, size, content }: TarEntry): Promise<Buffer | null> {
    const fits = size <= this.#limits.file && this.#bytes + size <= this.#limits.all
    if (!fits && !(this.#isWanted(path) && size <= this.#limits.file)) {
      this.left.contents++
      return null
    }
    this.#bytes += size
    const parts: Uint8Array[] = []
    for await (const part of content()) parts.push(part.slice())
    return Buffer.concat(parts)
  }

  /** The last entry of a path in an archive counts. */
  #forget(path: string): void {
    const at = this.nodes.findLastIndex((node) => node.path === path)
    if (at < 0) return
    this.#bytes -= this.nodes[at]!.content?.length ?? 0
    this.nodes.splice(at, 1)
  }

  #isHidden(path: string): boolean {
    return (
      this.#gone.has(path) ||
      this.#opaque.has('') ||
      parentsOf(path).some(
        (parent) => this.#gone.has(parent) || this.#opaque.has(parent) || this.#seen.get(parent) === false,
      )
    )
  }
}
