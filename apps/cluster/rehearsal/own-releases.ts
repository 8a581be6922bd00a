import { parse } from 'yaml'
import {
  pullspecsOf,
  openRelease,
  readReleaseImage,
  releaseOf,
  streamOfBuilds,
  systemOfVersion,
  type OpenedRelease,
  type StreamMetadata,
} from '../../../coreos/index.js'
import { parsePlace, type Images } from '../../../base/registry/index.js'
import { checkNesting, defined, readNested, UserError } from '../../../base/runtime/index.js'
import { BOOT_IMAGES } from '../actors/machine-config-operator/machine-config-names.js'
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
  const stream = read.bootImages?.stream ?? streamOfBuilds(read)
  if (!stream)
    throw new UserError('release-image', `${named} has no stream`, { kind: 'usage', remedy: 'name another release' })
  const base = releaseOf(stream, ARCHITECTURE, 'metal')
  const build = read.builds[ARCHITECTURE]
  const agentImage = pullspecsOf(release.references).get('ironic-agent')
  return {
    version: release.version,
    base,
    coreos: machineOsVersion(release) ?? base,
    stream,
    family: systemOfVersion(base) === 'fcos' ? 'fcos' : 'rhcos',
    ...defined({ agentImage, bootimage: build ? JSON.stringify(build) : undefined }),
    ...objectsIn(await release.manifests()),
  }
}

function machineOsVersion({ references }: OpenedRelease): string | undefined {
  for (const { annotations } of references.spec.tags) {
    const [, version] = MACHINE_OS.exec(annotations?.[BUILD_VERSIONS] ?? '') ?? []
    if (version !== undefined) return version
  }
  return undefined
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
    const { base, coreos, family } = own ?? {}
    found[key] = {
      ...(own && coreos !== undefined && base !== undefined ? { coreos, ...(base === coreos ? {} : { base }) } : {}),
      ...defined({ family }),
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
