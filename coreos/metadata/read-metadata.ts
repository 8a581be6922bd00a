import { parse } from 'yaml'
import { checkNesting, isObject, readNested, UserError } from '../../base/runtime/index.js'
import { BUILD_META, type BuildMeta } from './build-meta.js'
import { CONFIG_MAP, readBootImages, type BootImages } from './config-map.js'
import type { DocumentKind } from './metadata-document.js'
import { RELEASE_KIND, RELEASE_INDEX, type CoreosRelease, type ReleaseIndex } from './release-metadata.js'
import { STREAM_KIND, type StreamMetadata } from './stream-metadata.js'
import { ERRORS } from '../errors.js'

/** A metadata document of any kind. */
export type MetadataDocument =
  | { kind: 'stream'; value: StreamMetadata }
  | { kind: 'release'; value: CoreosRelease }
  | { kind: 'index'; value: ReleaseIndex }
  | { kind: 'build'; value: BuildMeta }
  | { kind: 'config-map'; value: BootImages }

const METADATA_KINDS = { stream: STREAM_KIND, release: RELEASE_KIND, index: RELEASE_INDEX, build: BUILD_META } as const

/**
 * Reads a document, and recognizes its kind by its contents.
 *
 * @throws UserError as the reader of its kind does; `metadata-unknown`
 *
 * @example
 * import { readMetadata } from 'ironstage/coreos'
 *
 * const url = 'https://builds.coreos.fedoraproject.org/streams/stable.json'
 * const metadata = readMetadata(await (await fetch(url)).text(), url)
 * if (metadata.kind === 'stream') console.log(Object.keys(metadata.value.architectures))
 */
export function readMetadata(text: string, name: string): MetadataDocument {
  const { kind, value } = recognised(text, name)
  switch (kind) {
    case 'stream':
      return { kind, value: STREAM_KIND.check(value, name) }
    case 'release':
      return { kind, value: RELEASE_KIND.check(value, name) }
    case 'index':
      return { kind, value: RELEASE_INDEX.check(value, name) }
    case 'build':
      return { kind, value: BUILD_META.check(value, name) }
    case 'config-map':
      return { kind, value: readBootImages(text, name) }
  }
}

/** Lists all violations of the schema in a document, a sentence each. */
export function schemaProblems(text: string, name: string): { kind: MetadataDocument['kind']; problems: string[] } {
  const { kind, value } = recognised(text, name)
  const schema: DocumentKind<unknown> = kind === 'config-map' ? CONFIG_MAP : METADATA_KINDS[kind]
  return { kind, problems: schema.problems(value) }
}

function recognised(text: string, name: string): { kind: MetadataDocument['kind']; value: unknown } {
  let value: unknown
  try {
    // JSON is YAML too, but its own parser is faster.
    value = /^\s*[{[]/.test(text) ? JSON.parse(text) : readNested(text, name, parse)
    checkNesting(value, name)
  } catch (cause) {
    if (cause instanceof UserError) throw cause
    throw new UserError('metadata-json', `${name} is not JSON`, { cause, remedy: ERRORS['metadata-json'].remedy })
  }
  const has = (key: string) => typeof value === 'object' && value !== null && key in value
  if (has('kind')) return { kind: 'config-map', value }
  if (has('releases')) refuseRollout(value as { releases: unknown }, name)
  if (has('releases')) return { kind: 'index', value }
  if (has('release')) return { kind: 'release', value }
  if (has('architectures') || has('stream')) return { kind: 'stream', value }
  if (has('buildid') || has('ostree-commit')) return { kind: 'build', value }
  throw new UserError('metadata-unknown', `${name} is not metadata of CoreOS`, {
    remedy: ERRORS['metadata-unknown'].remedy,
  })
}

/** @throws UserError `metadata-rollout` for `updates/STREAM.json` of Fedora CoreOS, which looks like an index of releases */
function refuseRollout({ releases }: { releases: unknown }, name: string): void {
  const isRollout = (release: unknown) => {
    const metadata = isObject(release) ? release['metadata'] : undefined
    return isObject(metadata) && ['rollout', 'barrier', 'deadend'].some((key) => key in metadata)
  }
  if (!Array.isArray(releases) || !releases.some(isRollout)) return
  throw new UserError(
    'metadata-rollout',
    `${name} is rollout metadata: it says to which share of machines Fedora CoreOS offers a release, and names no files`,
    { remedy: ERRORS['metadata-rollout'].remedy },
  )
}
