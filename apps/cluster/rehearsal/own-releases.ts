import { parse } from 'yaml'
import {
  pullspecsOf,
  openRelease,
  readReleaseImage,
  releaseOf,
  streamOfBuilds,
  systemOfVersion,
  type BootImages,
  type OpenedRelease,
  type StreamMetadata,
} from '../../../coreos/index.js'
import { parsePlace, type Images } from '../../../base/registry/index.js'
import { checkNesting, defined, readNested, UserError } from '../../../base/runtime/index.js'
import { BOOT_IMAGES } from '../actors/machine-config-operator/machine-config-names.js'
import { readVersion } from '../actors/cluster-version-operator/release-version.js'
import { isRhel10 } from '../actors/machine-config-operator/streams/os-streams.js'
import { systemTags } from '../site/make-site-release.js'
import type { ReleaseManifest, ManifestObject } from '../site/site-releases.js'
import type { Scenario, ScenarioFile, ScenarioRelease } from './scenario.js'

/** Parts of a release image that a rehearsal goes by. */
export interface OwnRelease {
  version: string
  /** Version of the disk images, by the stream. */
  base: string
  /** Version of the node image, from the component with the operating system; otherwise that of the disk images. */
  coreos: string
  family: 'rhcos' | 'fcos'
  /** Pullspec of the component `ironic-agent`. */
  agentImage?: string
  stream: StreamMetadata
  /** Further streams whose systems it has, with the versions of their node images: `{ 'rhel-10': '10.2.20260820-0' }`. */
  streams?: Readonly<Record<string, string>>
  /** Stream of {@link coreos}; undefined for a release from before the streams. */
  mainStream?: string
  /** `bootimage.json` for the machines' architecture, as JSON. */
  bootimage?: string
  /** Objects without an operator of their own, in the files' order. */
  manifests: readonly ReleaseManifest[]
  /** Kinds of objects that nothing acts on here, and how many there are of each. */
  leftOut: Readonly<Record<string, number>>
}

const ARCHITECTURE = 'x86_64'
/** Label of components with the operating system: its version. */
const MACHINE_OS = /(?:^|,)machine-os=([^,]+)/
const BUILD_VERSIONS = 'io.openshift.build.versions'
/** Kinds that hold data: every cluster can have them, with any operators. */
const DATA: readonly string[] = ['ConfigMap', 'Namespace', 'Secret']

/**
 * Reads a release from its image.
 *
 * @param named as `ironstage release info` takes it
 * @throws UserError as `openRelease` and the readers of its documents do; `stream-artifact` without an image for x86_64
 */
export async function readOwnRelease(images: Images, named: string): Promise<OwnRelease> {
  const release = await openRelease(images, parsePlace(named))
  const read = await readReleaseImage(release)
  const streams = broughtStreams(release, read.bootImages)
  const [main, ...further] = streams
  const stream = main?.metadata ?? read.bootImages?.stream ?? streamOfBuilds(read)
  if (!stream)
    throw new UserError('release-image', `${named} has no stream`, { kind: 'usage', remedy: 'name another release' })
  const base = releaseOf(stream, ARCHITECTURE, 'metal')
  const build = read.builds[ARCHITECTURE]
  const agentImage = pullspecsOf(release.references).get('ironic-agent')
  return {
    version: release.version,
    base,
    coreos: main?.version ?? machineOsVersion(release) ?? base,
    stream,
    ...defined({
      mainStream: main?.name,
      streams:
        further.length === 0 ? undefined : Object.fromEntries(further.map(({ name, version }) => [name, version])),
    }),
    family: systemOfVersion(base) === 'fcos' ? 'fcos' : 'rhcos',
    ...defined({ agentImage, bootimage: build ? JSON.stringify(build) : undefined }),
    ...objectsIn(await release.manifests()),
  }
}

/** Version of the operating system in a release; of the one in a component, where several have one. */
function machineOsVersion({ references }: OpenedRelease, component?: string): string | undefined {
  for (const { name, annotations } of references.spec.tags) {
    const [, version] = MACHINE_OS.exec(annotations?.[BUILD_VERSIONS] ?? '') ?? []
    if (version !== undefined && (component === undefined || name === component)) return version
  }
  return undefined
}

