import { defined } from '../../base/runtime/index.js'
import type { StreamArtifact } from '../metadata/artifact.js'
import type { StreamMetadata, StreamArchitecture } from '../metadata/stream-metadata.js'

/** A file with its digests. */
export interface DigestedFile {
  name: string
  sha256: string
  /** Digest of a compressed file's contents. */
  uncompressedSha256?: string
}

/** The files of an architecture. */
export interface ArchitectureFiles {
  metal: DigestedFile
  /** Ending that names the disk image's compression. */
  packing: 'xz' | 'gz'
  iso: DigestedFile
  kernel: DigestedFile
  initramfs: DigestedFile
  rootfs: DigestedFile
}

/** Stream metadata of files that are side by side below one URL. */
export function smallStream(options: {
  stream: string
  version: string
  /** Ends with a slash. */
  baseUrl: string
  /** RFC 3339. */
  modified: string
  generator: string
  architectures: Readonly<Record<string, ArchitectureFiles>>
}): StreamMetadata {
  const { stream, version, baseUrl, modified, generator } = options
  const artifact = ({ name, sha256, uncompressedSha256 }: DigestedFile): StreamArtifact => ({
    location: `${baseUrl}${name}`,
    sha256,
    ...defined({ 'uncompressed-sha256': uncompressedSha256 }),
  })
  const architecture = ({ metal, packing, ...live }: ArchitectureFiles): StreamArchitecture => ({
    artifacts: {
      metal: {
        release: version,
        formats: {
          iso: { disk: artifact(live.iso) },
          pxe: {
            kernel: artifact(live.kernel),
            initramfs: artifact(live.initramfs),
            rootfs: artifact(live.rootfs),
          },
          [`raw.${packing}`]: { disk: artifact(metal) },
        },
      },
    },
  })
  return {
    stream,
    metadata: { 'last-modified': modified, generator },
    architectures: Object.fromEntries(
      Object.entries(options.architectures).map(([name, files]) => [name, architecture(files)]),
    ),
  }
}
