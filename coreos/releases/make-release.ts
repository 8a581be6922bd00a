import { parse } from 'yaml'
import { isDigest, makeImage, parseReference, type MadeImage } from '../../base/registry/index.js'
import { defined, readNested, UserError } from '../../base/runtime/index.js'
import { COREOS_SYSTEMS } from '../making/coreos-name.js'
import type { BuildMeta } from '../metadata/build-meta.js'
import { bootImagesText, readBootImages, type BootImages } from '../metadata/config-map.js'
import { documentText } from '../metadata/metadata-document.js'
import { checkStream } from '../metadata/stream-check.js'
import type { StreamMetadata } from '../metadata/stream-metadata.js'
import {
  checkReleaseVersion,
  type ComponentTag,
  type ImageReferences,
  type ReleaseMetadata,
} from './image-references.js'
import { BOOT_IMAGE, CONFIG_MAP_FILE, CONTENT, MANIFESTS } from './release-files.js'
import { bootImageInfo } from './release-image.js'

/** The parts that a release is made of. */
export interface ReleaseParts {
  /** Semantic version: `4.15.0`. */
  version: string
  /** Stream metadata for the ConfigMap; the first one is the default. */
  streams: readonly StreamMetadata[]
  /** coreos-assembler's metadata, one for each architecture: `bootimage.json` of machine-os-content. */
  builds: readonly BuildMeta[]
  /** Files of `release-manifests/`: YAML or JSON. */
  manifests: readonly NamedManifest[]
  /** Pullspecs, by digest, of components that exist. */
  components: readonly { name: string; pullspec: string }[]
  /** Registry and repository in which the image that is made for machine-os-content is named. */
  repository: string
}

export interface NamedManifest {
  name: string
  text: string
}

/** A release in memory. */
export interface MadeRelease {
  image: MadeImage
  /** The image of machine-os-content; null without builds. */
  content: MadeImage | null
  components: Readonly<Record<string, string>>
}

/**
 * Makes a release: the same bytes for the same parts.
 *
 * @throws UserError `release-write` for parts that contradict each other; as the readers of its documents do
 */
export function makeRelease(parts: ReleaseParts): MadeRelease {
  const { version, streams, repository } = parts
  checkReleaseVersion(version)
  const builds = buildsByArchitecture(parts.builds)
  const manifests = makeManifestFiles(parts)
  const bootImages = bootImagesOf(parts, manifests)
  refuseDrift(builds, bootImages)
  const created = newest([
    ...streams.map(({ metadata }) => metadata['last-modified']),
    ...parts.builds.map((build) => build['ostree-timestamp']),
  ])
  const content = Object.keys(builds).length === 0 ? null : contentOf(builds, created)
  const components = componentTags(parts, content && { image: content.image, annotations: content.labels, repository })
  const architectures = architecturesOf(builds, bootImages)
  const references: ImageReferences = {
    kind: 'ImageStream',
    apiVersion: 'image.openshift.io/v1',
    metadata: { name: version, creationTimestamp: created },
    spec: { lookupConf: { local: false }, tags: components },
  }
  const metadata: ReleaseMetadata = {
    kind: 'cincinnati-metadata-v0',
    version,
    previous: [],
    next: [],
    // As in the release images for several architectures.
    ...defined({ metadata: architectures.length > 1 ? { 'release.openshift.io/architecture': 'multi' } : undefined }),
  }
  const files = [
    ['image-references', documentText(references)],
    ['release-metadata', documentText(metadata)],
    ...[...manifests].sort(([one], [other]) => (one < other ? -1 : 1)),
  ].map(([name, text]) => ({ name: `${MANIFESTS}/${name}`, content: Buffer.from(text!) }))
  const image = makeImage({
    files: Object.fromEntries(architectures.map((architecture) => [architecture, files])),
    labels: { 'io.openshift.release': version },
    created,
    comment: 'Release image',
  })
  return {
    image,
    content: content?.image ?? null,
    components: Object.fromEntries(components.map(({ name, from }) => [name, from.name])),
  }
}