/** A stream of which a release has both images and the boot images. */
interface BroughtStream {
  name: string
  /** Version of its node image. */
  version: string
  metadata: StreamMetadata
}

/** From this major release on a cluster has streams, even with one alone (openshift/api 2a3d739 features, OSStreams). */
export const STREAMS_SINCE = 5

/** Boot images by stream: a release with one stream need not name it. */
function bootImagesByStream(
  version: string,
  bootImages: BootImages | null,
  isBrought: (stream: string) => boolean,
): Readonly<Record<string, StreamMetadata>> {
  if (!bootImages || bootImages.streams) return bootImages?.streams ?? {}
  const only = isBrought('rhel-9') ? 'rhel-9' : 'rhel-10'
  const isOfStreams = only === 'rhel-10' || (readVersion(version)?.numbers[0] ?? 0) >= STREAMS_SINCE
  return isOfStreams ? { [only]: bootImages.stream } : {}
}

/** The streams that a release brings, RHEL 9 first; none in a release from before the streams. */
function broughtStreams(release: OpenedRelease, bootImages: BootImages | null): BroughtStream[] {
  const components = pullspecsOf(release.references)
  const isBrought = (name: string): boolean => Object.values(systemTags(name)).every((tag) => components.has(tag))
  const found = Object.entries(bootImagesByStream(release.version, bootImages, isBrought)).flatMap(
    ([name, metadata]) => {
      if (!isBrought(name)) return []
      const { system } = systemTags(name)
      const version = machineOsVersion(release, system) ?? releaseOf(metadata, ARCHITECTURE, 'metal')
      return [{ name, version, metadata }]
    },
  )
  return found.sort((a, b) => Number(isRhel10(a.name)) - Number(isRhel10(b.name)))
}

function objectsIn(files: ReadonlyMap<string, string>): Pick<OwnRelease, 'manifests' | 'leftOut'> {
  const manifests: ReleaseManifest[] = []
  const leftOut: Record<string, number> = {}
  for (const [file, text] of files)
    for (const [index, document] of text
      .split(/^---.*$/m)
      .filter((one) => /^[^#\s]/m.test(one))
      .entries()) {
      const value = readNested(document, file, (yaml) => parse(yaml) as unknown)
      checkNesting(value, file)
      const object = value as ManifestObject
      const { kind, metadata } = object
      if (kind === 'ConfigMap' && metadata?.name === BOOT_IMAGES.name) continue
      const name = index === 0 ? file : file.replace(/(\.\w+)$/, `_${index}$1`)
      if (DATA.includes(kind) && typeof metadata?.name === 'string') manifests.push({ name, object })
      else leftOut[kind] = (leftOut[kind] ?? 0) + 1
    }
  return { manifests, leftOut }
}

/**
 * The scenario of a file, with the releases that it names read.
 *
 * @throws UserError `scenario-file` (usage) where the file contradicts a release; as `read` does
 */
export async function withOwnReleases(
  { releases, ...scenario }: ScenarioFile,
  read: (named: string) => Promise<OwnRelease>,
): Promise<Scenario> {
  const found: Record<string, ScenarioRelease> = {}
  for (const [key, { version, release, ...wanted }] of Object.entries(releases)) {
    const own = release === undefined ? undefined : await read(release)
    if (own && version !== undefined && version !== own.version)
      throw contradiction(scenario.name, `releases.${key} is ${version} in the file, and ${release} is ${own.version}`)
    const { base, coreos, family, streams, mainStream } = own ?? {}
    found[key] = {
      ...(own && coreos !== undefined && base !== undefined ? { coreos, ...(base === coreos ? {} : { base }) } : {}),
      ...defined({ family, streams, mainStream }),
      ...wanted,
      version: own?.version ?? version!,
      ...defined({ own }),
    }
  }
  return { ...scenario, releases: found }
}

const contradiction = (name: string, what: string): UserError =>
  new UserError('scenario-file', `${name}: ${what}`, {
    kind: 'usage',
    remedy: 'leave out the version: it is read from the release',
  })
