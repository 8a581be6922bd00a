import { UserError } from '../../base/runtime/index.js'
import {
  documentKind,
  metadataListSchema,
  metadataObjectSchema,
  METADATA_TEXT_SCHEMA,
} from '../metadata/metadata-document.js'

/** `release-manifests/image-references`: the components of a release, an ImageStream with a tag for each. */
export interface ImageReferences {
  kind: 'ImageStream'
  apiVersion: 'image.openshift.io/v1'
  metadata: { name: string; creationTimestamp?: string | null; annotations?: Record<string, string> }
  spec: { lookupConf?: { local: boolean }; tags: ComponentTag[] }
}

export interface ComponentTag {
  name: string
  annotations?: Record<string, string> | null
  from: { kind: string; name: string }
}

export const IMAGE_REFERENCES = documentKind<ImageReferences>(
  'list of image references',
  metadataObjectSchema({
    kind: { const: 'ImageStream' },
    apiVersion: { const: 'image.openshift.io/v1' },
    metadata: metadataObjectSchema({ name: METADATA_TEXT_SCHEMA }),
    spec: metadataObjectSchema({
      tags: metadataListSchema(
        metadataObjectSchema({
          name: METADATA_TEXT_SCHEMA,
          from: metadataObjectSchema({ kind: METADATA_TEXT_SCHEMA, name: METADATA_TEXT_SCHEMA }),
        }),
      ),
    }),
  }),
)

/** `release-manifests/release-metadata`: the release and those that can be upgraded to it. */
export interface ReleaseMetadata {
  kind: 'cincinnati-metadata-v0'
  version: string
  previous: string[]
  next?: string[]
  metadata?: Record<string, unknown>
}

export const RELEASE_METADATA = documentKind<ReleaseMetadata>(
  'release metadata',
  metadataObjectSchema(
    {
      kind: { const: 'cincinnati-metadata-v0' },
      version: METADATA_TEXT_SCHEMA,
      previous: metadataListSchema(METADATA_TEXT_SCHEMA),
    },
    ['kind', 'version'],
  ),
)

/** Pullspecs of the components by name. */
export const pullspecsOf = ({ spec }: ImageReferences): Map<string, string> =>
  new Map(spec.tags.map(({ name, from }) => [name, from.name]))

/** Semantic Versioning 2.0.0. */
const SEMVER_PATTERN =
  /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[a-zA-Z-][\da-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][\da-zA-Z-]*))*)?(?:\+[\da-zA-Z-]+(?:\.[\da-zA-Z-]+)*)?$/

/** @throws UserError `release-write` (usage) */
export function checkReleaseVersion(version: string): void {
  if (SEMVER_PATTERN.test(version)) return
  throw new UserError('release-write', `${version} is not a version of a release`, {
    remedy: 'give a semantic version, as in 4.15.0 or 4.15.0-ec.1',
    kind: 'usage',
  })
}
