import { UserError, defined } from '../../base/runtime/index.js'
import { FILE_NAMES, type ImageFormat } from './artifact.js'
import type { PlatformMedia, CoreosRelease, ReleaseArchitecture } from './release-metadata.js'
import type {
  CloudImages,
  RhcosExtensions,
  RegionImage,
  StreamMetadata,
  StreamArchitecture,
} from './stream-metadata.js'
import { ERRORS } from '../errors.js'

/** Options of {@link releaseToStream} and {@link updateStream}. */
export interface StreamOptions {
  /** Name of the stream; default: the release's. */
  name?: string
  /** RFC 3339, UTC. */
  now: string
  generator?: string
}

/**
 * Converts a release to stream metadata.
 *
 * @example
 * import { readFileSync } from 'node:fs'
 * import { metaToRelease, readMetadata, releaseToStream } from 'ironstage/coreos'
 *
 * const build = readMetadata(readFileSync('meta.json', 'utf8'), 'meta.json')
 * if (build.kind === 'build') console.log(releaseToStream(metaToRelease([build.value]), { now: '2026-01-01T00:00:00Z' }).stream)
 */
export function releaseToStream(
  release: CoreosRelease,
  { name = release.stream, now, generator }: StreamOptions,
): StreamMetadata {
  return {
    stream: name,
    metadata: { 'last-modified': now, ...defined({ generator }) },
    architectures: sorted(
      Object.fromEntries(
        Object.entries(release.architectures).map(([architecture, one]) => [
          architecture,
          ofArchitecture(release.release, one),
        ]),
      ),
    ),
  }
}

/**
 * Combines releases in one stream, each architecture from one release. Other architectures of `target` stay.
 *
 * @throws UserError `stream-duplicate` for an architecture in two releases
 *
 * @example
 * import { readFileSync } from 'node:fs'
 * import { metaToRelease, readMetadata, updateStream } from 'ironstage/coreos'
 *
 * const build = readMetadata(readFileSync('meta.json', 'utf8'), 'meta.json')
 * if (build.kind === 'build') console.log(updateStream(null, [metaToRelease([build.value])], { now: '2026-01-01T00:00:00Z' }).stream)
 */
export function updateStream(
  target: StreamMetadata | null,
  releases: readonly CoreosRelease[],
  options: StreamOptions,
): StreamMetadata {
  const architectures: StreamMetadata['architectures'] = {}
  for (const release of releases)
    for (const [architecture, one] of Object.entries(releaseToStream(release, options).architectures)) {
      if (architecture in architectures)
        throw new UserError('stream-duplicate', `Duplicate architecture ${architecture}`, {
          remedy: ERRORS['stream-duplicate'].remedy,
          kind: 'usage',
        })
      architectures[architecture] = one
    }
  const { name = target?.stream ?? releases[0]?.stream ?? '', now, generator } = options
  return {
    ...target,
    stream: name,
    metadata: { 'last-modified': now, ...defined({ generator }) },
    architectures: sorted({ ...target?.architectures, ...architectures }),
  }
}

function ofArchitecture(release: string, one: ReleaseArchitecture): StreamArchitecture {
  const artifacts: StreamArchitecture['artifacts'] = {}
  const images: Record<string, unknown> = {}
  for (const [platform, media] of Object.entries(one.media)) {
    artifacts[platform] = { release, formats: formatsOf(media) }
    const found = platformImagesOf(platform, media, release)
    if (found) images[platform] = found
  }
  const extensions = extensionsOf(one, release)
  return {
    artifacts: sorted(artifacts),
    ...defined({
      images: Object.keys(images).length > 0 ? (sorted(images) as CloudImages) : undefined,
      'rhel-coreos-extensions': extensions ?? undefined,
    }),
  }
}

/** Formats of a platform, without empty signatures, as Go's `omitempty` leaves them out. */
function formatsOf({ artifacts = {} }: PlatformMedia): Record<string, ImageFormat> {
  const formats = Object.entries(artifacts).map(([name, files]) => {
    const entries = FILE_NAMES.flatMap((file) => {
      const artifact = files[file]
      if (!artifact) return []
      const { location, signature = '', sha256, 'uncompressed-sha256': inside = '' } = artifact
      const whole = {
        location,
        ...defined({ signature: signature || undefined }),
        sha256,
        ...defined({ 'uncompressed-sha256': inside || undefined }),
      }
      return [[file, whole] as const]
    })
    return [name, Object.fromEntries(entries) as ImageFormat] as const
  })
  return sorted(Object.fromEntries(formats))
}

const REPLICATED = new Set(['aliyun', 'aws', 'ibmcloud', 'powervs'])

function platformImagesOf(platform: string, { images, image }: PlatformMedia, release: string): object | null {
  if (REPLICATED.has(platform)) return images ? { regions: inRegions(images, release) } : null
  return image && (platform === 'gcp' || platform === 'kubevirt') ? { release, ...image } : null
}

const inRegions = <T extends object>(images: Record<string, T>, release: string) =>
  sorted(Object.fromEntries(Object.entries(images).map(([region, one]) => [region, { release, ...one }])))

function extensionsOf(
  { 'rhel-coreos-extensions': of, media }: ReleaseArchitecture,
  release: string,
): RhcosExtensions | null {
  if (!of) return null
  const { 'aws-winli': windows, 'azure-disk': azure } = of
  return defined({
    'aws-winli':
      windows && media['aws']
        ? { regions: inRegions(windows.images, release) as Record<string, RegionImage> }
        : undefined,
    'azure-disk': azure && media['azure'] ? { release, url: azure.url } : undefined,
  })
}

/** Sorts by key, as Go writes maps. */
const sorted = <T>(map: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)))