const releaseWriteError = (what: string, remedy: string): UserError =>
  new UserError('release-write', what, { remedy, kind: 'usage' })

function buildsByArchitecture(builds: readonly BuildMeta[]): Record<string, BuildMeta> {
  const found: Record<string, BuildMeta> = {}
  for (const build of builds) {
    const architecture = build['coreos-assembler.basearch']
    if (architecture === undefined)
      throw releaseWriteError(
        `the build ${build.buildid} names no architecture`,
        'give metadata with coreos-assembler.basearch',
      )
    if (found[architecture])
      throw releaseWriteError(
        `two builds are for ${architecture}: ${found[architecture].buildid} and ${build.buildid}`,
        'give one for each architecture',
      )
    found[architecture] = build
  }
  return found
}

function makeManifestFiles({ manifests, streams, version }: ReleaseParts): Map<string, string> {
  const found = new Map<string, string>()
  for (const { name, text } of manifests) {
    if (!/^[\w][\w.-]*\.(ya?ml|json)$/.test(name) || name.length > 200)
      throw releaseWriteError(`${name} is not a name of a manifest`, 'give files that end in .yaml, .yml or .json')
    if (found.has(name)) throw releaseWriteError(`two manifests are called ${name}`, 'rename one of them')
    const kinds = kindsIn(name, text)
    if (kinds.includes('ConfigMap coreos-bootimages') && streams.length > 0)
      throw releaseWriteError(
        `${name} has the ConfigMap coreos-bootimages, which --stream makes too`,
        'leave out one of them',
      )
    found.set(name, text)
  }
  const [stream] = streams
  if (!stream) return found
  const doubled = streams.find((one, index) => streams.findIndex((other) => other.stream === one.stream) !== index)
  if (doubled) throw releaseWriteError(`two streams are called ${doubled.stream}`, 'give each stream once')
  for (const one of streams) {
    const wrong = checkStream(one, { insecure: true }).find(({ kind }) => kind === 'error')
    if (wrong)
      throw releaseWriteError(
        `the stream ${one.stream} contradicts itself: ${wrong.path} ${wrong.message}`,
        'see all that is wrong with: ironstage stream validate',
      )
  }
  if (found.has(CONFIG_MAP_FILE))
    throw releaseWriteError(`a manifest is called ${CONFIG_MAP_FILE}, as --stream makes it`, 'leave out one of them')
  const all = streams.length === 1 ? null : Object.fromEntries(streams.map((one) => [one.stream, one]))
  return found.set(CONFIG_MAP_FILE, bootImagesText({ releaseVersion: version, stream, streams: all }))
}

