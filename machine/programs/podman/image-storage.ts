import { gunzipSync, gzipSync } from 'node:zlib'
import type { ImageNode } from '../../../base/registry/index.js'
import type { FileTree } from '../../file-tree.js'

/** A pulled image, as podman's storage names it. */
export interface StoredImage {
  /** Digest of the config, without `sha256:`. */
  id: string
  /** Digest of the manifest of this platform, and of the index where the name led to one. */
  digest: string
  /** Names with their tags or digests. */
  names: string[]
  labels: Readonly<Record<string, string>>
  /** As Go names it; undefined where the config does not say it. */
  architecture: string | undefined
}

/** Files of an image, as far as a machine stores them. */
export interface StoredFiles {
  nodes: readonly ImageNode[]
  left: { paths: number; contents: number }
}

const STORAGE = '/var/lib/containers/storage/overlay-images'
const LIST = `${STORAGE}/images.json`

const filesOf = (id: string): string => `${STORAGE}/${id}/files.json.gz`

/**
 * The images that podman has pulled. They are files of the live system, as on a real machine, and last until its next boot: a
 * snapshot of the lab has them.
 */
export class ImageStorage {
  readonly #files: FileTree

  constructor(files: FileTree) {
    this.#files = files
  }

  list(): StoredImage[] {
    return this.#files.exists(LIST) ? (JSON.parse(Buffer.from(this.#files.read(LIST)).toString()) as StoredImage[]) : []
  }

  /** The image of a name, or of an id. */
  find(name: string): StoredImage | undefined {
    return this.list().find(({ id, names }) => names.includes(name) || (name.length >= 12 && id.startsWith(name)))
  }

  /** A name leads to the image that was pulled last. */
  add(image: Omit<StoredImage, 'names'>, name: string, files: StoredFiles): void {
    const others = this.list().map((one) => ({ ...one, names: one.names.filter((other) => other !== name) }))
    const before = others.find(({ id }) => id === image.id)
    const names = [...(before?.names ?? []), name]
    this.#files.write(filesOf(image.id), gzipSync(JSON.stringify({ ...files, nodes: files.nodes.map(toText) })))
    const all = [...others.filter((one) => one !== before), { ...image, names }]
    this.#files.write(LIST, Buffer.from(JSON.stringify(all)))
  }

  files({ id }: StoredImage): StoredFiles {
    const text = gunzipSync(this.#files.read(filesOf(id))).toString()
    const { nodes, left } = JSON.parse(text) as { nodes: TextNode[]; left: StoredFiles['left'] }
    return { left, nodes: nodes.map(ofText) }
  }
}

type TextNode = Omit<ImageNode, 'content'> & { content: string | null }

const toText = (node: ImageNode): TextNode => ({ ...node, content: node.content?.toString('base64') ?? null })
const ofText = (node: TextNode): ImageNode => ({
  ...node,
  content: node.content === null ? null : Buffer.from(node.content, 'base64'),
})
