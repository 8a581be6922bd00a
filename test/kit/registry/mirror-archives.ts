import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTar, paxArchive, type ArchiveEntry } from '../../../base/bytes/index.js'
import type { RegistryServerHandle } from './registry-server.js'

// Layouts of oc-mirror 855b64a: internal/pkg/archive (v2), v1/pkg/archive and v1/pkg/bundle (v1).

const MTIME = 1_770_000_000
const hexOf = (digest: string): string => digest.slice(digest.indexOf(':') + 1)

/** Contents of a repository as `oc-mirror --v2` archives the storage of its registry. */
export function storedEntries({ repositories }: RegistryServerHandle, name: string, as: string): ArchiveEntry[] {
  const { blobs, manifests, tags } = repositories.get(name)!
  const repository = `docker/registry/v2/repositories/${as}`
  const link = (path: string, digest: string) => ({ name: `${repository}/${path}/link`, content: Buffer.from(digest) })
  const data = (digest: string, content: Buffer) => ({
    name: `docker/registry/v2/blobs/sha256/${hexOf(digest).slice(0, 2)}/${hexOf(digest)}/data`,
    content,
  })
  return [
    ...[...tags].map(([tag, digest]) => link(`_manifests/tags/${tag}/current`, digest)),
    ...[...manifests].map(([digest]) => link(`_manifests/revisions/sha256/${hexOf(digest)}`, digest)),
    ...[...blobs].map(([digest]) => link(`_layers/sha256/${hexOf(digest)}`, digest)),
    ...[...manifests].map(([digest, { bytes }]) => data(digest, bytes)),
    ...[...blobs].map(([digest, bytes]) => data(digest, bytes)),
  ]
}

/** The last entry of an archive of v2. */
export const IMAGE_SET_CONFIG: ArchiveEntry = {
  name: 'isc_2026-08-21T12:41:51Z',
  content: Buffer.from('kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\n'),
}

/** Contents of a repository as oc-mirror v1 archives them. */
export function sequenceEntries({ repositories }: RegistryServerHandle, name: string, as: string): ArchiveEntry[] {
  const { blobs, manifests, tags } = repositories.get(name)!
  return [
    { name: 'publish/.metadata.json', content: Buffer.from('{"kind":"Metadata"}\n') },
    ...[...manifests].map(([digest, { bytes }]) => ({ name: `v2/${as}/manifests/${digest}`, content: bytes })),
    ...[...tags].map(([tag, digest]) => ({ name: `v2/${as}/manifests/${tag}`, content: manifests.get(digest)!.bytes })),
    ...[...blobs].map(([digest, bytes]) => ({ name: `blobs/${digest}`, content: bytes })),
  ]
}

/** Writes entries into parts; long names have PAX headers. */
export async function writeParts(
  folder: string,
  parts: Readonly<Record<string, readonly ArchiveEntry[]>>,
): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const [name, entries] of Object.entries(parts)) {
    const isLong = entries.some((entry) => entry.name.length > 100)
    await writeFile(join(folder, name), isLong ? paxArchive(entries, MTIME) : makeTar(entries, MTIME))
  }
}
