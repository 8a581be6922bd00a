import { blobDigestOf, type Images, parsePlace } from '../../../base/registry/index.js'
import { signal } from './images.js'

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'
const INDEX = 'application/vnd.oci.image.index.v1+json'

/** Pushes a disk image as an artifact: an index whose only entry has the kind of disk, as podman makes it. */
export async function pushArtifact(images: Images, place: string, disktype: string, disk: Uint8Array): Promise<void> {
  const parsed = parsePlace(place)
  const sink = images.sink(parsed)
  const empty = Buffer.from('{}')
  for (const bytes of [empty, disk]) await sink.putBlob(bytes, blobDigestOf(bytes), signal)
  const described = (mediaType: string, bytes: Uint8Array) => ({
    mediaType,
    digest: blobDigestOf(bytes),
    size: bytes.length,
  })
  const put = async (mediaType: string, document: object, tag?: string) => {
    const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, ...document }))
    await sink.putManifest({ bytes, mediaType, digest: blobDigestOf(bytes) }, tag, signal)
    return described(mediaType, bytes)
  }
  const entry = await put(MANIFEST, {
    config: described('application/vnd.oci.empty.v1+json', empty),
    layers: [described('application/octet-stream', disk)],
  })
  const manifests = [{ ...entry, annotations: { disktype }, platform: { architecture: 'amd64', os: 'linux' } }]
  await put(INDEX, { manifests }, parsed.kind === 'registry' ? (parsed.tag ?? 'latest') : 'latest')
}
