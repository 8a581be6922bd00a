import { metaToRelease, releaseToStream, type BuildMeta, type StreamMetadata } from '../../coreos/index.js'
import { buildMeta } from './builds.js'
import { sha256 } from './images/image-files.js'

/** A build whose files are there. */
export interface Published {
  /** By the path below {@link BUILDS}. */
  files: Record<string, Buffer>
  build: BuildMeta
  stream: StreamMetadata
}

/** Where a published build is from. */
export const BUILDS = 'https://builds.example.org/prod/streams'

/**
 * Publishes files as those of a build.
 *
 * @param contents by the name of the image in the build: `live-iso`, `metal` ...
 */
export function published(
  contents: Readonly<Record<string, { bytes: Buffer; inside?: Buffer }>>,
  {
    architecture = 'x86_64',
    signatures = false,
    baseUrl = BUILDS,
    name = 'rhcos',
    version = '10.2.20260715-0',
    streamName = 'rhcos-4.22',
    now = '2026-07-16T23:16:30Z',
    more = {} as Partial<BuildMeta>,
  } = {},
): Published {
  const template = buildMeta(architecture, { name, version, stream: 'rhel-10.2', more })
  const images: BuildMeta['images'] = { ostree: template.images!['ostree']! }
  const files: Record<string, Buffer> = {}
  for (const [image, { bytes, inside }] of Object.entries(contents)) {
    const { path } = template.images![image]!
    images[image] = {
      path,
      sha256: sha256(bytes),
      size: bytes.length,
      ...(inside ? { 'uncompressed-sha256': sha256(inside), 'uncompressed-size': inside.length } : {}),
    }
    files[`/prod/streams/rhel-10.2/builds/${version}/${architecture}/${path}`] = bytes
  }
  const build = { ...template, images }
  return {
    files,
    build,
    stream: releaseToStream(metaToRelease([build], { baseUrl, signatures }), { now, name: streamName }),
  }
}
