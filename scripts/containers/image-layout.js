import { createHash } from 'node:crypto'
import { createWriteStream, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { pack } from 'tar-stream'

// Writes images as an OCI layout, and as archives of one architecture that Docker, Podman and skopeo load.

const INDEX = 'application/vnd.oci.image.index.v1+json'
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'
const CONFIG = 'application/vnd.oci.image.config.v1+json'
const LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip'

const digestOf = (bytes) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`
const json = (value) => Buffer.from(JSON.stringify(value))
const blobPath = (digest) => `blobs/${digest.replace(':', '/')}`

/** An OCI image layout in a folder. */
export class ImageLayout {
  #folder
  #entries = []

  constructor(folder) {
    this.#folder = folder
    mkdirSync(join(folder, 'blobs/sha256'), { recursive: true })
    writeFileSync(join(folder, 'oci-layout'), json({ imageLayoutVersion: '1.0.0' }))
  }

  /**
   * Adds an image for some architectures.
   *
   * @param images by architecture: layers, and what its configuration says
   * @param tag its name in the layout
   */
  addImage(images, { tag, created, annotations }) {
    const manifests = Object.entries(images).map(([architecture, { layers, config }]) => {
      const platform = { architecture, os: 'linux' }
      const diffIds = layers.map(({ diffId }) => diffId)
      const history = layers.map(({ comment }) => ({ created, created_by: comment }))
      const document = { created, ...platform, config, rootfs: { type: 'layers', diff_ids: diffIds }, history }
      const manifest = {
        schemaVersion: 2,
        mediaType: MANIFEST,
        config: this.#put(CONFIG, json(document)),
        layers: layers.map(({ packed }) => this.#put(LAYER, packed)),
        annotations,
      }
      return { ...this.#put(MANIFEST, json(manifest)), platform }
    })
    const index = this.#put(INDEX, json({ schemaVersion: 2, mediaType: INDEX, manifests, annotations }))
    this.#entries.push({ ...index, annotations: { 'org.opencontainers.image.ref.name': tag } })
    const entries = { schemaVersion: 2, mediaType: INDEX, manifests: this.#entries }
    writeFileSync(join(this.#folder, 'index.json'), json(entries))
    return manifests
  }

  #put(mediaType, bytes) {
    const digest = digestOf(bytes)
    const path = join(this.#folder, blobPath(digest))
    if (!existsSync(path)) writeFileSync(path, bytes)
    return { mediaType, digest, size: bytes.length }
  }

  #read(digest) {
    return readFileSync(join(this.#folder, blobPath(digest)))
  }

  /** Writes one image as an archive: an OCI layout that also has what `docker save` writes. */
  async writeArchive(file, manifest, name) {
    const { config, layers } = JSON.parse(this.#read(manifest.digest))
    const saved = [
      { Config: blobPath(config.digest), RepoTags: [name], Layers: layers.map(({ digest }) => blobPath(digest)) },
    ]
    const annotations = {
      'io.containerd.image.name': name,
      'org.opencontainers.image.ref.name': name.split(':').at(-1),
    }
    const index = { schemaVersion: 2, mediaType: INDEX, manifests: [{ ...manifest, annotations }] }
    const files = {
      'oci-layout': json({ imageLayoutVersion: '1.0.0' }),
      'index.json': json(index),
      'manifest.json': json(saved),
    }
    for (const { digest } of [manifest, config, ...layers]) files[blobPath(digest)] = this.#read(digest)
    const archive = pack()
    const written = finished(archive.pipe(createWriteStream(file)))
    for (const [path, bytes] of Object.entries(files)) archive.entry({ name: path, mtime: new Date(0) }, bytes)
    archive.finalize()
    await written
  }
}

/** A layer as images take it. */
export const layerOf = ({ tar, packed }, comment) => ({ packed, diffId: digestOf(tar), comment })
