import { gzipSync } from 'node:zlib'
import { paxArchive, type ArchiveEntry } from '../../bytes/index.js'
import { blobDigestOf } from '../digest.js'
import { MEDIA_TYPES, type Descriptor } from './manifest.js'
import { goArchitecture } from './image-platforms.js'
import type { ImageSink } from './image-store.js'

/** An image of one layer for each architecture. */
export interface NewImage {
  /** By architecture, as `uname -m` has it. */
  files: Readonly<Record<string, readonly ArchiveEntry[]>>
  labels: Readonly<Record<string, string>>
  /** RFC 3339; also the time of the files. */
  created: string
  /** For the history: what made it. */
  comment: string
}

/** An image in memory. */
export interface MadeImage {
  /** Digest of the image, or of the index where there are several architectures. */
  digest: string
  mediaType: string
  blobs: ReadonlyMap<string, Uint8Array>
  /** Content before what refers to it; the last one is the image itself. */
  manifests: readonly { digest: string; mediaType: string; bytes: Uint8Array }[]
}

/** Makes an image in the OCI format: the same bytes for the same input. */
export function makeImage({ files, labels, created, comment }: NewImage): MadeImage {
  const blobs = new Map<string, Uint8Array>()
  const manifests: { digest: string; mediaType: string; bytes: Uint8Array }[] = []
  const blob = (mediaType: string, bytes: Uint8Array): Descriptor => {
    const digest = blobDigestOf(bytes)
    blobs.set(digest, bytes)
    return { mediaType, digest, size: bytes.length }
  }
  const images = Object.entries(files)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([architecture, entries]) => {
      const tar = paxArchive(entries, Date.parse(created) / 1000)
      const layer = blob(MEDIA_TYPES.layer, packLayer(tar))
      const platform = { architecture: goArchitecture(architecture), os: 'linux' }
      const config = blob(
        MEDIA_TYPES.config,
        encodeJsonBlob({
          created,
          ...platform,
          config: { Labels: labels },
          rootfs: { type: 'layers', diff_ids: [blobDigestOf(tar)] },
          history: [{ created, comment }],
        }),
      )
      const bytes = encodeJsonBlob({ schemaVersion: 2, mediaType: MEDIA_TYPES.manifest, config, layers: [layer] })
      const digest = blobDigestOf(bytes)
      manifests.push({ digest, mediaType: MEDIA_TYPES.manifest, bytes })
      return { mediaType: MEDIA_TYPES.manifest, digest, size: bytes.length, platform }
    })
  if (images.length > 1) {
    const bytes = encodeJsonBlob({ schemaVersion: 2, mediaType: MEDIA_TYPES.index, manifests: images })
    manifests.push({ digest: blobDigestOf(bytes), mediaType: MEDIA_TYPES.index, bytes })
  }
  const { digest, mediaType } = manifests.at(-1)!
  return { digest, mediaType, blobs, manifests }
}

/** Puts an image where `sink` is. The tag comes last: it never names an image of which something is missing. */
export async function putImage(
  { blobs, manifests }: MadeImage,
  { sink, tag, signal }: { sink: ImageSink; tag: string; signal: AbortSignal },
): Promise<void> {
  for (const [digest, bytes] of blobs) await sink.putBlob(bytes, digest, signal)
  const last = manifests.length - 1
  for (const [index, manifest] of manifests.entries())
    await sink.putManifest(manifest, index === last ? tag : undefined, signal)
}

const encodeJsonBlob = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value))

/** The header of gzip names the system that made it; the bytes must be the same everywhere. */
function packLayer(bytes: Uint8Array): Uint8Array {
  const packedBytes = gzipSync(bytes)
  packedBytes[9] = 255
  return packedBytes
}
