import { defined } from '../../runtime/index.js'
import { formatSchema, type ImageFormat } from './artifact.js'
import { documentKind, each, list, object, TEXT, TIME, URL_TEXT } from './document.js'

/** `release.json`: all files of one release, the step between build metadata and a stream. */
export interface Release {
  release: string
  stream: string
  metadata?: { 'last-modified': string }
  architectures: Record<string, ReleaseArchitecture>
}

/** A container image by a floating tag and by its digest. */
export interface ContainerImage {
  image: string
  'digest-ref': string
}

/** The images of an architecture. */
export interface ReleaseArchitecture {
  commit?: string
  'oci-image'?: ContainerImage
  media: Record<string, Media>
  'rhel-coreos-extensions'?: {
    'aws-winli'?: { images: Record<string, { image: string }> }
    'azure-disk'?: { url: string }
  }
}

/** Images of one platform. The platform decides whether it has `image` or `images`. */
export interface Media {
  artifacts?: Record<string, ImageFormat>
  images?: Record<string, { image: string } | { object: string; bucket: string; url: string }>
  image?: ContainerImage | { project: string; family?: string; name: string }
}

export const RELEASE = documentKind<Release>(
  'release metadata',
  object(
    {
      release: TEXT,
      stream: TEXT,
      metadata: object({ 'last-modified': TIME }),
      architectures: each(
        object(
          {
            commit: TEXT,
            'oci-image': object({ image: TEXT, 'digest-ref': TEXT }),
            media: each(
              object(
                { artifacts: each(formatSchema), images: each({ type: 'object' }), image: { type: 'object' } },
                [],
              ),
            ),
            'rhel-coreos-extensions': { type: 'object' },
          },
          ['media'],
        ),
      ),
    },
    ['release', 'stream', 'architectures'],
  ),
)

/** `releases.json`: all releases of a stream, oldest first. */
export interface ReleaseIndex {
  note?: string
  stream: string
  metadata: { 'last-modified': string }
  releases: {
    version: string
    /** URL of its `release.json`. */
    metadata: string
    commits?: { architecture: string; checksum: string }[]
    'oci-images'?: ({ architecture: string } & ContainerImage)[]
  }[]
}

export const RELEASE_INDEX = documentKind<ReleaseIndex>(
  'release index',
  object(
    {
      note: TEXT,
      stream: TEXT,
      metadata: object({ 'last-modified': TIME }),
      releases: list(
        object(
          {
            version: TEXT,
            metadata: URL_TEXT,
            commits: list(object({ architecture: TEXT, checksum: TEXT })),
            'oci-images': list(object({ architecture: TEXT, image: TEXT, 'digest-ref': TEXT })),
          },
          ['version', 'metadata'],
        ),
      ),
    },
    ['stream', 'metadata', 'releases'],
  ),
)

const NOTE = 'For use only by the tooling of CoreOS. Others read stream metadata.'

/**
 * Adds a release to the index, or replaces it in its place.
 *
 * @param url URL of the release's document
 * @param now RFC 3339
 */
export function withRelease(index: ReleaseIndex | null, release: Release, url: string, now: string): ReleaseIndex {
  const architectures = Object.entries(release.architectures)
  const images = architectures.flatMap(([architecture, { 'oci-image': image }]) =>
    image ? [{ architecture, ...image }] : [],
  )
  const commits = architectures.flatMap(([architecture, { commit }]) =>
    commit === undefined ? [] : [{ architecture, checksum: commit }],
  )
  const entry = {
    ...defined({
      commits: commits.length > 0 ? commits : undefined,
      'oci-images': images.length > 0 ? images : undefined,
    }),
    version: release.release,
    metadata: url,
  }
  const before = index?.releases ?? []
  const known = before.some(({ version }) => version === entry.version)
  return {
    note: index?.note ?? NOTE,
    releases: known ? before.map((one) => (one.version === entry.version ? entry : one)) : [...before, entry],
    metadata: { 'last-modified': now },
    stream: release.stream,
  }
}