/** `KIND NAME` of the objects in a manifest. */
function kindsIn(name: string, text: string): string[] {
  const documents = text.split(/^---.*$/m).filter((one) => /^[^#\s]/m.test(one))
  return documents.map((one) => {
    let value: unknown
    try {
      value = readNested(one, name, (yaml) => parse(yaml) as unknown)
    } catch (cause) {
      throw new UserError('release-write', `the manifest ${name} is neither YAML nor JSON`, {
        cause,
        kind: 'usage',
        remedy: 'correct it',
      })
    }
    const { kind, metadata } = (typeof value === 'object' && value !== null ? value : {}) as {
      kind?: unknown
      metadata?: { name?: unknown }
    }
    if (typeof kind !== 'string')
      throw releaseWriteError(`the manifest ${name} has an object without a kind`, 'give objects of Kubernetes')
    return `${kind} ${String(metadata?.name)}`
  })
}

/** Boot images of the streams, or of a manifest that has them. */
function bootImagesOf({ streams, version }: ReleaseParts, manifests: ReadonlyMap<string, string>): BootImages | null {
  const found = [...manifests].filter(([name, text]) => kindsIn(name, text).includes('ConfigMap coreos-bootimages'))
  const [first, ...more] = found
  if (more.length > 0)
    throw releaseWriteError(
      `${found.map(([name]) => name).join(' and ')} both have the ConfigMap coreos-bootimages`,
      'leave out one of them',
    )
  if (!first) return null
  const images = readBootImages(first[1], first[0])
  if (streams.length === 0 && images.releaseVersion !== version)
    throw releaseWriteError(
      `${first[0]} is of the release ${images.releaseVersion}, not of ${version}`,
      `put ${version} into it at data.releaseVersion`,
    )
  return images
}

/** The builds may be those of any of the streams. */
function refuseDrift(builds: Readonly<Record<string, BuildMeta>>, bootImages: BootImages | null): void {
  if (bootImages === null || Object.keys(builds).length === 0) return
  const streams = [bootImages.stream, ...Object.values(bootImages.streams ?? {})]
  const drifts = streams.map((stream) => bootImageInfo({ builds, bootImages: { ...bootImages, stream } }).drift)
  const [first] = drifts[0]!
  if (!first || drifts.some((drift) => drift.length === 0)) return
  throw releaseWriteError(
    `the builds are not those of the stream: ${first.path} is ${first.before} in a build and ${first.after} in the stream`,
    'give the metadata of one build to both',
  )
}

const newest = (times: readonly string[]): string => {
  const latest = Math.max(0, ...times.map((one) => Date.parse(one)).filter(Number.isFinite))
  return new Date(latest - (latest % 1000)).toISOString().replace('.000Z', 'Z')
}

function contentOf(
  builds: Readonly<Record<string, BuildMeta>>,
  created: string,
): { image: MadeImage; labels: Record<string, string> } {
  const [build] = Object.values(builds)
  const title = Object.values(COREOS_SYSTEMS).find(({ prefix }) => prefix === build!.name)?.title ?? build!.name
  const labels = {
    'io.openshift.build.version-display-names': `machine-os=${title}`,
    'io.openshift.build.versions': `machine-os=${build!['ostree-version']}`,
  }
  const files = Object.entries(builds).map(([architecture, one]) => [
    architecture,
    [{ name: BOOT_IMAGE, content: Buffer.from(documentText(one)) }],
  ])
  return {
    image: makeImage({ files: Object.fromEntries(files), labels, created, comment: 'Boot image metadata' }),
    labels,
  }
}

function componentTags(
  { components }: ReleaseParts,
  content: { image: MadeImage; annotations: Record<string, string>; repository: string } | null,
): ComponentTag[] {
  const tags: ComponentTag[] = components.map(({ name, pullspec }) => {
    if (!/^[a-z\d]+(?:-[a-z\d]+)*$/.test(name))
      throw releaseWriteError(`${name} is not a name of a component`, 'give one such as cluster-version-operator')
    const { digest } = parseReference(pullspec)
    if (digest === undefined || !isDigest(digest))
      throw releaseWriteError(
        `the component ${name} is named by a tag, which may move: ${pullspec}`,
        'name it by digest: REPOSITORY@sha256:...',
      )
    return { name, from: { kind: 'DockerImage', name: pullspec } }
  })
  if (content) {
    const { image, annotations, repository } = content
    tags.push({ name: CONTENT, annotations, from: { kind: 'DockerImage', name: `${repository}@${image.digest}` } })
  }
  tags.sort((one, other) => (one.name < other.name ? -1 : 1))
  const doubled = tags.find(({ name }, index) => tags[index + 1]?.name === name)
  if (!doubled) return tags
  throw releaseWriteError(
    `the component ${doubled.name} is there twice`,
    doubled.name === CONTENT && content ? 'leave it out: it is made of --build' : 'give it once',
  )
}

/** Architectures of the builds, or else of the streams. */
function architecturesOf(builds: Readonly<Record<string, BuildMeta>>, bootImages: BootImages | null): string[] {
  const found =
    Object.keys(builds).length > 0 ? Object.keys(builds) : Object.keys(bootImages?.stream.architectures ?? {})
  return found.length > 0 ? found.sort() : ['x86_64']
}
