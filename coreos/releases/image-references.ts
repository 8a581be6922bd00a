import { UserError } from '../../runtime/index.js'
import { documentKind, list, object, TEXT } from '../metadata/document.js'

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
  object({
    kind: { const: 'ImageStream' },
    apiVersion: { const: 'image.openshift.io/v1' },
    metadata: object({ name: TEXT }),
    spec: object({ tags: list(object({ name: TEXT, from: object({ kind: TEXT, name: TEXT }) })) }),
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
  object({ kind: { const: 'cincinnati-metadata-v0' }, version: TEXT, previous: list(TEXT) }, ['kind', 'version']),
)

/** Pullspecs of the components by name. */
export const componentsOf = ({ spec }: ImageReferences): Map<string, string> =>
  new Map(spec.tags.map(({ name, from }) => [name, from.name]))

/** Semantic Versioning 2.0.0. */
const VERSION =
  /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[a-zA-Z-][\da-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][\da-zA-Z-]*))*)?(?:\+[\da-zA-Z-]+(?:\.[\da-zA-Z-]+)*)?$/

/** @throws UserError `release-write` (usage) */
export function checkReleaseVersion(version: string): void {
  if (VERSION.test(version)) return
  throw new UserError('release-write', `${version} is not a version of a release`, {
    remedy: 'give a semantic version, as in 4.15.0 or 4.15.0-ec.1',
    kind: 'usage',
  })
}
