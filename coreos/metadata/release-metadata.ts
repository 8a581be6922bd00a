import { defined } from '../../base/runtime/index.js'
import { formatSchema, type ImageFormat } from './artifact.js'
import {
  documentKind,
  metadataMapSchema,
  metadataListSchema,
  metadataObjectSchema,
  METADATA_TEXT_SCHEMA,
  TIME_SCHEMA,
  URL_TEXT,
} from './metadata-document.js'

/** `release.json`: all files of one release, the step between build metadata and a stream. */
export interface CoreosRelease {
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
  media: Record<string, PlatformMedia>
  'rhel-coreos-extensions'?: {
    'aws-winli'?: { images: Record<string, { image: string }> }
    'azure-disk'?: { url: string }
  }
}

/** Images of one platform. The platform decides whether it has `image` or `images`. */
export interface PlatformMedia {
  artifacts?: Record<string, ImageFormat>
  images?: Record<string, { image: string } | { object: string; bucket: string; url: string }>
  image?: ContainerImage | { project?: string; family?: string; name: string }
}

export const RELEASE_KIND = documentKind<CoreosRelease>(
  'release metadata',
  metadataObjectSchema(
    {
      release: METADATA_TEXT_SCHEMA,
      stream: METADATA_TEXT_SCHEMA,
      metadata: metadataObjectSchema({ 'last-modified': TIME_SCHEMA }),
      architectures: metadataMapSchema(
        metadataObjectSchema(
          {
            commit: METADATA_TEXT_SCHEMA,
            'oci-image': metadataObjectSchema({ image: METADATA_TEXT_SCHEMA, 'digest-ref': METADATA_TEXT_SCHEMA }),
            media: metadataMapSchema(
              metadataObjectSchema(
                {
                  artifacts: metadataMapSchema(formatSchema),
                  images: metadataMapSchema({ type: 'object' }),
                  image: { type: 'object' },
                },
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
  metadataObjectSchema(
    {
      note: METADATA_TEXT_SCHEMA,
      stream: METADATA_TEXT_SCHEMA,
      metadata: metadataObjectSchema({ 'last-modified': TIME_SCHEMA }),
      releases: metadataListSchema(
        metadataObjectSchema(
          {
            version: METADATA_TEXT_SCHEMA,
            metadata: URL_TEXT,
            commits: metadataListSchema(
              metadataObjectSchema({ architecture: METADATA_TEXT_SCHEMA, checksum: METADATA_TEXT_SCHEMA }),
            ),
            'oci-images': metadataListSchema(
              metadataObjectSchema({
                architecture: METADATA_TEXT_SCHEMA,
                image: METADATA_TEXT_SCHEMA,
                'digest-ref': METADATA_TEXT_SCHEMA,
              }),
            ),
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
export function withRelease(
  index: ReleaseIndex | null,
  release: CoreosRelease,
  url: string,
  now: string,
): ReleaseIndex {
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
