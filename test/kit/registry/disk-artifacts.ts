import { createHash } from 'node:crypto'
import { defined } from '../../../base/runtime/index.js'
import type { JsonObject } from '../../../base/wire/index.js'
import type { RegistryServerHandle } from './registry-server.js'

const INDEX = 'application/vnd.oci.image.index.v1+json'
export const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'
const EMPTY_CONFIG = { mediaType: 'application/vnd.oci.empty.v1+json', digest: 'sha256:44', size: 2 }

export const hexOf = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
export const digestOf = (bytes: string | Uint8Array): string => `sha256:${hexOf(bytes)}`

function repositoryOf(registry: RegistryServerHandle, name: string) {
  const known = registry.repositories.get(name) ?? { blobs: new Map(), manifests: new Map(), tags: new Map() }
  registry.repositories.set(name, known)
  return known
}

interface NewDocument {
  name: string
  type: string
  document: JsonObject
  tag?: string
}

/** Puts a document into a registry, and returns its digest. */
export function putDocument(registry: RegistryServerHandle, { name, type, document, tag }: NewDocument): string {
  const text = JSON.stringify({ schemaVersion: 2, mediaType: type, ...document })
  const { manifests, tags } = repositoryOf(registry, name)
  manifests.set(digestOf(text), { type, bytes: Buffer.from(text) })
  if (tag !== undefined) tags.set(tag, digestOf(text))
  return digestOf(text)
}

/** A layer of a manifest; its bytes are not in the registry. */
export const layer = (content: string | Uint8Array, mediaType = 'application/octet-stream', more: JsonObject = {}) => ({
  mediaType,
  digest: digestOf(content),
  size: content.length,
  ...more,
})

export interface IndexEntry {
  disktype?: string
  architecture?: string
  layers?: JsonObject[]
}

/** An index as podman makes it for disk images: a manifest for each, with the kind of disk as an annotation. */
export function putIndex(
  registry: RegistryServerHandle,
  name: string,
  entries: readonly IndexEntry[],
  tag = 'latest',
): string[] {
  const digests = entries.map(({ layers = [layer('disk')] }, position) =>
    putDocument(registry, {
      name,
      type: MANIFEST,
      document: { config: EMPTY_CONFIG, layers, annotations: { position: String(position) } },
    }),
  )
  const manifests = entries.map(({ disktype, architecture }, position) => ({
    mediaType: MANIFEST,
    digest: digests[position],
    annotations: defined({ disktype }),
    platform: defined({ architecture }),
  }))
  putDocument(registry, { name, type: INDEX, document: { manifests }, tag })
  return digests
}

/** Puts a disk image into a registry, as an artifact that is tagged `latest`. */
export function putDiskImage(registry: RegistryServerHandle, name: string, disktype: string, bytes: Buffer): void {
  repositoryOf(registry, name).blobs.set(digestOf(bytes), bytes)
  putIndex(registry, name, [{ disktype, layers: [layer(bytes)] }])
}
